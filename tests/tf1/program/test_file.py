import gc

import pytest

import dynrnn.tf1 as tf

TEXT = "line1\nliné2\nline3\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(TEXT.encode())
    return path


def test_text_and_bytes(path):
    assert tf.gfile.GFile(str(path)).read() == TEXT
    assert tf.gfile.GFile(path, "rb").read() == TEXT.encode()
    assert tf.gfile.FastGFile(path, "r").read(3) == "lin"
    assert tf.gfile.Open(path).readlines() == ["line1\n", "liné2\n", "line3\n"]
    assert list(tf.gfile.Open(path, "rb"))[1] == "liné2\n".encode()
    gc.collect()  # files that were not closed warn of it here, and warnings are errors


def test_positions_count_bytes(path):
    with tf.gfile.GFile(path) as file:
        assert file.readline() == "line1\n" and file.tell() == 6
        file.seek(2)
        assert file.next() == "ne1\n"
        file.seek(-2, 1)
        assert file.read(-1) == TEXT[4:]
        file.seek(offset=0, whence=2)
        assert file.read() == file.readline() == ""
        file.seek(position=1)
        assert file.read() == TEXT[1:]
        assert file.size() == 19 and file.seekable()
    assert (file.name, file.mode) == (path, "r")
    assert file.read() == TEXT  # opened anew


def test_seek_checks_its_arguments(path):
    file = tf.gfile.GFile(path)
    with pytest.raises(TypeError, match="offset argument required"):
        file.seek()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid whence argument: 5"):
        file.seek(1, 5)


def test_reading_that_cuts_a_character_is_an_error(tmp_path):
    (tmp_path / "a").write_text("aé", "utf-8")
    with pytest.raises(UnicodeDecodeError):
        tf.gfile.GFile(tmp_path / "a").read(2)


def test_line_ends_are_plain_in_lines_and_stay_in_read(tmp_path):
    (tmp_path / "a").write_bytes(b"a\r\nb\r\n")
    assert tf.gfile.GFile(tmp_path / "a").readlines() == ["a\n", "b\n"]
    assert tf.gfile.GFile(tmp_path / "a").read() == "a\r\nb\r\n"


def test_writing_makes_and_appending_keeps(tmp_path):
    path = tmp_path / "new"
    with tf.gfile.GFile(path, "w") as file:
        assert not path.exists()  # before the first write
        file.write("one\n")
        file.flush()
        assert path.read_text() == "one\n" and file.size() == 4
    file.close()  # closing twice does not empty it
    with tf.gfile.GFile(path, "a") as file:
        file.write("zwö\n")
    with tf.gfile.GFile(path, "r+") as file:
        file.write("ONE")
    assert path.read_text("utf-8") == "ONE\nzwö\n"
    with tf.gfile.GFile(path, "wb") as file:
        file.write(b"\x00\xff")
        file.write("text")
    assert path.read_bytes() == b"\x00\xfftext"
    with tf.gfile.GFile(path, "w+") as file:
        file.write("hello")
        file.seek(1)
        assert file.read() == "ello"


def test_file_for_writing_is_there_once_it_is_closed(tmp_path):
    tf.gfile.GFile(tmp_path / "empty", "w").close()
    assert (tmp_path / "empty").read_bytes() == b""


def test_errors_are_tensorflows(path, tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="missing; No such file or directory"):
        tf.gfile.GFile(tmp_path / "missing").read()
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        tf.gfile.GFile(tmp_path / "missing").size()
    with pytest.raises(tf.errors.NotFoundError, match="no/such"):
        tf.gfile.GFile(tmp_path / "no/such", "w").write("x")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.gfile.GFile(tmp_path).read()
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for reading"):
        tf.gfile.GFile(path, "w").read()
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for writing"):
        tf.gfile.GFile(path).write("x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not 'r' or 'w'"):
        tf.gfile.GFile(path, "rt")
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        tf.gfile.GFile(path, "w").write(3)
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        tf.gfile.GFile(3)
