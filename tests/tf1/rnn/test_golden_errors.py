"""Calls that TensorFlow refuses: the same class of error at the same stage, and a message that helps."""

import builtins
import json

import numpy as np
import pytest
from tf1.rnn.golden_case import GOLDEN

import dynrnn.tf1 as tf

CASES = {case["id"]: case for case in json.loads((GOLDEN / "errors.json").read_text())["cases"]}
# What these call is not part of the face yet: savers, optimizers.
LATER = {
    "minimize_no_path",
    "saver_no_variables",
    "saver_restore_no_file",
    "saver_restore_missing_variable",
    "saver_restore_other_shape",
    "saver_restore_other_dtype",
    "saver_duplicate_name",
}
# What a message must say: the gist of TensorFlow's, or more.
SAYS = {
    "inputs_rank2": r"\(3, 5\).*rank at least 3",
    "inputs_rank1": r"\(3,\).*rank at least 3",
    "inputs_rank4_lstm": r"lstm_cell.*expected ndim=2, found ndim=3",
    "inputs_unknown_rank": r"known rank",
    "inputs_last_dim_none": r"depth of inputs\) must be accessible via shape inference, but saw value None",
    "inputs_int": r"RNN cell only supports floating point inputs.*int32",
    "inputs_float64_dtype_float32": r"types.*match.*float64.*float32",
    "inputs_tuple_batch_mismatch": r"Batch_size is not the same for all the elements.*5",
    "inputs_tuple_time_mismatch": r"Time steps is not the same for all the elements.*6",
    "static_inputs_tensor": r"inputs must be a sequence",
    "static_inputs_empty": r"inputs must not be empty",
    "no_dtype_no_state": r"If no initial_state is provided, argument `dtype` must be specified",
    "static_no_dtype_no_state": r"If no initial_state is provided, argument `dtype` must be specified",
    "state_tensor_for_lstm": r"iterable|LSTMStateTuple",
    "state_plain_tuple_for_lstm": r"(?s)don't have the same.*structure.*tuple.*LSTMStateTuple",
    "state_pair_for_gru": r"rank",
    "state_wrong_width": r"Dimensions must be equal.*4.*7",
    "state_wrong_batch": r"Dimensions must be equal.*3.*2",
    "state_wrong_dtype": r"types.*match.*float32.*float64",
    "state_multi_too_few": r"length 2.*",
    "state_multi_list": r"(?s)don't have the same.*structure.*list.*tuple",
    "cell_returns_other_structure": r"(?s)don't have the same nested structure",
    "cell_returns_other_width": r"\(2, 3\).*\(2, 6\)",
    "cell_output_other_width": r"Inconsistent shapes: saw \(2, 6\) but expected \(2, 3\)",
    "lens_rank2": r"sequence_length must be a vector of length batch_size.*\(2, 1\)",
    "lens_scalar": r"sequence_length must be a vector of length batch_size.*\(\)",
    "lens_too_many_static": r"Dimensions must be equal.*3.*2.*sequence_length",
    "lens_too_many_fed": r"Expected shape for Tensor.*\[2\].*\[3\]",
    "lens_string_run": r"(?i)cast string to int32 is not supported",
    "bi_lens_over_time": r"seq_lens\(0\) > input.dims\(1\).*9",
    "bi_lens_negative": r"seq_lens\(0\) < 0.*-1",
    "bi_lens_float": r"float32.*int32, int64",
    "cell_not_a_cell": r"'cell' \(lstm\) is not an RNNCell.*output_size.*state_size.*zero_state.*callable",
    "cell_is_class": r"'cell' is the class LSTMCell, not a cell",
    "bi_cell_list": r"'cell_fw'.*is not an RNNCell.*output_size.*state_size",
    "multi_empty": r"at least one cell",
    "multi_not_list": r"cells must be a list or tuple",
    "multi_concat_of_tuples": r"(?i)some cells return tuples of states.*LSTMStateTuple\(c=3, h=3\)",
    "dropout_keep_above_one": r"input_keep_prob must be between 0 and 1: 1.5",
    "dropout_keep_zero": r"rate.*\[0, 1\).*1",
    "dropout_variational_no_dtype": r"variational_recurrent=True, dtype must be provided",
    "residual_width_mismatch": r"Shapes \(2, 4\) and \(2, 3\) are incompatible",
    "raw_loop_fn_not_callable": r"loop_fn must be a callable",
    "raw_state_structure": r"don't have the same nested structure",
    "parallel_iterations_float": r"parallel_iterations must be a positive integer.*1.5",
    "inputs_numpy_time_major": r"inputs must be tensors with time_major=True, got ndarray",
    "var_scope_twice": r"(?s)s/rnn/lstm_cell/kernel already exists, disallowed.*reuse=True or reuse=tf.AUTO_REUSE",
    "var_reuse_missing": r"s/rnn/lstm_cell/kernel does not exist.*AUTO_REUSE",
    "var_reuse_other_shape": r"s/rnn/lstm_cell/kernel.*\(10, 16\).*\(7, 16\)",
    "var_get_twice": r"(?s)w already exists, disallowed.*reuse=True or reuse=tf.AUTO_REUSE",
    "var_cell_other_width": r"Dimensions must be equal.*10 and 7",
    "var_uninitialized": r"uninitialized value rnn/lstm_cell/(kernel|bias)",
    "variable_load_wrong_shape": r"\(3,\).*\(2,\)",
    "feed_wrong_shape": r"Cannot feed value of shape \(4, 3\) for Tensor '?Placeholder:0'?, which has shape '?\(2, 3\)",
    "feed_missing": r"(?s)must feed a value for placeholder.*Placeholder.*float",
    "feed_string_for_float": r"(?i)could not convert string to float",
    "feed_tensor_value": r"value of a feed cannot be a tf.Tensor",
    "feed_unknown_key": r"Cannot interpret feed_dict key as Tensor",
    "feed_name_not_in_graph": r"Cannot interpret feed_dict key as Tensor.*nowhere",
    "feed_non_feedable": r"may not be fed",
    "feed_op": r"Cannot interpret feed_dict key as Tensor.*Operation",
    "fetch_none": r"Fetch argument None has invalid type",
    "fetch_list_with_none": r"Fetch argument None has invalid type",
    "fetch_number": r"Fetch argument 3.0.*",
    "fetch_other_graph": r"not an element of this graph",
    "fetch_unknown_name": r"nowhere:0.*does not exist",
    "fetch_closed_session": r"closed Session",
    "graph_finalized": r"(?i)graph is finalized and cannot be modified",
}


