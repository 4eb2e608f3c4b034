"""The variables that a program makes: their names, order, shapes, dtypes and first values, against TensorFlow's."""

import json

import numpy as np
import pytest
from tf1.rnn.golden_case import GOLDEN

import dynrnn.tf1 as tf

CASES = {case["id"]: case for case in json.loads((GOLDEN / "naming.json").read_text())["cases"]}
# These need an optimizer, which is not part of the face yet.
LATER = {"adam_slots", "rmsprop_slots", "momentum_slots", "ema_names"}


@pytest.mark.parametrize("name", [name for name in CASES if name not in LATER])
def test_variables_are_tensorflows(name):
    case = CASES[name]

    def build():
        exec(compile(case["build"], name, "exec"), {"tf": tf, "np": np})

    if case.get("raises"):
        kind = {"ValueError": ValueError}[case["raises"]]
        with pytest.raises(kind, match=r"rnn/gru_cell/gates/kernel already exists"):
            build()
    else:
        build()
    variables, trainable = tf.global_variables(), tf.trainable_variables()
    found = [
        (variable.op.name, variable.get_shape().as_list(), variable.dtype.base_dtype.name, variable in trainable)
        for variable in variables
    ]
    assert found == [(meta["name"], meta["shape"], meta["dtype"], meta["trainable"]) for meta in case["variables"]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable, meta in zip(variables, case["variables"], strict=True):
            value = session.run(variable)
            if meta["initial"] == "random":
                assert len(np.unique(value)) > 1
            else:
                assert (value == meta["initial"]).all()
