import dynrnn.tf1 as tf
from dynrnn.runner.modules import find_module


def test_there_is_one_device():
    (device,) = find_module("tensorflow.python.client.device_lib").list_local_devices()
    assert (device.name, device.device_type) == ("/device:CPU:0", "CPU")
    assert 'name: "/device:CPU:0"' in str(device)
    assert [device.name for device in tf.Session().list_devices()] == ["/job:localhost/replica:0/task:0/device:CPU:0"]


def test_there_is_no_gpu():
    assert tf.test.is_gpu_available() is tf.test.is_gpu_available(cuda_only=True) is False
    assert tf.test.gpu_device_name() == "" and tf.test.is_built_with_cuda() is False
