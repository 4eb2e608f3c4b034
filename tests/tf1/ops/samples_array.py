"""Samples of the array rows: shapes, slices, joins, gathers, and tensors made from sizes."""

import numpy as np
from tf1.ops.samples import Sample

from dynrnn.tf1.export import NAMES as TF

X = np.arange(24.0).reshape(2, 3, 4) / 8 - 1.3
M = np.array([[0.5, -1.25, 2.0], [0.1, 3.0, -0.7]])
V = np.array([3.0, -1.0, 0.25])
ONE = np.arange(6.0).reshape(1, 3, 1, 2)
C = np.array([True, False])
COMPLEX = np.array([[1 + 2j, 3 - 1j]])


def _free(x, rank):
    """The same value with a static shape that tells nothing but the rank."""
    return TF["placeholder_with_default"](x, [None] * rank)


def _vague(x):
    return TF["placeholder_with_default"](x, None)


SAMPLES = [
    # Placeholders
    Sample("Placeholder", lambda x: x, (M,), M, 0),
    Sample("PlaceholderWithDefault", lambda x: TF["placeholder_with_default"](x, None), (M,), M, 0, exact=False),
    Sample("Identity", lambda x: TF["identity"](x), (M,), M, 0),
    Sample("StopGradient", lambda x: TF["stop_gradient"](x), (M,), M, 0),
    # Sizes
    Sample("Shape", lambda x: TF["shape"](_free(x, 3)), (X,), np.int32([2, 3, 4]), 0),
    Sample("Shape", lambda x: TF["shape"](_vague(x), out_type="int64"), (X,), [2, 3, 4], 0, exact=False, label="int64"),
    Sample("ShapeN", lambda x, y: TF["shape_n"]([x, y]), (X, V), [[2, 3, 4], [3]], 0),
    Sample("Size", lambda x: TF["size"](_free(x, 3)), (X,), 24, 0),
    Sample("Rank", lambda x: TF["rank"](_vague(x)), (X,), 3, 0),
    Sample(
        "BroadcastArgs",
        lambda x, y: TF["broadcast_dynamic_shape"](x, y),
        (np.int32([1, 4]), np.int32([3, 1])),
        [3, 4],
        0,
        static=("known", "partial"),
    ),
    # Reshaping
    Sample("Reshape", lambda x: TF["reshape"](x, [-1, 4]), (X,), X.reshape(6, 4), 0),
    Sample("Reshape", lambda x: TF["reshape"](x, [TF["shape"](x)[0], -1]), (X,), X.reshape(2, 12), 0, label="by-shape"),
    Sample("ExpandDims", lambda x: TF["expand_dims"](x, -2), (M,), M[:, None], 0),
    Sample("Squeeze", lambda x: TF["squeeze"](x), (ONE,), ONE[0, :, 0], 0),
    Sample("Squeeze", lambda x: TF["squeeze"](x, [-2]), (ONE,), ONE[:, :, 0], 0, label="axis"),
    Sample("Transpose", lambda x: TF["transpose"](x), (X,), X.T, 0, label="reversed"),
    Sample("Transpose", lambda x: TF["transpose"](x, [1, 0, 2]), (X,), X.transpose(1, 0, 2), 0),
    Sample(
        "Transpose",
        lambda x, p: TF["transpose"](x, p),
        (X, np.int32([2, 0, 1])),
        X.transpose(2, 0, 1),
        0,
        exact=False,
        label="by-tensor",
    ),
    Sample("Transpose", lambda x: TF["matrix_transpose"](x), (X,), X.swapaxes(1, 2), 0, label="matrix"),
    Sample("ConjugateTranspose", lambda x: TF["transpose"](x, conjugate=True), (COMPLEX,), COMPLEX.conj().T, 0),
    Sample(
        "ConjugateTranspose",
        lambda x: TF["matrix_transpose"](x, conjugate=True),
        (COMPLEX,),
        COMPLEX.conj().T,
        0,
        label="matrix",
    ),
    Sample("BroadcastTo", lambda x: TF["broadcast_to"](x, [4, 2, 3]), (M,), np.broadcast_to(M, (4, 2, 3)), 0),
    # Joining and taking apart
    Sample("ConcatV2", lambda x, y: TF["concat"]([x, y, x], 1), (M, M[:, :1]), lambda x, y: np.hstack([x, y, x]), 0),
    Sample(
        "ConcatV2", lambda x, y: TF["concat"]([x, y], -2), (M, M[:1]), lambda x, y: np.vstack([x, y]), 0, label="-2"
    ),
    Sample("Pack", lambda x, y: TF["stack"]([x, y], axis=1), (M, M + 1), lambda x, y: np.stack([x, y], 1), 0),
    Sample("Split", lambda x: TF["split"](x, 2, 2), (X,), lambda x: np.split(x, 2, 2), 0),
    Sample("Split", lambda x: TF["split"](x, 2, 0), (X[:0],), lambda x: [x, x], 0, label="empty", gradient=False),
    Sample("SplitV", lambda x: TF["split"](x, [1, -1], -1), (X,), lambda x: np.split(x, [1], 2), 0),
    Sample(
        "SplitV",
        lambda x, n: TF["split"](x, n, 2, num=2),
        (X, np.int64([3, 1])),
        lambda x, n: np.split(x, [3], 2),
        0,
        exact=False,
        label="by-tensor",
    ),
    Sample("Unpack", lambda x: TF["unstack"](x, 3, axis=1), (X,), lambda x: list(np.moveaxis(x, 1, 0)), 0),
    Sample("Tile", lambda x: TF["tile"](x, [2, 3]), (M,), np.tile(M, (2, 3)), 0),
    Sample("Tile", lambda x: TF["tile"](x, [0, 1]), (M,), M[:0], 0, label="zero", gradient=False),
    # Padding
    Sample("Pad", lambda x: TF["pad"](x, [[1, 0], [2, 1]]), (M,), np.pad(M, [(1, 0), (2, 1)]), 0),
    Sample(
        "PadV2",
        lambda x, c: TF["pad"](x, [[1, 0], [2, 1]], constant_values=c),
        (M, np.float64(3.5)),
        np.pad(M, [(1, 0), (2, 1)], constant_values=3.5),
        0,
    ),
    Sample(
        "MirrorPad",
        lambda x: TF["pad"](x, [[1, 0], [2, 1]], "REFLECT"),
        (M,),
        np.pad(M, [(1, 0), (2, 1)], "reflect"),
        0,
        label="reflect",
    ),
    Sample(
        "MirrorPad",
        lambda x: TF["pad"](x, [[2, 0], [3, 1]], "symmetric"),
        (M,),
        np.pad(M, [(2, 0), (3, 1)], "symmetric"),
        0,
        label="symmetric",
    ),
    # Slices
    Sample("Slice", lambda x: TF["slice"](x, [0, 1, 2], [-1, 2, 1]), (X,), X[:, 1:3, 2:3], 0),
    Sample("StridedSlice", lambda x: x[:, -1], (X,), X[:, -1], 0, label="last"),
    Sample("StridedSlice", lambda x: x[1], (X,), X[1], 0, label="row"),
    Sample("StridedSlice", lambda x: x[..., None, 1:9:2], (X,), X[..., None, 1:9:2], 0, label="steps"),
    Sample("StridedSlice", lambda x: x[::-1, 5:0:-2], (X,), X[::-1, 5:0:-2], 0, label="backwards"),
    Sample("StridedSlice", lambda x: x[:, 0:2:-1], (X,), X[:, 0:2:-1], 0, label="backwards-empty", gradient=False),
    Sample("StridedSlice", lambda x: x[...], (X,), X, 0, label="all"),
    Sample("StridedSlice", lambda x, t: x[:, t], (X, np.int32(2)), lambda x, t: x[:, 2], 0, label="by-tensor"),
    Sample(
        "StridedSlice",
        lambda x, t: x[..., -t:, :t],
        (X, np.int32(2)),
        lambda x, t: x[..., -2:, :2],
        0,
        exact=False,
        label="bounds",
    ),
    Sample(
        "StridedSlice", lambda x: TF["strided_slice"](x, [0, 0], [2, -1], [1, 1]), (X,), X[:2, :-1], 0, label="function"
    ),
    # Places and conditions
    Sample("GatherV2", lambda x, i: TF["gather"](x, i), (M, np.int32([1, 0, 1])), M[[1, 0, 1]], 0),
    Sample(
        "GatherV2",
        lambda x, i: TF["gather"](x, i, axis=-2),
        (X, np.int64([[2, 0], [1, 2]])),
        X[:, [[2, 0], [1, 2]]],
        0,
        static=("known", "partial"),
        label="axis",
    ),
    Sample("GatherV2", lambda x, i: TF["gather"](x, i), (M, np.int32(1)), M[1], 0, label="scalar"),
    Sample(
        "GatherV2",
        lambda x, i: TF["gather"](x, i, axis=2, batch_dims=1),
        (X, np.int32([[[3, 0], [1, 1]], [[2, 2], [0, 1]]])),
        np.stack([X[0][:, [[3, 0], [1, 1]]], X[1][:, [[2, 2], [0, 1]]]]),
        0,
        label="batch",
    ),
    Sample(
        "GatherNd",
        lambda x, i: TF["gather_nd"](x, i),
        (X, np.int32([[0, 1], [1, 2], [0, 1]])),
        X[[0, 1, 0], [1, 2, 1]],
        0,
    ),
    Sample(
        "ScatterNd",
        lambda i, x: TF["scatter_nd"](i, x, [4, 3]),
        (np.int32([[3], [1]]), M),
        lambda i, x: np.stack([0 * x[0], x[1], 0 * x[0], x[0]]),
        0,
    ),
    Sample(
        "Where",
        lambda c: TF["where"](c),
        (np.array([[True, False], [True, True]]),),
        [[0, 0], [1, 0], [1, 1]],
        0,
        exact=False,
    ),
    Sample("Select", lambda x, y: TF["where"](x > y, x, y), (M, -M), np.maximum(M, -M), 0),
    Sample(
        "Select",
        lambda c, x, y: TF["where"](c, x, y),
        (C, M, -M),
        lambda c, x, y: np.stack([x[0], y[1]]),
        0,
        label="rows",
    ),
    Sample("Select", lambda c, x, y: TF["where"](c, x, y), (np.True_, M, -M), M, 0, label="scalar"),
    Sample(
        "GatherV2",
        lambda x, m: TF["boolean_mask"](x, m, axis=1),
        (X, np.array([True, False, True])),
        X[:, [0, 2]],
        0,
        static=("known", "partial"),
        exact=False,
        gradient=True,
        label="mask",
    ),
    Sample(
        "DynamicPartition",
        lambda x, p: TF["dynamic_partition"](x, p, 2),
        (X, np.int32([[0, 1, 1], [1, 0, 1]])),
        [X[[0, 1], [0, 1]], X[[0, 0, 1, 1], [1, 2, 0, 2]]],
        0,
        exact=False,
    ),
    Sample(
        "DynamicStitch",
        lambda x, y: TF["dynamic_stitch"]([[0, 3], [1]], [x, y]),
        (M, M[:1] + 1),
        lambda x, y: np.stack([x[0], y[0], 0 * x[0], x[1]]),
        0,
    ),
    # Orders
    Sample("ReverseV2", lambda x: TF["reverse"](x, [0, -1]), (X,), X[::-1, :, ::-1], 0),
    Sample(
        "ReverseSequence",
        lambda x, n: TF["reverse_sequence"](x, n, seq_axis=2, batch_axis=1),
        (X, np.int32([3, 0, 4])),
        np.stack([X[:, 0, [2, 1, 0, 3]], X[:, 1], X[:, 2, ::-1]], 1),
        0,
    ),
    Sample("Roll", lambda x: TF["roll"](x, [1, -2], [0, 2]), (X,), np.roll(X, (1, -2), (0, 2)), 0),
    Sample("InvertPermutation", lambda x: TF["invert_permutation"](x), (np.int32([2, 0, 1]),), [1, 2, 0], 0),
    # Diagonals
    Sample("Diag", lambda x: TF["diag"](x), (V,), np.diag(V), 0),
    Sample("DiagPart", lambda x: TF["diag_part"](x), (M[:, :2],), M[[0, 1], [0, 1]], 0),
    Sample("MatrixDiag", lambda x: TF["matrix_diag"](x), (M,), np.stack([np.diag(row) for row in M]), 0),
    Sample("MatrixDiagPart", lambda x: TF["matrix_diag_part"](x), (X,), X[:, range(3), range(3)], 0),
    Sample(
        "MatrixSetDiag",
        lambda x, d: TF["matrix_set_diag"](x, d),
        (X, M + 5),
        lambda x, d: np.where(np.eye(3, 4) > 0, np.pad(d, [(0, 0), (0, 1)])[:, None], x),
        0,
    ),
    Sample("MatrixBandPart", lambda x: TF["matrix_band_part"](x, 1, -1), (X,), np.triu(X, -1), 0),
    Sample("MatrixBandPart", lambda x: TF["matrix_band_part"](x, -1, -1), (X,), X, 0, label="all"),
    Sample("Eye", lambda: TF["eye"](2, 3, batch_shape=[2]), (), np.stack([np.eye(2, 3, dtype=np.float32)] * 2), 0),
    # Sets
    Sample(
        "Unique",
        lambda x: TF["unique"](x),
        (np.array([3.0, 1.0, 3.0, 2.0, 1.0]),),
        [np.array([3.0, 1.0, 2.0]), [0, 1, 0, 2, 1]],
        0,
        exact=False,
    ),
    Sample(
        "UniqueWithCounts",
        lambda x: TF["unique_with_counts"](x),
        (np.int32([3, 1, 3]),),
        [[3, 1], [0, 1, 0], [2, 1]],
        0,
        exact=False,
    ),
    Sample(
        "ListDiff",
        lambda x, y: TF["setdiff1d"](x, y),
        (np.int32([1, 2, 3, 4, 2]), np.int32([2, 5])),
        [[1, 3, 4], [0, 2, 3]],
        0,
        exact=False,
    ),
    # Making
    Sample("Fill", lambda x: TF["fill"]([2, 3], x), (np.float64(1.5),), np.full((2, 3), 1.5), 0),
    Sample("ZerosLike", lambda x: TF["zeros_like"](x, optimize=False), (M,), 0 * M, 0),
    Sample("OnesLike", lambda x: TF["ones_like"](x, "int32", optimize=False), (M,), np.ones((2, 3)), 0),
    Sample("Range", lambda: TF["range"](3, 12, 4), (), [3, 7, 11], 0),
    Sample("Range", lambda n: TF["range"](n), (np.int64(3),), [0, 1, 2], 0, exact=False, label="tensor"),
    Sample("LinSpace", lambda: TF["linspace"](0.0, 1.0, 5), (), np.float32([0, 0.25, 0.5, 0.75, 1]), 0),
    Sample(
        "Meshgrid",
        lambda x, y: TF["meshgrid"](x, y),
        (V, V[:2]),
        lambda x, y: np.meshgrid(x, y),
        0,
    ),
    # Encodings
    Sample(
        "OneHot",
        lambda i: TF["one_hot"](i, 3),
        (np.int32([[0, 2], [-1, 3]]),),
        np.float32([[[1, 0, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 0]]]),
        0,
    ),
    Sample(
        "OneHot",
        lambda i: TF["one_hot"](i, 2, 5, 6, axis=0),
        (np.int64([0, 1, 1]),),
        [[5, 6, 6], [6, 5, 5]],
        0,
        label="axis",
    ),
    Sample(
        "SequenceMask",
        lambda n: TF["sequence_mask"](n, 3),
        (np.int32([1, 0, 5]),),
        [[True, False, False], [False, False, False], [True, True, True]],
        0,
    ),
    Sample(
        "SequenceMask",
        lambda n: TF["sequence_mask"](n, dtype="float32"),
        (np.int64([1, 2]),),
        [[1, 0], [1, 1]],
        0,
        exact=False,
        label="longest",
    ),
]
