import pytest
import torch

import dynrnn.tf1 as tf
from dynrnn.graph.op import Op
from dynrnn.runner.modules import find_module
from dynrnn.tf1.ops.apply import apply


def threads_during_run(config):
    look = Op("Look", "x:T -> T", lambda x: torch.full_like(x, torch.get_num_threads()), None)
    return tf.Session(config=config).run(apply(look, [tf.constant(0)], {}, "look"))


def test_config_of_usual_programs():
    config = tf.ConfigProto(
        device_count={"GPU": 0, "CPU": 2}, allow_soft_placement=True, log_device_placement=False,
        inter_op_parallelism_threads=2, gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.3),
    )  # fmt: skip
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = "0"
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    assert tf.OptimizerOptions.GlobalJitLevel.Name(config.graph_options.optimizer_options.global_jit_level) == "ON_1"
    with tf.Session(config=config) as sess:
        assert sess.run(tf.constant(3)) == 3
    tf.InteractiveSession(config=config).close()


def test_rewriter_config_is_found_where_programs_import_it():
    rewriter = find_module("tensorflow.core.protobuf.rewriter_config_pb2").RewriterConfig
    config = find_module("tensorflow.core.protobuf.config_pb2").ConfigProto()
    config.graph_options.rewrite_options.arithmetic_optimization = rewriter.OFF
    assert str(config) == "graph_options {\n  rewrite_options {\n    arithmetic_optimization: OFF\n  }\n}\n"


def test_threads_are_those_of_the_config_while_the_session_runs():
    before = torch.get_num_threads()
    assert threads_during_run(tf.ConfigProto(intra_op_parallelism_threads=before + 1)) == before + 1
    assert torch.get_num_threads() == before
    assert threads_during_run(tf.ConfigProto()) == threads_during_run(None) == before


def test_threads_are_put_back_when_a_run_fails():
    before = torch.get_num_threads()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=before + 1)).run(tf.placeholder("float"))
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("config", [3, {"allow_soft_placement": True}, "x"])
def test_config_of_another_type_is_an_error(config):
    with pytest.raises(
        TypeError, match=f'Argument `config` must be a tf.ConfigProto, but got "{type(config).__name__}"'
    ):
        tf.Session(config=config)


def test_misspelled_option_is_an_error():
    with pytest.raises(ValueError, match='"allow_soft_placment" field; the closest are allow_soft_placement'):
        tf.ConfigProto(allow_soft_placment=True)


def test_run_takes_options_and_metadata():
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    sess, x = tf.Session(), tf.constant(3)
    assert sess.run(x, options=options, run_metadata=metadata) == 3
    assert len(metadata.step_stats.dev_stats) == 0
    with pytest.raises(TypeError, match=r"Argument `options` must be a tf.RunOptions"):
        sess.run(x, options=3)
    with pytest.raises(TypeError, match=r"Argument `run_metadata` must be a tf.RunMetadata"):
        sess.run(x, run_metadata={})


def test_session_log_says_what_happened():
    assert str(tf.SessionLog(status=tf.SessionLog.START)) == "status: START\n"
