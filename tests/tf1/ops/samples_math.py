"""Samples of the math tables, from elementwise functions to factorizations of matrices."""

import math
from typing import Any

import numpy as np
from tf1.ops.samples import Sample

from dynrnn.graph.gradients import IndexedSlices
from dynrnn.tf1.export import NAMES as TF

X = np.array([[0.5, -1.25, 2.0], [0.1, 3.0, -0.7]])
POSITIVE = np.array([[0.5, 1.25, 2.0], [0.1, 3.0, 0.7]])
UNIT = np.array([0.3, -0.6, 0.9])
ROW = np.array([2.0, -0.5, 1.5])
COLUMN = np.array([[2.0], [-3.0]])
INTS = np.array([[7, -7, 3], [0, 5, -2]], np.int32)
DIVISORS = np.array([2, 2, -2], np.int32)
BOOLS = np.array([[True, False], [True, True]])
SQUARE = np.array([[2.0, 0.5], [0.25, 3.0]])
CUBE = np.arange(24.0).reshape(2, 3, 4) / 10 - 1


def call(path: str, *args: Any, **options: Any) -> Any:
    """A sample's builder that calls a public function on the placeholders, then with fixed arguments."""
    return lambda *inputs: TF[path](*inputs, *args, **options)


def vectorized(function: Any) -> Any:
    return np.vectorize(function, otypes=[float])


UNARY = [
    Sample(type, call(path), (values,), expected)
    for type, path, values, expected in [
        ("Neg", "negative", X, np.negative),
        ("Sign", "sign", X, np.sign),
        ("Square", "square", X, np.square),
        ("Sqrt", "sqrt", POSITIVE, np.sqrt),
        ("Rsqrt", "rsqrt", POSITIVE, lambda x: 1 / np.sqrt(x)),
        ("Reciprocal", "reciprocal", X, np.reciprocal),
        ("Exp", "exp", X, np.exp),
        ("Expm1", "expm1", X, np.expm1),
        ("Log", "log", POSITIVE, np.log),
        ("Log1p", "log1p", POSITIVE, np.log1p),
        ("Sin", "sin", X, np.sin),
        ("Cos", "cos", X, np.cos),
        ("Tan", "tan", X, np.tan),
        ("Asin", "asin", UNIT, np.arcsin),
        ("Acos", "acos", UNIT, np.arccos),
        ("Atan", "atan", X, np.arctan),
        ("Sinh", "sinh", X, np.sinh),
        ("Cosh", "cosh", X, np.cosh),
        ("Tanh", "tanh", X, np.tanh),
        ("Asinh", "asinh", X, np.arcsinh),
        ("Acosh", "acosh", POSITIVE + 1, np.arccosh),
        ("Atanh", "atanh", UNIT, np.arctanh),
        ("Sigmoid", "sigmoid", X, lambda x: 1 / (1 + np.exp(-x))),
        ("LogSigmoid", "log_sigmoid", X, lambda x: -np.log1p(np.exp(-x))),
        ("Erf", "erf", X, vectorized(math.erf)),
        ("Erfc", "erfc", X, vectorized(math.erfc)),
        ("Lgamma", "lgamma", POSITIVE, vectorized(math.lgamma)),
        ("Digamma", "digamma", np.array([1.0, 2.0]), [-0.5772156649015329, 0.42278433509846713]),
        ("BesselI0", "math.bessel_i0", UNIT, np.i0),
        ("BesselI0e", "math.bessel_i0e", UNIT, lambda x: np.i0(x) * np.exp(-np.abs(x))),
        ("BesselI1", "math.bessel_i1", np.array([0.0, 1.0]), [0.0, 0.5651591039924851]),
        ("BesselI1e", "math.bessel_i1e", np.array([0.0, 1.0]), [0.0, 0.5651591039924851 / math.e]),
        ("Ceil", "ceil", X, np.ceil),
        ("Floor", "floor", X, np.floor),
        ("Rint", "rint", np.array([0.5, 1.5, -0.5, 2.6]), np.rint),
        ("Round", "round", np.array([0.5, 1.5, 2.5, -0.5]), [0.0, 2.0, 2.0, -0.0]),
        ("Abs", "abs", X, np.abs),
        ("ComplexAbs", "abs", np.array([3 + 4j, 0j]), [5.0, 0.0]),
        ("LogicalNot", "logical_not", BOOLS, np.logical_not),
        ("Invert", "bitwise.invert", INTS, np.invert),
        ("IsNan", "is_nan", np.array([0.0, np.nan, np.inf]), [False, True, False]),
        ("IsInf", "is_inf", np.array([0.0, np.nan, -np.inf]), [False, False, True]),
        ("IsFinite", "is_finite", np.array([0.0, np.nan, np.inf]), [True, False, False]),
        ("Real", "real", np.array([3 + 4j, 1j]), [3.0, 0.0]),
        ("Imag", "imag", np.array([3 + 4j, 1j]), [4.0, 1.0]),
        ("Angle", "angle", np.array([3 + 4j, 1j]), np.angle),
        ("Conj", "conj", np.array([3 + 4j, 1j]), np.conj),
    ]
]

