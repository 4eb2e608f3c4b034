"""`get_config` and `from_config`: a cell, a wrapper or a stack as plain data, and back."""

import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell
CELLS = {
    "basic_rnn": (lambda: C.BasicRNNCell(3, tf.nn.relu, name="foo"), {"num_units": 3, "activation": "relu"}),
    "gru": (lambda: C.GRUCell(2), {"num_units": 2, "activation": "tanh", "kernel_initializer": None, "reuse": None}),
    "basic_lstm": (
        lambda: C.BasicLSTMCell(2, 0.5, False),
        {"num_units": 2, "forget_bias": 0.5, "state_is_tuple": False, "activation": "tanh"},
    ),
    "lstm": (
        lambda: C.LSTMCell(2, True, 0.5, num_proj=3, num_unit_shards=2, dtype=tf.float64),
        {
            "num_units": 2,
            "use_peepholes": True,
            "cell_clip": 0.5,
            "num_proj": 3,
            "proj_clip": None,
            "num_unit_shards": 2,
            "num_proj_shards": None,
            "forget_bias": 1.0,
            "dtype": "float64",
        },
    ),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cells_config_holds_its_arguments_and_makes_it_again(name):
    make, expected = CELLS[name]
    cell = make()
    config = cell.get_config()
    assert {key: config[key] for key in expected} == expected
    assert config["name"] == cell.name and config["trainable"] is True
    again = type(cell).from_config(config)
    assert again.get_config() == config
    assert (again.state_size, again.output_size) == (cell.state_size, cell.output_size)
    again(tf.ones([2, 3], again.dtype or tf.float32), again.zero_state(2, again.dtype or tf.float32))
    assert again.variables


def test_an_activation_of_ones_own_is_kept_as_it_is():
    def double(value):
        return 2.0 * value

    config = C.GRUCell(2, activation=double).get_config()
    assert config["activation"] is double
    assert C.GRUCell.from_config(config).get_config() == config


WRAPPERS = {
    "residual": (lambda: C.ResidualWrapper(C.GRUCell(3, name="in")), {}),
    "residual_function": (lambda: C.ResidualWrapper(C.GRUCell(3), residual_fn=max), {"residual_fn": max}),
    "device": (lambda: C.DeviceWrapper(C.GRUCell(3), "/cpu:0"), {"device": "/cpu:0"}),
    "dropout": (
        lambda: C.DropoutWrapper(C.LSTMCell(3), 0.5, state_keep_prob=0.3, seed=3, dropout_state_filter_visitor=bool),
        {"input_keep_prob": 0.5, "state_keep_prob": 0.3, "seed": 3, "dropout_state_filter_visitor": bool},
    ),
    "variational_dropout": (
        lambda: C.DropoutWrapper(C.GRUCell(3), 1.0, 0.5, variational_recurrent=True, dtype=tf.float32),
        {"variational_recurrent": True, "dtype": tf.float32},
    ),
    "stack": (
        lambda: C.MultiRNNCell([C.GRUCell(3), C.ResidualWrapper(C.GRUCell(3))], state_is_tuple=False),
        {"state_is_tuple": False},
    ),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrappers_config_holds_its_arguments_and_the_cell_and_makes_both_again(name):
    make, expected = WRAPPERS[name]
    cell = make()
    config = cell.get_config()
    assert {key: config[key] for key in expected} == expected
    again = type(cell).from_config(config)
    assert again.get_config() == config
    assert (again.state_size, again.output_size) == (cell.state_size, cell.output_size)
    inner = again.cells[0] if name == "stack" else again.wrapped_cell
    assert type(inner) is type(cell.cells[0] if name == "stack" else cell.wrapped_cell)


def test_a_cell_of_ones_own_is_looked_up_in_custom_objects():
    class Mine(C.GRUCell):
        pass

    config = C.ResidualWrapper(Mine(3)).get_config()
    assert type(C.ResidualWrapper.from_config(config, custom_objects={"Mine": Mine}).wrapped_cell) is Mine
    with pytest.raises(ValueError, match=r"Unknown cell: Mine.*custom_objects"):
        C.ResidualWrapper.from_config(config)
