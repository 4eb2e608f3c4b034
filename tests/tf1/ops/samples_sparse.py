"""Samples of the tables of sparse tensors and of strings."""

from typing import Any

import numpy as np
from tf1.ops.samples import Sample

from dynrnn.tf1.export import NAMES as TF

PLACES = np.array([[0, 1], [1, 0], [1, 2]])
VALUES = np.array([1.5, -2.0, 3.0])
SIZES = np.array([2, 3])
DENSE = np.array([[0, 1.5, 0], [-2.0, 0, 3.0]])
WORDS = np.array([b"ab", b"C d"], object)


def on_sparse(path: str, *args: Any, **options: Any) -> Any:
    """A builder that calls a public function on a sparse tensor of the first three placeholders, then with the rest."""

    def build(indices: Any, values: Any, sizes: Any, *more: Any) -> Any:
        made = TF[path](TF["SparseTensor"](indices, values, sizes), *more, *args, **options)
        return [made.indices, made.values, made.dense_shape] if hasattr(made, "dense_shape") else made

    return build


def part(number: int, path: str, *args: Any, **options: Any) -> Any:
    """The same, of which one of the three tensors counts."""
    build = on_sparse(path, *args, **options)
    return lambda *inputs: build(*inputs)[number]


def lookup(rows: Any, weights: Any) -> Any:
    sparse = TF["SparseTensor"]
    places, sizes = np.array([[0, 0], [0, 1], [1, 0]]), np.array([2, 2])
    ids = sparse(places, np.array([1, 0, 1]), sizes)
    return TF["nn.embedding_lookup_sparse"](rows, ids, sparse(places, weights, sizes), combiner="mean")


