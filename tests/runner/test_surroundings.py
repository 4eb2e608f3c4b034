"""Whole programs that use what TensorFlow 1 had around graphs: flags of every age, the log, files, devices."""

OLD_STYLE = """
    import tensorflow as tf

    tf.flags.DEFINE_integer("batch_size", 64, "Batch Size (default: 64)")
    tf.flags.DEFINE_float("dropout_keep_prob", 0.5, "Dropout keep probability (default: 0.5)")
    tf.flags.DEFINE_boolean("allow_soft_placement", True, "Allow device soft device placement")
    tf.flags.DEFINE_string("log_dir", "runs", "Where to write")

    FLAGS = tf.flags.FLAGS
    FLAGS._parse_flags()
    print("\\nParameters:")
    for attr, value in sorted(FLAGS.__flags.items()):
        print("{}={}".format(attr.upper(), value))

    session_conf = tf.ConfigProto(allow_soft_placement=FLAGS.allow_soft_placement, log_device_placement=False)
    with tf.Graph().as_default():
        sess = tf.Session(config=session_conf)
        with sess.as_default():
            print(tf.reduce_sum(tf.ones([FLAGS.batch_size])).eval())
    """

NEWER_STYLE = '''
    """Counts the lines of a file."""
    from __future__ import print_function
    import tensorflow as tf
    from tensorflow.python.client import device_lib
    from tensorflow.python.platform import gfile

    flags = tf.app.flags
    flags.DEFINE_string("data", None, "the file to read")
    flags.DEFINE_integer("limit", 10, "how many lines to read")
    flags.mark_flag_as_required("data")
    FLAGS = flags.FLAGS

    def main(argv):
        tf.logging.set_verbosity(tf.logging.INFO)
        if not gfile.Exists(FLAGS.data):
            tf.logging.fatal("no file %s", FLAGS.data)
            return 3
        with tf.gfile.GFile(FLAGS.data) as f:
            lines = [line.strip() for line in f][:FLAGS.limit]
        tf.logging.info("%d lines", len(lines))
        print(lines, argv[1:], [d.name for d in device_lib.list_local_devices()])

    if __name__ == "__main__":
        tf.app.run()
    '''


def test_flags_of_tensorflow_1_4(write, run):
    done = run(write("train.py", OLD_STYLE), "--batch_size=3", "--noallow_soft_placement", "--log_dir", "x")
    assert done.stderr == "" and done.returncode == 0
    assert done.stdout.splitlines() == [
        "", "Parameters:", "ALLOW_SOFT_PLACEMENT=False", "BATCH_SIZE=3", "DROPOUT_KEEP_PROB=0.5", "LOG_DIR=x", "3.0",
    ]  # fmt: skip


def test_program_with_a_main_function(write, run):
    data = write("data.txt", "one\ntwo\nthree\n")
    done = run(write("count.py", NEWER_STYLE), "--data", str(data), "--limit=2", "more", "--unknown")
    assert done.stderr == "INFO:tensorflow:2 lines\n" and done.returncode == 0
    assert done.stdout == "['one', 'two'] ['more', '--unknown'] ['/device:CPU:0']\n"


def test_program_with_a_main_function_returns_its_status(write, run):
    done = run(write("count.py", NEWER_STYLE), "--data=none")
    assert done.stderr == "CRITICAL:tensorflow:no file none\n" and done.returncode == 3


def test_program_explains_its_flags(write, run):
    done = run(write("count.py", NEWER_STYLE), "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert "Counts the lines of a file." in done.stdout and "--data: the file to read" in done.stdout
