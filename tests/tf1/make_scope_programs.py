"""Record what TensorFlow makes of the random scope programs: `python tests/tf1/make_scope_programs.py`, with TensorFlow
installed, writes `tests/golden/scope_programs.json`. Tests only read the file.
"""

import json
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
COUNT = 250

if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))
    import tensorflow.compat.v1 as tf
    from tf1 import scope_programs

    tf.disable_v2_behavior()
    cases = [
        {"program": program, "lines": scope_programs.run(tf, program)}
        for program in map(scope_programs.make, range(COUNT))
    ]
    about = {"source": Path(__file__).name, "tensorflow": tf.__version__}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    target = TESTS / "golden" / "scope_programs.json"
    target.write_text(json.dumps(about)[:-1] + ', "cases": [\n' + lines + "\n]}\n")