TABLE = np.array([[1.0, 2.0], [3.0, -1.0]])
WEIGHTS = np.array([0.5, 2.0, 1.0])
SPARSE = (PLACES, VALUES, SIZES)
RANKED = ("known", "partial")
SAMPLES = [
    Sample("SparseToDense", on_sparse("sparse_tensor_to_dense"), SPARSE, DENSE, static=RANKED, exact=False),
    Sample(
        "SparseTensorDenseMatMul",
        on_sparse("sparse_tensor_dense_matmul"),
        (*SPARSE, np.arange(6.0).reshape(3, 2)),
        DENSE @ np.arange(6.0).reshape(3, 2),
        static=RANKED,
        exact=False,
    ),
    Sample(
        "SparseTensorDenseMatMul",
        on_sparse("sparse_tensor_dense_matmul", adjoint_a=True, adjoint_b=True),
        (*SPARSE, np.arange(4.0).reshape(2, 2)),
        DENSE.T @ np.arange(4.0).reshape(2, 2).T,
        static=RANKED,
        exact=False,
        label="adjoint",
    ),
    Sample(
        "SparseDenseAt",
        lambda indices, values, sizes, dense: (TF["SparseTensor"](indices, values, sizes) * dense).values,
        (*SPARSE, np.array([[1.0, 2.0, 3.0]])),
        np.array([3.0, -2.0, 9.0]),
        static=RANKED,
    ),
    Sample(
        "SparseOrder",
        part(1, "sparse_reorder"),
        (PLACES[::-1].copy(), VALUES, SIZES),
        VALUES[::-1],
        static=RANKED,
        exact=False,
    ),
    Sample(
        "SparseTranspose",
        on_sparse("sparse_transpose"),
        SPARSE,
        [np.array([[0, 1], [1, 0], [2, 1]]), np.array([-2.0, 1.5, 3.0]), np.array([3, 2])],
        static=RANKED,
        exact=False,
    ),
    Sample(
        "SparseReshape",
        on_sparse("sparse_reshape", [3, -1]),
        SPARSE,
        [np.array([[0, 1], [1, 1], [2, 1]]), VALUES, np.array([3, 2])],
        static=RANKED,
        exact=False,
    ),
    Sample(
        "SparseSlice",
        on_sparse("sparse_slice", [1, 0], [5, 2]),
        SPARSE,
        [np.array([[0, 0]]), np.array([-2.0]), np.array([1, 2])],
        static=RANKED,
        exact=False,
    ),
    Sample("SparseResetShape", part(2, "sparse_reset_shape"), (PLACES, VALUES, np.array([9, 9])), SIZES, static=RANKED),
    Sample(
        "SparseResetShape",
        part(2, "sparse_reset_shape", [4, 4]),
        SPARSE,
        np.array([4, 4]),
        static=RANKED,
        label="given",
    ),
    Sample(
        "SparseConcat",
        lambda *three: TF["sparse_concat"](0, [TF["SparseTensor"](*three)] * 2).values,
        SPARSE,
        np.concatenate([VALUES, VALUES]),
        static=RANKED,
        exact=False,
    ),
    Sample("SparseReduceSum", on_sparse("sparse_reduce_sum", 1), SPARSE, DENSE.sum(1), static=RANKED, exact=False),
    Sample(
        "SparseReduceSum",
        on_sparse("sparse_reduce_sum", keepdims=True),
        SPARSE,
        DENSE.sum(keepdims=True),
        static=RANKED,
        exact=False,
        label="all",
    ),
    Sample(
        "SparseReduceMax",
        on_sparse("sparse_reduce_max", 0),
        SPARSE,
        np.array([-2.0, 1.5, 3.0]),  # where a column holds no item its 0 does not count
        static=RANKED,
        exact=False,
    ),
    Sample(
        "EmbeddingCombine",
        lookup,
        (TABLE, WEIGHTS),
        np.array([(0.5 * TABLE[1] + 2 * TABLE[0]) / 2.5, TABLE[1]]),
        static=("known",),
        exact=False,
    ),
    Sample(
        "RowWeights",
        lambda rows: TF["nn.embedding_lookup_sparse"](
            rows, TF["SparseTensor"]([[0, 0], [0, 1]], np.array([1, 0]), [1, 2]), None, combiner="sum"
        ),
        (TABLE,),
        TABLE.sum(0, keepdims=True),
        static=("known",),
        exact=False,
        gradient=True,
    ),
    Sample(
        "StringJoin",
        lambda first, second: TF["string_join"]([first, second], "-"),
        (WORDS, np.array(b"x", object)),
        np.array([b"ab-x", b"C d-x"], object),
    ),
    Sample("ReduceJoin", lambda words: TF["reduce_join"](words, 0), (WORDS,), np.array(b"abC d", object)),
    Sample("Substr", lambda words: TF["substr"](words, [0, -1], 1), (WORDS,), np.array([b"a", b"d"], object)),
    Sample("StringLength", lambda words: TF["strings.length"](words), (WORDS,), np.array([2, 3], np.int32)),
    Sample("StringLower", lambda words: TF["strings.lower"](words), (WORDS,), np.array([b"ab", b"c d"], object)),
    Sample("StringUpper", lambda words: TF["strings.upper"](words), (WORDS,), np.array([b"AB", b"C D"], object)),
    Sample("StringStrip", lambda words: TF["string_strip"](words), (np.array([b" a\n"], object),), np.array([b"a"])),
    Sample(
        "StaticRegexReplace",
        lambda words: TF["regex_replace"](words, "[a-z]", "."),
        (WORDS,),
        np.array([b"..", b"C ."], object),
    ),
    Sample(
        "StaticRegexFullMatch",
        lambda words: TF["strings.regex_full_match"](words, "[a-z]+"),
        (WORDS,),
        np.array([True, False]),
    ),
    Sample(
        "StringSplit",
        lambda words: [getattr(TF["string_split"](words), name) for name in ("indices", "values", "dense_shape")],
        (WORDS,),
        [np.array([[0, 0], [1, 0], [1, 1]]), np.array([b"ab", b"C", b"d"], object), np.array([2, 2])],
        exact=False,
    ),
    Sample(
        "StringSplitV2",
        lambda words: TF["strings.split"](words).values,
        (WORDS,),
        np.array([b"ab", b"C", b"d"], object),
        exact=False,
    ),
    Sample(
        "AsString",
        lambda numbers: TF["as_string"](numbers),
        (np.array([1, -2]),),
        np.array([b"1", b"-2"], object),
    ),
    Sample(
        "StringToNumber",
        lambda words: TF["string_to_number"](words),
        (np.array([b"1.5", b" -2 "], object),),
        np.array([1.5, -2.0], np.float32),
    ),
    Sample(
        "DecodeRaw",
        lambda words: TF["decode_raw"](words, "int16"),
        (np.array([b"\x01\x00\x02\x00"], object),),
        np.array([[1, 2]], np.int16),
        exact=False,
    ),
]
