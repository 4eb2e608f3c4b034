"""What configures sessions and runs: `tf.ConfigProto`, `tf.RunOptions` and the messages in them.

All of TensorFlow 1.15's fields that programs set are here, so that programs run unchanged. What they do:

- `ConfigProto.intra_op_parallelism_threads` is the number of threads that PyTorch uses during the session's runs.
- All others have nothing to act on. Everything runs on the CPU, in PyTorch's memory, so there are no devices to count,
  to choose from, to place on or to log (`device_count`, `gpu_options`, `allow_soft_placement`,
  `log_device_placement` ...); operations run one at a time, so there is nothing for `inter_op_parallelism_threads` to
  divide, and a run waits for nothing that could time out; the graph is run as it was built, without the rewriting
  that `graph_options` controls. None of them changes a result in TensorFlow either.
- `RunOptions` asks for traces; a `RunMetadata` stays empty, for single operations are not timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar, TypeVar

import torch

from .export import export
from .message import Enum, Fields, Message

_JIT = Enum(DEFAULT=0, OFF=-1, ON_1=1, ON_2=2)
_TOGGLE = Enum(DEFAULT=0, ON=1, OFF=2, AGGRESSIVE=3)


@export("OptimizerOptions")
class OptimizerOptions(Message):
    """How a graph would be optimized before it is run."""

    Level = Enum(L1=0, L0=-1)
    GlobalJitLevel = _JIT
    FIELDS: ClassVar[Fields] = {
        "do_common_subexpression_elimination": bool, "do_constant_folding": bool, "do_function_inlining": bool,
        "max_folded_constant_in_bytes": int, "opt_level": Level, "global_jit_level": GlobalJitLevel,
        "cpu_global_jit": bool,
    }  # fmt: skip


@export("_inside.rewriter_config_pb2.RewriterConfig")
class RewriterConfig(Message):
    """How a graph would be rewritten before it is run (`tensorflow.core.protobuf.rewriter_config_pb2`)."""

    Toggle = _TOGGLE
    NumIterationsType = Enum(DEFAULT_NUM_ITERS=0, ONE=1, TWO=2)
    MemOptType = Enum(
        DEFAULT_MEM_OPT=0, NO_MEM_OPT=1, MANUAL=2, SWAPPING_HEURISTICS=4, RECOMPUTATION_HEURISTICS=5,
        SCHEDULING_HEURISTICS=6, HEURISTICS=3,
    )  # fmt: skip
    FIELDS: ClassVar[Fields] = dict.fromkeys(
        ("layout_optimizer", "constant_folding", "shape_optimization", "remapping", "arithmetic_optimization",
         "dependency_optimization", "loop_optimization", "function_optimization", "debug_stripper",
         "scoped_allocator_optimization", "pin_to_host_optimization", "implementation_selector",
         "auto_mixed_precision"), _TOGGLE,
    ) | {
        "disable_model_pruning": bool, "disable_meta_optimizer": bool, "min_graph_nodes": int,
        "fail_on_optimizer_errors": bool,
        "meta_optimizer_iterations": NumIterationsType, "meta_optimizer_timeout_ms": int,
        "memory_optimization": MemOptType, "memory_optimizer_target_node_name_scope": str, "optimizers": [str],
    }  # fmt: skip


@export("GPUOptions")
class GPUOptions(Message):
    """How the memory of GPUs would be used."""

    FIELDS: ClassVar[Fields] = {
        "per_process_gpu_memory_fraction": float, "allow_growth": bool, "allocator_type": str,
        "deferred_deletion_bytes": int, "visible_device_list": str, "polling_active_delay_usecs": int,
        "polling_inactive_delay_msecs": int, "force_gpu_compatible": bool,
    }  # fmt: skip


@export("GraphOptions")
class GraphOptions(Message):
    """How a graph would be made ready to run."""

    FIELDS: ClassVar[Fields] = {
        "enable_recv_scheduling": bool, "optimizer_options": OptimizerOptions, "build_cost_model": int,
        "build_cost_model_after": int, "infer_shapes": bool, "place_pruned_graph": bool,
        "enable_bfloat16_sendrecv": bool, "timeline_step": int, "rewrite_options": RewriterConfig,
    }  # fmt: skip


@export("_inside.config_pb2.ThreadPoolOptionProto")
class ThreadPoolOptionProto(Message):
    """A pool of threads that operations would be divided among."""

    FIELDS: ClassVar[Fields] = {"num_threads": int, "global_name": str}


@export("ConfigProto")
class ConfigProto(Message):
    """What a session is configured with; of its fields, `intra_op_parallelism_threads` has an effect here.

    Raises:
        ValueError (constructor) or AttributeError: there is no such field. TypeError: a value of another type.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> config = tf.ConfigProto(allow_soft_placement=True, intra_op_parallelism_threads=1)
        >>> config.gpu_options.allow_growth = True
        >>> print(config)
        intra_op_parallelism_threads: 1
        gpu_options {
          allow_growth: true
        }
        allow_soft_placement: true
        <BLANKLINE>
    """

    FIELDS: ClassVar[Fields] = {
        "device_count": {str: int}, "intra_op_parallelism_threads": int, "inter_op_parallelism_threads": int,
        "use_per_session_threads": bool, "session_inter_op_thread_pool": [ThreadPoolOptionProto],
        "placement_period": int, "device_filters": [str], "gpu_options": GPUOptions, "allow_soft_placement": bool,
        "log_device_placement": bool, "graph_options": GraphOptions, "operation_timeout_in_ms": int,
        "isolate_session_state": bool, "share_cluster_devices_in_session": bool,
    }  # fmt: skip


@export("RunOptions")
class RunOptions(Message):
    """What a single run is to record."""

    TraceLevel = Enum(NO_TRACE=0, SOFTWARE_TRACE=1, HARDWARE_TRACE=2, FULL_TRACE=3)
    FIELDS: ClassVar[Fields] = {
        "trace_level": TraceLevel, "timeout_in_ms": int, "inter_op_thread_pool": int, "output_partition_graphs": bool,
        "report_tensor_allocations_upon_oom": bool,
    }  # fmt: skip


class StepStats(Message):
    """What a run recorded of each device: nothing."""

    FIELDS: ClassVar[Fields] = {"dev_stats": [Message]}


@export("RunMetadata")
class RunMetadata(Message):
    """What a single run has recorded."""

    FIELDS: ClassVar[Fields] = {"step_stats": StepStats}


@export("SessionLog", "summary.SessionLog")
class SessionLog(Message):
    """That training started, stopped or wrote a checkpoint, for a summary."""

    SessionStatus = Enum(STATUS_UNSPECIFIED=0, START=1, STOP=2, CHECKPOINT=3)
    FIELDS: ClassVar[Fields] = {"status": SessionStatus, "checkpoint_path": str, "msg": str}


Kind = TypeVar("Kind", bound=Message)


def checked(name: str, kind: type[Kind], value: Any) -> Kind | None:
    """The argument `name` of a session, which may be None; TypeError for another type of message."""
    if value is None or isinstance(value, kind):
        return value
    raise TypeError(f'Argument `{name}` must be a tf.{kind.__name__}, but got "{type(value).__name__}"')


def threads(config: ConfigProto | None) -> AbstractContextManager[None]:
    """A context in which PyTorch uses as many threads as the configuration says (0: as many as it does anyway)."""
    count = 0 if config is None else config.intra_op_parallelism_threads
    return _threads(count) if count > 0 else nullcontext()


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
