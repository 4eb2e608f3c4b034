"""Writes what TensorFlow prints for each program in examples/, beside this file.

To be run in an environment of its own with tensorflow-cpu and tf-keras, and with TF_USE_LEGACY_KERAS=1 set.
"""

import contextlib
import io
import pathlib
import runpy
import sys

import tensorflow.compat.v1 as tf  # pyright: ignore[reportMissingImports]

HERE = pathlib.Path(__file__).parent

tf.disable_v2_behavior()
sys.modules["tensorflow"] = tf
for program in sorted((HERE.parents[2] / "examples").glob("*.py")):
    tf.reset_default_graph()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(program), run_name="__main__")
    (HERE / f"{program.stem}.txt").write_text(printed.getvalue())