BINARY = [
    Sample(type, call(path), (x, y), expected, label=label)
    for type, path, x, y, expected, label in [
        ("Add", "add", X, COLUMN, np.add, ""),
        ("Add", "add", "ab", "c", b"abc", "strings"),
        ("Sub", "subtract", X, ROW, np.subtract, ""),
        ("Mul", "multiply", X, ROW, np.multiply, ""),
        ("RealDiv", "realdiv", X, COLUMN, np.divide, ""),
        ("DivNoNan", "div_no_nan", X, ROW, np.divide, ""),
        ("FloorDiv", "floordiv", INTS, DIVISORS, np.floor_divide, "ints"),
        ("FloorDiv", "floor_div", np.array([1.0, -7.0]), np.array([0.1, 2.0]), [10.0, -4.0], "floats"),
        ("FloorMod", "mod", INTS, DIVISORS, np.mod, "ints"),
        ("FloorMod", "floormod", X, ROW + 0.1, np.mod, "floats"),
        ("TruncateDiv", "truncatediv", INTS, DIVISORS, [[3, -3, -1], [0, 2, 1]], ""),
        ("TruncateMod", "truncatemod", X, ROW + 0.1, np.fmod, ""),
        ("Pow", "pow", POSITIVE, ROW, np.power, ""),
        ("Pow", "pow", INTS, np.array(2, np.int32), np.power, "ints"),
        ("Maximum", "maximum", X, ROW, np.maximum, ""),
        ("Minimum", "minimum", X, COLUMN + 0.1, np.minimum, ""),
        ("SquaredDifference", "squared_difference", X, ROW, lambda x, y: (x - y) ** 2, ""),
        ("Xlogy", "math.xlogy", X, np.array([0.5, 2.0, 3.0]), lambda x, y: x * np.log(y), ""),
        ("Xdivy", "math.xdivy", X, ROW, np.divide, ""),
        ("Atan2", "atan2", X, ROW, np.arctan2, ""),
        ("Equal", "equal", INTS, np.array([[7], [5]], np.int32), np.equal, ""),
        ("Equal", "equal", np.array(["a", "b"], object), "b", [False, True], "strings"),
        ("NotEqual", "not_equal", INTS, DIVISORS, np.not_equal, ""),
        ("NotEqual", "not_equal", np.array(["a", "b"], object), "b", [True, False], "strings"),
        ("Less", "less", X, ROW, np.less, ""),
        ("LessEqual", "less_equal", X, COLUMN, np.less_equal, ""),
        ("Greater", "greater", X, ROW, np.greater, ""),
        ("GreaterEqual", "greater_equal", X, ROW, np.greater_equal, ""),
        ("LogicalAnd", "logical_and", BOOLS, np.array([True, False]), np.logical_and, ""),
        ("LogicalOr", "logical_or", BOOLS, np.array([False, False]), np.logical_or, ""),
        ("LogicalXor", "logical_xor", BOOLS, np.array([True, True]), np.logical_xor, ""),
        ("BitwiseAnd", "bitwise.bitwise_and", INTS, DIVISORS, np.bitwise_and, ""),
        ("BitwiseOr", "bitwise.bitwise_or", INTS, DIVISORS, np.bitwise_or, ""),
        ("BitwiseXor", "bitwise.bitwise_xor", INTS, DIVISORS, np.bitwise_xor, ""),
        ("ApproximateEqual", "math.approximate_equal", ROW, ROW + np.array([1e-6, 1e-4, 0]), [True, False, True], ""),
        ("Complex", "complex", ROW, UNIT, lambda x, y: x + 1j * y, ""),
        ("Cross", "cross", X, X[::-1].copy(), np.cross, ""),
    ]
]

