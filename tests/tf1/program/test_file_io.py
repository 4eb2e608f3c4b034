from dynrnn.runner.modules import find_module


def test_functions_inside_tensorflow_work_on_files(tmp_path):
    file_io = find_module("tensorflow.python.lib.io.file_io")
    file_io.recursive_create_dir(tmp_path / "a/b")
    file_io.write_string_to_file(tmp_path / "a/b/c", "text")
    assert file_io.read_file_to_string(tmp_path / "a/b/c") == "text"
    assert file_io.read_file_to_string(tmp_path / "a/b/c", binary_mode=True) == b"text"
    assert file_io.get_matching_files(str(tmp_path / "a/b/*")) == [str(tmp_path / "a/b/c")]
    with file_io.FileIO(tmp_path / "a/b/c", mode="r") as file:
        assert file.read() == "text"
    file_io.delete_recursively(tmp_path / "a")
    assert not file_io.file_exists(tmp_path / "a")
