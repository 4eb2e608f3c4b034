"""The array functions in one place, for the modules that use them; each stands in the file of its subject."""

from .choosing import boolean_mask, where
from .diagonals import diag, diag_part, eye, matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from .encoding import one_hot, sequence_mask
from .gathering import batch_gather, gather, gather_nd, scatter_nd
from .indexing import getitem
from .joining import concat, stack, tile
from .making import fill, linspace, meshgrid, ones, ones_like, range_, zeros, zeros_like
from .padding import pad
from .partitioning import dynamic_partition, dynamic_stitch
from .placeholders import identity, placeholder, placeholder_with_default, stop_gradient
from .reshaping import broadcast_to, expand_dims, reshape, squeeze
from .reversing import invert_permutation, reverse, reverse_sequence, roll
from .sets import setdiff1d, unique, unique_with_counts
from .sizing import broadcast_dynamic_shape, broadcast_static_shape, rank, shape, shape_n, size
from .slicing import slice_, strided_slice
from .splitting import split, unstack
from .transposing import matrix_transpose, transpose

__all__ = [
    "batch_gather",
    "boolean_mask",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "concat",
    "diag",
    "diag_part",
    "dynamic_partition",
    "dynamic_stitch",
    "expand_dims",
    "eye",
    "fill",
    "gather",
    "gather_nd",
    "getitem",
    "identity",
    "invert_permutation",
    "linspace",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
    "matrix_transpose",
    "meshgrid",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "placeholder",
    "placeholder_with_default",
    "range_",
    "rank",
    "reshape",
    "reverse",
    "reverse_sequence",
    "roll",
    "scatter_nd",
    "sequence_mask",
    "setdiff1d",
    "shape",
    "shape_n",
    "size",
    "slice_",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "tile",
    "transpose",
    "unique",
    "unique_with_counts",
    "unstack",
    "where",
    "zeros",
    "zeros_like",
]