OTHERS = [
    Sample("AddV2", lambda x, y: x + y, (X, COLUMN), np.add),
    Sample("AddN", lambda x, y: TF["add_n"]([x, y, x]), (X, 2 * X), lambda x, y: 2 * x + y),
    Sample("MatMul", call("matmul"), (X, X.T.copy()), np.matmul, static=("known",)),
    Sample(
        "MatMul",
        call("matmul", transpose_a=True),
        (X, SQUARE),
        lambda a, b: a.T @ b,
        static=("known", "partial"),
        label="a",
    ),
    Sample("BatchMatMulV2", call("matmul"), (CUBE, CUBE[0].T.copy()), np.matmul),
    Sample(
        "BatchMatMulV2",
        call("matmul", adjoint_b=True),
        (CUBE, CUBE),
        lambda a, b: a @ b.transpose(0, 2, 1),
        label="adjoint",
    ),
    Sample("Igamma", lambda x: TF["igamma"](np.array(2.0), x), (np.array([1.0]),), [1 - 2 / math.e]),
    Sample("Igammac", lambda x: TF["igammac"](np.array(2.0), x), (np.array([1.0]),), [2 / math.e]),
    Sample("Tensordot", call("tensordot", 1), (CUBE, CUBE[0].T.copy()), lambda a, b: np.tensordot(a, b, 1)),
    Sample(
        "Tensordot",
        call("tensordot", [[0, 2], [1, 0]]),
        (CUBE, np.arange(40.0).reshape(4, 2, 5) / 10),
        lambda a, b: np.tensordot(a, b, [[0, 2], [1, 0]]),
        label="axes",
    ),
    Sample(
        "Einsum",
        lambda a, b: TF["einsum"]("bij, jk->bik", a, b),
        (CUBE, CUBE[0].T.copy()),
        lambda a, b: np.einsum("bij,jk->bik", a, b),
    ),
    Sample(
        "Einsum",
        lambda a, b: TF["einsum"]("...ij,...j", a, b),
        (CUBE, CUBE[:, 0]),
        lambda a, b: np.einsum("...ij,...j", a, b),
        label="dots",
    ),
    Sample("Einsum", lambda a: TF["einsum"]("ij->ij", a), (X,), X, label="same"),
    Sample("Trace", call("trace"), (CUBE[:, :, :3].copy(),), lambda x: np.trace(x, axis1=1, axis2=2)),
    Sample("Norm", call("norm"), (X,), np.linalg.norm),
    Sample(
        "Norm",
        call("norm", axis=1, keepdims=True),
        (X,),
        lambda x: np.linalg.norm(x, axis=1, keepdims=True),
        label="axis",
    ),
    Sample("Norm", call("norm", 1, axis=-1), (X,), lambda x: np.linalg.norm(x, 1, -1), label="one"),
    Sample("Norm", call("norm", np.inf, axis=0), (X,), lambda x: np.linalg.norm(x, np.inf, 0), label="inf"),
    Sample("Norm", call("norm", 3, axis=0), (X,), lambda x: np.linalg.norm(x, 3, 0), label="three"),
    Sample("Norm", call("norm", 1, axis=[0, 1]), (X,), lambda x: np.linalg.norm(x, 1), label="matrix-one"),
    Sample("Norm", call("norm", np.inf, axis=[0, 1]), (X,), lambda x: np.linalg.norm(x, np.inf), label="matrix-inf"),
    Sample("Norm", call("norm", 2, axis=[0, 1]), (X,), lambda x: np.linalg.norm(x, 2), label="matrix-two"),
    Sample("L2Normalize", call("nn.l2_normalize", 1), (X,), lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)),
    Sample("Cast", call("cast", "float32"), (X,), lambda x: x.astype(np.float32), label="narrower", gradient=False),
    Sample("Cast", call("cast", "int32"), (X,), [[0, -1, 2], [0, 3, 0]], label="int", gradient=False),
    Sample(
        "Cast", call("cast", "bool"), (np.array([0.0, 0.3, -2.0]),), [False, True, True], label="bool", gradient=False
    ),
    Sample("Cast", call("cast", "float64"), (X.astype(np.float32),), lambda x: x.astype(float), label="wider"),
    Sample("Cast", call("cast", "float64"), (np.array([1 + 2j]),), [1.0], label="complex"),
    Sample(
        "SaturateCast", call("saturate_cast", "uint8"), (np.array([-3.0, 300.0, 7.9]),), [0, 255, 7], gradient=False
    ),
    Sample(
        "SaturateCast",
        call("saturate_cast", "int32"),
        (np.array([-3e20, 3e20, 7.9], np.float32),),
        [-(2**31), 2**31 - 1, 7],
        label="wide",
    ),
]

