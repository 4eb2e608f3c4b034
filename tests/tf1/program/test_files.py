import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def tree(tmp_path):
    """x/f1 (1 byte), x/y/f2 (2 bytes), x/y/z, .hidden"""
    (tmp_path / "x/y/z").mkdir(parents=True)
    (tmp_path / "x/f1").write_text("1")
    (tmp_path / "x/y/f2").write_text("22")
    (tmp_path / ".hidden").write_text("")
    return tmp_path


def test_what_there_is(tree):
    assert tf.gfile.Exists(str(tree / "x/f1")) and tf.gfile.Exists(tree / "x") and not tf.gfile.Exists(tree / "q")
    assert tf.gfile.IsDirectory(tree / "x") and not tf.gfile.IsDirectory(tree / "x/f1")
    assert tf.gfile.ListDirectory(tree / "x") == ["f1", "y"]
    assert tf.io.gfile.exists(bytes(tree / "x")) and tf.io.gfile.isdir(tree / "x") and tf.io.gfile.listdir(tree / "x")
    with pytest.raises(tf.errors.NotFoundError, match="Could not find directory"):
        tf.gfile.ListDirectory(tree / "q")
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        tf.gfile.Exists(3)


def test_folders_are_made(tree):
    tf.gfile.MakeDirs(tree / "a/b/c")
    tf.gfile.MakeDirs(tree / "a/b/c")
    tf.gfile.MkDir(tree / "a")
    tf.gfile.MkDir(tree / "d")
    assert (tree / "a/b/c").is_dir() and (tree / "d").is_dir()
    with pytest.raises(tf.errors.FailedPreconditionError, match="is not a directory"):
        tf.gfile.MakeDirs(tree / "x/f1")
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.gfile.MakeDirs(tree / "x/f1/q")
    with pytest.raises(tf.errors.NotFoundError, match="n/m; No such file"):
        tf.gfile.MkDir(tree / "n/m")


def test_files_and_folders_are_removed(tree):
    tf.gfile.Remove(tree / "x/f1")
    assert not (tree / "x/f1").exists()
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.Remove(tree / "x/f1")
    with pytest.raises(tf.errors.OpError):
        tf.gfile.Remove(tree / "x")
    tf.gfile.DeleteRecursively(tree / "x")
    tf.gfile.DeleteRecursively(tree / ".hidden")
    assert list(tree.iterdir()) == []
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.DeleteRecursively(tree / "x")


@pytest.mark.parametrize("function", ["Copy", "Rename"])
def test_files_are_copied_and_moved(tree, function):
    act = getattr(tf.gfile, function)
    act(tree / "x/f1", tree / "new")
    assert (tree / "new").read_text() == "1" and (tree / "x/f1").exists() == (function == "Copy")
    with pytest.raises(tf.errors.AlreadyExistsError, match="file already exists"):
        act(tree / "x/y/f2", tree / "new")
    act(tree / "x/y/f2", tree / "new", overwrite=True)
    assert (tree / "new").read_text() == "22"
    with pytest.raises(tf.errors.NotFoundError):
        act(tree / "q", tree / "r")
    with pytest.raises(tf.errors.NotFoundError):
        act(tree / "q", tree / "new")


def test_patterns(tree):
    names = lambda pattern: [path.removeprefix(f"{tree}/") for path in tf.gfile.Glob(pattern)]  # noqa: E731
    assert names(str(tree / "*")) == [".hidden", "x"]
    assert names([str(tree / "x/[e-g]?"), tree / "x/*"]) == ["x/f1", "x/f1", "x/y"]
    assert names(str(tree / "none*")) == []


def test_walk(tree):
    top = str(tree / "x")
    down = [(top, ["y"], ["f1"]), (f"{top}/y", ["z"], ["f2"]), (f"{top}/y/z", [], [])]
    assert list(tf.gfile.Walk(top)) == down
    assert list(tf.gfile.Walk(top, in_order=False)) == down[::-1]
    assert list(tf.gfile.Walk(tree / "q")) == []
    seen = []
    assert list(tf.io.gfile.walk(tree / "q", onerror=seen.append)) == []
    assert [type(error) for error in seen] == [tf.errors.NotFoundError]


def test_statistics(tree):
    found = tf.gfile.Stat(tree / "x/y/f2")
    assert (found.length, found.is_directory) == (2, False)
    assert found.mtime_nsec == (tree / "x/y/f2").stat().st_mtime_ns
    assert tf.gfile.Stat(tree).is_directory
    with pytest.raises(tf.errors.NotFoundError, match="q; No such file"):
        tf.gfile.Stat(tree / "q")


def test_join():
    assert tf.io.gfile.join("a", b"b", "c") == "a/b/c"
