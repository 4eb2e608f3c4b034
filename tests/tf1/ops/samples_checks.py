"""Samples of the operations that check values, print them, or call Python functions."""

from typing import Any

import numpy as np
from tf1.ops.samples import Sample

from dynrnn.tf1.export import NAMES as TF

X = np.array([[1.0, -2.0], [0.5, 3.0]])


def asserted(x: Any) -> Any:
    with TF["control_dependencies"]([TF["Assert"](TF["reduce_all"](x > -3.0), [x])]):
        return TF["identity"](x)


SAMPLES = [
    Sample("Assert", asserted, (X,), X, tolerance=0),
    Sample("Print", lambda x: TF["Print"](x, [x], "x: "), (X,), X, tolerance=0),
    Sample("CheckNumerics", lambda x: TF["check_numerics"](x, "x"), (X,), X, tolerance=0),
    Sample("EnsureShape", lambda x: TF["ensure_shape"](x, [2, None]), (X,), X, tolerance=0),
    Sample("PyFunc", lambda x: TF["py_func"](np.sort, [x], x.dtype), (X,), np.sort, tolerance=0, exact=False),
    Sample(
        "PyFuncStateless",
        lambda x: TF["py_func"](np.abs, [x], x.dtype, stateful=False),
        (X,),
        np.abs,
        tolerance=0,
        exact=False,
    ),
]