REDUCTIONS = [
    Sample(type, call(path, *args, **options), (values,), expected, label=label)
    for type, path, args, options, values, expected, label in [
        ("Sum", "reduce_sum", (), {}, X, np.sum, ""),
        ("Sum", "reduce_sum", (1,), {}, INTS, lambda x: x.sum(1, dtype=np.int32), "axis"),
        ("Sum", "reduce_sum", ([],), {}, X, lambda x: x, "no-axis"),
        ("Sum", "reduce_sum", ([0, -1],), {"keep_dims": True}, CUBE, lambda x: x.sum((0, 2), keepdims=True), "axes"),
        ("Mean", "reduce_mean", (), {"reduction_indices": [1]}, X, lambda x: x.mean(1), ""),
        ("Mean", "reduce_mean", (), {}, np.array([-1, -2, -4], np.int32), np.int32(-2), "ints"),
        ("Max", "reduce_max", (-1, True), {}, X, lambda x: x.max(-1, keepdims=True), ""),
        ("Max", "reduce_max", (1,), {}, np.zeros((2, 0)), [-np.inf, -np.inf], "empty"),
        ("Min", "reduce_min", (), {}, X, np.min, ""),
        ("Min", "reduce_min", (), {}, np.zeros(0, np.int32), np.int32(2**31 - 1), "empty"),
        ("Prod", "reduce_prod", (1,), {}, np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]), [0.0, 0.0], "zeros"),
        ("Prod", "reduce_prod", (), {}, X, np.prod, ""),
        ("All", "reduce_all", (1,), {}, BOOLS, lambda x: x.all(1), ""),
        ("Any", "reduce_any", (), {}, BOOLS, np.any, ""),
        ("ReduceLogSumExp", "reduce_logsumexp", (1,), {}, X, lambda x: np.log(np.exp(x).sum(1)), ""),
        ("ReduceLogSumExp", "reduce_logsumexp", (), {}, X, lambda x: np.log(np.exp(x).sum()), "all"),
        ("EuclideanNorm", "math.reduce_euclidean_norm", (1,), {}, X, lambda x: np.linalg.norm(x, axis=1), ""),
        ("ReduceVariance", "math.reduce_variance", (0,), {}, X, lambda x: x.var(0), ""),
        ("ReduceStd", "math.reduce_std", (), {}, X, np.std, ""),
        ("CountNonzero", "count_nonzero", (1,), {}, np.array([[0, 1], [2, 3]]), [1, 2], ""),
        ("CountNonzero", "count_nonzero", (), {}, np.array(["", "a"], object), np.int64(1), "strings"),
        ("Cumsum", "cumsum", (1,), {}, X, lambda x: x.cumsum(1), ""),
        (
            "Cumsum",
            "cumsum",
            (),
            {"exclusive": True, "reverse": True},
            np.array([1.0, 2.0, 3.0]),
            [5.0, 3.0, 0.0],
            "ends",
        ),
        ("Cumsum", "cumsum", (), {"exclusive": True}, np.zeros((0, 2)), np.zeros((0, 2)), "empty"),
        ("Cumprod", "cumprod", (-1,), {}, X, lambda x: x.cumprod(1), ""),
        ("Cumprod", "cumprod", (), {"exclusive": True}, np.array([0.0, 2.0, 3.0]), [1.0, 0.0, 0.0], "exclusive"),
        ("ArgMax", "argmax", (1,), {}, np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]]), [0, 2], ""),
        ("ArgMax", "argmax", (), {"output_type": "int32"}, INTS, np.array([0, 1, 0], np.int32), "default"),
        ("ArgMin", "argmin", (-1,), {}, X, lambda x: x.argmin(-1), ""),
    ]
]

TOP = np.array([[1.0, 3.0, 3.0, 2.0], [1.0, 1.0, 1.0, 1.0]])
IDS = np.array([0, 0, 2], np.int32)
ROWS = np.array([[1.0, 2.0], [1.0, 5.0], [4.0, 0.0]])
LOOSE = np.array([3, -1, 3], np.int32)
LOWEST, HIGHEST = np.finfo(float).min, np.finfo(float).max
MATRICES = np.stack([SQUARE, SQUARE.T + np.eye(2)])


def slices(values: Any) -> IndexedSlices:
    return IndexedSlices(values, TF["constant"]([3, 1, 3]), TF["constant"]([4, 2]))


