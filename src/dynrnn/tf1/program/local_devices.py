"""The devices that a program may ask for: there is one, the CPU. What `tf.device` does is not here."""

from __future__ import annotations

from typing import Any, ClassVar

from ..export import export
from ..message import Fields, Message


class DeviceAttributes(Message):
    """What a program is told of a device; a memory limit of 0 says that there is none."""

    FIELDS: ClassVar[Fields] = {
        "name": str,
        "device_type": str,
        "memory_limit": int,
        "incarnation": int,
        "physical_device_desc": str,
    }


@export("_inside.device_lib.list_local_devices")
def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """The devices of this machine that a graph runs on: the CPU, whatever `session_config` says.

    Example:
        >>> [device.name for device in list_local_devices() if device.device_type == "CPU"]
        ['/device:CPU:0']
    """
    return [DeviceAttributes(name="/device:CPU:0", device_type="CPU")]


@export("test.is_gpu_available")
def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None) -> bool:
    """False: graphs run on the CPU, also where there is a GPU of the kind that is asked for."""
    return False


@export("test.gpu_device_name")
def gpu_device_name() -> str:
    """The name of the GPU that graphs run on: "", for there is none."""
    return ""


@export("test.is_built_with_cuda", "test.is_built_with_gpu_support")
def is_built_with_cuda() -> bool:
    """False: graphs run on the CPU, whatever PyTorch is built with."""
    return False
