import pathlib

import pytest

import dynrnn.tf1 as tf

HERE = pathlib.Path(__file__)


def test_paths_are_relative_to_the_file_that_asks():
    assert tf.resource_loader.get_data_files_path() == str(HERE.parent)
    assert tf.resource_loader.get_path_to_datafile(HERE.name) == str(HERE)
    assert tf.resource_loader.load_resource(HERE.name) == HERE.read_bytes()
    assert tf.resource_loader.readahead_file_path("a") == "a"
    with pytest.raises(FileNotFoundError):
        tf.resource_loader.load_resource("none")
