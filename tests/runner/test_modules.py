import subprocess
import sys

import pytest

from dynrnn.runner.modules import INSIDE, NAMESPACES

# Import lines of public programs.
IMPORTS = """
import tensorflow as tf
import tensorflow.compat.v1 as tf
import tensorflow.contrib.rnn as rnn_cell
from tensorflow.contrib import rnn, learn
from tensorflow.contrib.rnn import BasicLSTMCell, LSTMCell, GRUCell, BasicRNNCell, MultiRNNCell, LSTMStateTuple
from tensorflow.contrib.rnn import static_rnn
from tensorflow.nn import rnn_cell, dynamic_rnn
from tensorflow.python.ops import rnn, rnn_cell, rnn_cell_impl, array_ops, math_ops, variable_scope, tensor_array_ops
from tensorflow.python.ops import init_ops, control_flow_ops, nn_ops, random_ops, nn
from tensorflow.python.ops.nn import dynamic_rnn, softmax, tanh
from tensorflow.python.ops.rnn import dynamic_rnn, bidirectional_dynamic_rnn
from tensorflow.python.ops.rnn_cell import BasicLSTMCell, RNNCell
from tensorflow.python.ops.rnn_cell_impl import RNNCell
from tensorflow.python.ops.math_ops import tanh, sigmoid
from tensorflow.contrib.rnn.python.ops import core_rnn_cell, core_rnn_cell_impl
from tensorflow.contrib.rnn.python.ops.core_rnn import static_rnn
from tensorflow.python.framework import ops, dtypes, tensor_shape, constant_op
from tensorflow.python.framework.ops import reset_default_graph
from tensorflow.python.framework.dtypes import float32
from tensorflow.python.framework.tensor_shape import TensorShape
from tensorflow.models.rnn import rnn, rnn_cell
from tensorflow.contrib.rnn.core_rnn_cell import BasicLSTMCell
import tensorflow as tf; tf.python.ops.rnn_cell.BasicLSTMCell
import tensorflow as tf; tf.contrib.rnn.core_rnn_cell.BasicLSTMCell
from tensorflow.python.client import device_lib
from tensorflow.python.client.device_lib import list_local_devices
from tensorflow.python.platform import app, flags, gfile, googletest, resource_loader, test, tf_logging
from tensorflow.python.lib.io import file_io
from tensorflow.python.ops import gradient_checker, custom_gradient
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow import flags, app, gfile, logging, test, ConfigProto
""".strip().splitlines()


def test_no_path_stands_in_both_tables():
    assert not set(NAMESPACES) & set(INSIDE)


@pytest.fixture(scope="module")
def failures():
    """The import lines that fail with the TF1 face, each with its error; one process tries all."""
    program = (
        "import sys\nfrom dynrnn.runner.finder import install_face\ninstall_face()\n"
        "for line in sys.stdin.read().splitlines():\n"
        "    try:\n        exec(line)\n"
        "    except (ImportError, AttributeError) as error:\n        print(line, error, sep=' :: ')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="\n".join(IMPORTS),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return dict(line.split(" :: ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("line", IMPORTS)
def test_import_line_of_an_old_program_succeeds(line, failures):
    assert line not in failures, failures[line]