def run(case):
    """Run a case's source; returns its stage, the error it ended in and its names."""
    names = {"tf": tf, "np": np}
    with tf.Session() as session:
        names["sess"] = session
        for stage, source in (("construction", case["build"]), ("run", case["run"] or "")):
            try:
                exec(compile(source, case["id"], "exec"), names)
            except Exception as error:
                return stage, error, names
    return "none", None, names


def class_of(name):
    return getattr(tf.errors, name.removeprefix("tf.errors.")) if name.startswith("tf.") else getattr(builtins, name)


def cases(*stages):
    return [name for name, case in CASES.items() if name not in LATER and case["stage"] in stages]


@pytest.mark.parametrize("name", cases("construction", "run"))
def test_what_tensorflow_refuses_is_refused_at_the_same_stage_with_a_message_that_helps(name):
    case = CASES[name]
    stage, error, _ = run(case)
    assert error is not None, f"expected {case['raises']}: {case['gist']}"
    if case["check"] == "incidental":  # there TensorFlow tripped over a later line; a clear refusal is as good
        assert isinstance(error, (TypeError, ValueError, class_of(case["raises"])))
    else:
        assert isinstance(error, class_of(case["raises"]))
    assert stage == case["stage"]
    assert_says(error, SAYS[name])


def assert_says(error, pattern):
    with pytest.raises(type(error), match=pattern):
        raise error


@pytest.mark.parametrize("name", cases("none"))
def test_what_tensorflow_takes_is_taken(name):
    case = CASES[name]
    _, error, names = run(case)
    if error is not None:
        raise error
    assert {key: names[f"show_{key}"] for key in case["values"] or {}} == (case["values"] or {})


@pytest.mark.parametrize("name", cases("construction"))
def test_a_refused_call_leaves_the_graph_fit_for_more(name):
    _, error, names = run(CASES[name])
    assert error is not None
    if name != "graph_finalized":
        assert names["sess"].graph.get_name_scope() == "" and tf.get_variable_scope().name == ""
        with tf.Session() as session:
            assert session.run(tf.constant(1.0) + 1) == 2
