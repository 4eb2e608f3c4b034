import copy

import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.program.flags import FLAGS


def define(flags=tf.flags):
    flags.DEFINE_string("name", "abc", "a text")
    flags.DEFINE_integer("batch_size", 32, "how many")
    flags.DEFINE_float("learning_rate", 0.1, "step size")
    flags.DEFINE_boolean("train", True, "whether to train")
    flags.DEFINE_bool("verbose", False, "")


def test_flags_have_their_defaults(argv):
    define(tf.app.flags)
    assert (FLAGS.name, FLAGS.batch_size, FLAGS.learning_rate, FLAGS.train, FLAGS.verbose) == (
        "abc", 32, 0.1, True, False,
    )  # fmt: skip


def test_both_namespaces_hold_the_same_flags():
    assert tf.flags.FLAGS is tf.app.flags.FLAGS and tf.flags.DEFINE_string is tf.app.flags.DEFINE_string


def test_command_line_is_parsed_on_first_access(argv):
    argv("--name=x y", "--batch_size", "5", "--learning_rate=1", "--notrain", "--verbose", "left over")
    define()
    assert (FLAGS.name, FLAGS.batch_size, FLAGS.train, FLAGS.verbose) == ("x y", 5, False, True)
    assert repr(FLAGS.learning_rate) == "1.0"


@pytest.mark.parametrize(
    ("text", "train"), [("--train=False", False), ("--train=true", True), ("--train", True), ("--train=0", False)]
)
def test_booleans_are_spelled_in_many_ways(argv, text, train):
    argv(text)
    define()
    assert FLAGS.train is train


def test_other_kinds_of_flags(argv):
    argv("--mode=b", "--layers=3,4", "--seed=1", "--seed=2")
    tf.flags.DEFINE_enum("mode", "a", ["a", "b"], "")
    tf.flags.DEFINE_list("layers", "1,2", "")
    tf.flags.DEFINE_multi_integer("seed", None, "")
    assert (FLAGS.mode, FLAGS.layers, FLAGS.seed) == ("b", ["3", "4"], [1, 2])


def test_tensorflow_1_4_names_of_arguments(argv):
    tf.flags.DEFINE_integer(flag_name="steps", default_value=3, docstring="how many")
    assert FLAGS.steps == 3


def test_flags_may_be_assigned(argv):
    define()
    FLAGS.batch_size = 7
    assert FLAGS.batch_size == 7 and FLAGS.flag_values_dict()["batch_size"] == 7


def test_flag_that_is_not_defined_is_an_error_that_names_the_nearest(argv):
    define()
    with pytest.raises(AttributeError, match="'batchsize'; the closest are batch_size"):
        _ = FLAGS.batchsize
    with pytest.raises(tf.flags.UnrecognizedFlagError, match=r"'batchsize'. Did you mean: batch_size"):
        FLAGS.batchsize = 3


@pytest.mark.parametrize("text", ["--batch_size=x", "--train=maybe", "--batch_size"])
def test_value_that_does_not_fit_is_an_error(argv, text):
    argv(text)
    define()
    with pytest.raises(tf.flags.Error):
        _ = FLAGS.name


def test_unknown_flag_on_the_command_line_is_an_error_on_first_access(argv):
    argv("--batchsize=3")
    define()
    with pytest.raises(tf.flags.UnrecognizedFlagError, match="batchsize"):
        _ = FLAGS.name


def test_flag_is_defined_once(argv):
    define()
    with pytest.raises(tf.flags.DuplicateFlagError, match="'name' is defined twice"):
        tf.flags.DEFINE_string("name", "", "")


def test_log_dir_and_help_are_free_for_the_program(argv):
    argv("--log_dir=x", "--help=y")
    tf.flags.DEFINE_string("log_dir", "", "which absl's logging would define, too")
    tf.flags.DEFINE_string("help", "", "")
    assert (FLAGS.log_dir, FLAGS.help) == ("x", "y")


def test_required_flag_must_be_given(argv):
    tf.flags.DEFINE_string("data", None, "")
    tf.flags.mark_flag_as_required("data")
    with pytest.raises(tf.flags.IllegalFlagValueError, match="data"):
        FLAGS(["program.py"])
    assert FLAGS(["program.py", "--data=x"]) == ["program.py"]


def test_parse_flags_as_in_tensorflow_1_4(argv):
    argv("--batch_size=5", "--unknown=1", "rest")
    define()
    assert FLAGS._parse_flags() == ["--unknown=1", "rest"]
    assert sorted(FLAGS.__flags.items()) == [
        ("batch_size", 5), ("learning_rate", 0.1), ("name", "abc"), ("train", True), ("verbose", False),
    ]  # fmt: skip


def test_parse_flags_of_given_arguments(argv):
    define()
    assert FLAGS._parse_flags(args=["--batch_size=6", "x"]) == ["x"]
    assert FLAGS.batch_size == 6


def test_flags_as_in_tensorflow_1_15(argv):
    argv("--batch_size=5")
    define()
    assert FLAGS.name == "abc"
    assert {name: flag.value for name, flag in FLAGS.__flags.items()} == FLAGS.flag_values_dict()
    assert FLAGS["batch_size"].value == 5
    assert sorted(FLAGS) == sorted(FLAGS.__flags) and len(FLAGS) == 5 and "name" in FLAGS and "batch_size" in dir(FLAGS)


def test_flags_may_be_deleted_and_defined_anew(argv):
    define()
    for name in list(FLAGS.__flags):
        FLAGS.__delattr__(name)
    define()
    assert FLAGS.batch_size == 32


def test_flags_of_ones_own_are_apart(argv):
    own = tf.flags.FlagValues()
    tf.flags.DEFINE_integer("steps", 3, "", flag_values=own)
    assert own(["p", "--steps=4"]) == ["p"] and own.steps == 4
    assert "steps" not in FLAGS
    assert copy.deepcopy(own).steps == 4


@pytest.mark.parametrize("spelling", ["--help", "-h"])
def test_help_prints_the_flags_and_exits(argv, capsys, spelling):
    define()
    tf.flags.DEFINE_string("data", None, "where the data lies")
    tf.flags.mark_flag_as_required("data")
    with pytest.raises(SystemExit) as caught:
        FLAGS(["program.py", spelling], known_only=True)
    assert caught.value.code == 0
    assert "--batch_size: how many\n    (default: '32')" in capsys.readouterr().out
    assert "help" not in FLAGS and "h" not in FLAGS