def symmetric(path: str) -> Any:
    """Feed x + x^T, so that moving one element keeps the matrix symmetric."""
    return lambda x: TF[path](TF["matmul"](x, x, transpose_b=True) + np.eye(2))


def _product(x: np.ndarray) -> np.ndarray:
    return x @ np.swapaxes(x, -1, -2) + np.eye(2)


RANKS_AND_SEGMENTS = [
    Sample(
        "TopKV2",
        call("nn.top_k", 2),
        (TOP,),
        [[[3.0, 3.0], [1.0, 1.0]], [[1, 2], [0, 1]]],
        gradient=False,
        label="ties",
    ),
    Sample("TopKV2", call("nn.top_k", 2), (X,), [[[2.0, 0.5], [3.0, 0.1]], [[2, 0], [1, 0]]]),
    Sample("TopKV2", call("nn.top_k"), (TOP,), [[[3.0], [1.0]], [[1], [0]]], gradient=False, label="one"),
    Sample(
        "InTopKV2",
        call("nn.in_top_k", 2),
        (
            np.array([[1, 3, 3, 2], [1, 1, 1, 1], [np.nan, 1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4]], np.float32),
            np.array([3, 3, 2, 9, 2], np.int32),
        ),
        [False, True, False, False, True],
    ),
    *[
        Sample(f"Segment{kind.title()}", call(f"segment_{kind}", IDS), (ROWS,), expected)
        for kind, expected in [
            ("sum", [[2.0, 7.0], [0.0, 0.0], [4.0, 0.0]]),
            ("mean", [[1.0, 3.5], [0.0, 0.0], [4.0, 0.0]]),
            ("prod", [[1.0, 10.0], [1.0, 1.0], [4.0, 0.0]]),
        ]
    ],
    *[
        Sample(
            f"Segment{kind.title()}",
            call(f"segment_{kind}", IDS),
            (ROWS + np.array([[0.0], [0.5], [0.0]]) * [1, 0],),
            expected,
        )
        for kind, expected in [
            ("max", [[1.5, 5.0], [0.0, 0.0], [4.0, 0.0]]),
            ("min", [[1.0, 2.0], [0.0, 0.0], [4.0, 0.0]]),
        ]
    ],
    Sample(
        "SegmentSum",
        call("segment_sum"),
        (INTS, np.array([1, 1], np.int64)),
        [[0] * 3, [7, -2, 1]],
        exact=False,
        label="ids",
    ),
    *[
        Sample(
            f"UnsortedSegment{name}",
            call(f"unsorted_segment_{kind}", LOOSE, 5),
            (ROWS,),
            expected,
            gradient=kind not in ("max", "min"),
        )
        for name, kind, (third, empty) in [
            ("Sum", "sum", ([5.0, 2.0], 0.0)),
            ("Mean", "mean", ([2.5, 1.0], 0.0)),
            ("Prod", "prod", ([4.0, 0.0], 1.0)),
            ("Max", "max", ([4.0, 2.0], LOWEST)),
            ("Min", "min", ([1.0, 0.0], HIGHEST)),
            ("SqrtN", "sqrt_n", ([5 / math.sqrt(2), 2 / math.sqrt(2)], 0.0)),
        ]
        for expected in [np.array([[empty] * 2] * 3 + [third] + [[empty] * 2])]
    ],
    Sample(
        "UnsortedSegmentMax", call("unsorted_segment_max", [0, 1, 0], 2), (ROWS,), [[4.0, 2.0], [1.0, 5.0]], label="all"
    ),
    Sample(
        "UnsortedSegmentMin", call("unsorted_segment_min", [0, 1, 0], 2), (ROWS,), [[1.0, 0.0], [1.0, 5.0]], label="all"
    ),
    Sample(
        "UnsortedSegmentSum",
        call("unsorted_segment_sum", np.array([[0, 1], [2, 0]]), 3),
        (np.array([[1.0, 2.0], [3.0, 4.0]]),),
        [5.0, 2.0, 3.0],
        label="matrix",
    ),
    Sample(
        "Bincount", call("bincount", minlength=6), (np.array([1, 1, 3], np.int32),), [0, 2, 0, 1, 0, 0], exact=False
    ),
    Sample(
        "Bincount",
        call("bincount", [0.5, 1.0, 2.0], maxlength=2),
        (np.array([1, 1, 3], np.int32),),
        np.array([0, 1.5], np.float32),
        exact=False,
        label="weights",
    ),
    Sample(
        "ConfusionMatrix",
        call("confusion_matrix", num_classes=3),
        (np.array([0, 1, 1]), np.array([0, 1, 0])),
        [[1, 0, 0], [1, 1, 0], [0, 0, 0]],
    ),
    Sample(
        "IndexedSlicesToDense",
        lambda values: TF["convert_to_tensor"](slices(values)),
        (ROWS,),
        [[0.0, 0.0], [1.0, 5.0], [0.0, 0.0], [5.0, 2.0]],
    ),
    Sample("ClipByNorm", call("clip_by_norm", 1.0), (X,), lambda x: x / np.linalg.norm(x)),
    Sample("ClipByNorm", call("clip_by_norm", 9.0), (X,), lambda x: x, label="small", tolerance=1e-15),
    Sample(
        "ClipByNorm",
        call("clip_by_norm", 1.0, axes=[1]),
        (X,),
        lambda x: x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1),
        label="axes",
    ),
    Sample("ClipByAverageNorm", call("clip_by_average_norm", 0.1), (X,), lambda x: x * 0.6 / np.linalg.norm(x)),
    Sample(
        "GlobalNorm",
        lambda x, y: TF["global_norm"]([x, None, y]),
        (X, ROW),
        lambda x, y: np.sqrt((x**2).sum() + (y**2).sum()),
    ),
    Sample(
        "GlobalNormScale",
        lambda x: TF["clip_by_global_norm"]([x], 1.0)[0][0],
        (np.array([3.0, 4.0]),),
        [0.6, 0.8],
        gradient=True,
    ),
    Sample("MatrixInverse", call("matrix_inverse"), (MATRICES,), np.linalg.inv),
    Sample(
        "MatrixInverse", call("matrix_inverse", adjoint=True), (SQUARE,), lambda x: np.linalg.inv(x).T, label="adjoint"
    ),
    Sample("MatrixDeterminant", call("matrix_determinant"), (MATRICES,), np.linalg.det),
    Sample("LogDet", call("linalg.logdet"), (SQUARE,), lambda x: np.log(np.linalg.det(x))),
    Sample("LogMatrixDeterminant", call("linalg.slogdet"), (SQUARE,), lambda x: [*np.linalg.slogdet(x)]),
    Sample("MatrixExponential", call("linalg.expm"), (np.array([[0.0, 1.0], [-1.0, 0.0]]),), None),
    Sample("Cholesky", symmetric("cholesky"), (SQUARE,), lambda x: np.linalg.cholesky(_product(x)), gradient=True),
    Sample(
        "SelfAdjointEigvals",
        symmetric("self_adjoint_eigvals"),
        (SQUARE,),
        lambda x: np.linalg.eigvalsh(_product(x)),
        gradient=True,
    ),
    Sample(
        "SelfAdjointEigV2",
        lambda x: symmetric("self_adjoint_eig")(x)[0],
        (SQUARE,),
        lambda x: np.linalg.eigvalsh(_product(x)),
        gradient=True,
    ),
    Sample("MatrixSolve", call("matrix_solve"), (SQUARE, COLUMN), np.linalg.solve),
    Sample(
        "MatrixSolve",
        call("matrix_solve", True),
        (SQUARE, COLUMN),
        lambda a, b: np.linalg.solve(a.T, b),
        label="adjoint",
    ),
    Sample(
        "MatrixTriangularSolve",
        call("matrix_triangular_solve"),
        (SQUARE, COLUMN),
        lambda a, b: np.linalg.solve(np.tril(a), b),
    ),
    Sample(
        "MatrixTriangularSolve",
        call("matrix_triangular_solve", lower=True, adjoint=True),
        (SQUARE, COLUMN),
        lambda a, b: np.linalg.solve(np.tril(a).T, b),
        label="adjoint",
    ),
    Sample(
        "CholeskySolve",
        call("cholesky_solve"),
        (np.tril(SQUARE), COLUMN),
        lambda a, b: np.linalg.solve(np.tril(a) @ np.tril(a).T, b),
    ),
    Sample("Qr", call("qr"), (X.T.copy(),), None),
    Sample("Svd", lambda x: TF["svd"](x)[0], (X,), lambda x: np.linalg.svd(x)[1]),
    Sample("SingularValues", call("svd", compute_uv=False), (X,), lambda x: np.linalg.svd(x)[1]),
]

SAMPLES = [*UNARY, *BINARY, *OTHERS, *REDUCTIONS, *RANKS_AND_SEGMENTS]
