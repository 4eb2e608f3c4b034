"""Users' own cells and the scopes of all cells: which variables a call makes or shares, and their names."""

import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell
X = [[[0.5] * 3] * 5] * 2


class Call(C.RNNCell):
    """Defines `call`."""

    def __init__(self, n=4, **kwargs):
        super().__init__(**kwargs)
        self.n = n

    @property
    def state_size(self):
        return self.n

    @property
    def output_size(self):
        return self.n

    def call(self, inputs, state):
        weight = tf.get_variable("w", [inputs.get_shape()[-1].value + self.n, self.n])
        output = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), weight))
        return output, output


class Old(C.RNNCell):
    """Defines `__call__` with a scope of its own, and does not call RNNCell's constructor."""

    state_size = output_size = 4

    def __init__(self):
        pass

    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or type(self).__name__):
            weight = tf.get_variable("w", [inputs.get_shape()[-1].value + 4, 4])
            output = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), weight))
            return output, output


class Built(C.RNNCell):
    """Makes its variables in `build`."""

    state_size = output_size = 4

    def build(self, inputs_shape):
        self.w = self.add_variable("w", shape=[inputs_shape[1].value + 4, 4])
        self.b = self.add_weight("b", shape=[4], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        output = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), self.w) + self.b)
        return output, output


class BuiltInPart(Call):
    """Makes some variables in `build`, others in `call`."""

    def build(self, inputs_shape):
        with tf.variable_scope("part"):
            self.scale = tf.get_variable("scale", [self.n])
        super().build(inputs_shape)

    def call(self, inputs, state):
        output, state = super().call(inputs, state)
        return output * self.scale, state


class Gained(C.BasicLSTMCell):
    """Changes a cell of ours."""

    def call(self, inputs, state):
        output, new_state = super().call(inputs, state)
        return output * tf.get_variable("gain", [self.output_size]), new_state


class Around(C.GRUCell):
    """Changes what happens around a cell of ours, outside of its scope."""

    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope("around"):
            return super().__call__(tf.matmul(inputs, tf.get_variable("p", [3, 3])), state)


class Holder(C.RNNCell):
    """Uses another cell inside."""

    state_size = output_size = 4

    def __init__(self):
        super().__init__()
        self.inner = C.GRUCell(4)

    def call(self, inputs, state):
        with tf.variable_scope("inside"):
            return self.inner(inputs, state)


class Maker(C.RNNCell):
    """Makes a new cell in every call."""

    state_size = output_size = 4

    def call(self, inputs, state):
        return C.GRUCell(4)(inputs, state)


def names():
    return [variable.op.name for variable in tf.global_variables()]


def gru(scope):
    return [f"{scope}/{part}/{name}" for part in ("gates", "candidate") for name in ("kernel", "bias")]


LOOPED = {
    "call": (Call, ["rnn/call/w"]),
    "name": (lambda: Call(name="me"), ["rnn/me/w"]),
    "old": (Old, ["rnn/Old/w"]),
    "built": (Built, ["rnn/built/w", "rnn/built/b"]),
    "built_in_part": (BuiltInPart, ["rnn/built_in_part/part/scale", "rnn/built_in_part/w"]),
    "gained": (lambda: Gained(4), [f"rnn/gained/{name}" for name in ("kernel", "bias", "gain")]),
    "around": (lambda: Around(3), ["rnn/around/p", *gru("rnn/around/around")]),
    "holder": (Holder, gru("rnn/holder/inside/gru_cell")),
    "maker": (Maker, gru("rnn/maker/gru_cell")),
}


@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn"])
@pytest.mark.parametrize("kind", LOOPED)
def test_a_users_cell_makes_its_variables_once_and_under_tensorflows_names(kind, loop):
    make, expected = LOOPED[kind]
    inputs = tf.constant(X)
    getattr(tf.nn, loop)(make(), inputs if loop == "dynamic_rnn" else tf.unstack(inputs, axis=1), dtype=tf.float32)
    assert names() == expected
    assert names() == [variable.op.name for variable in tf.trainable_variables()]


@pytest.mark.parametrize("kind", ["call", "built", "built_in_part", "holder", "maker"])
def test_a_cell_knows_the_variables_that_its_calls_made(kind):
    cell = LOOPED[kind][0]()
    tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    assert cell.variables == cell.weights == cell.trainable_variables == tf.global_variables()
    assert cell.non_trainable_variables == []
    assert cell.built and cell.dtype == tf.float32
    assert cell.count_params() == sum(variable.get_shape().num_elements() for variable in tf.global_variables())


def steps(cell, count=3, **kwargs):
    state = cell.zero_state(2, tf.float32)
    for _ in range(count):
        _, state = cell(tf.ones([2, 3]), state, **kwargs)


@pytest.mark.parametrize("make", [Call, Built, lambda: C.GRUCell(4), lambda: C.MultiRNNCell([Call(), C.LSTMCell(3)])])
def test_steps_of_one_cell_share_its_variables(make):
    once, many = make(), make()
    with tf.variable_scope("once"):
        steps(once, 1)
    with tf.variable_scope("many"):
        steps(many)
    assert [name.replace("many", "once") for name in names()[len(names()) // 2 :]] == names()[: len(names()) // 2]


def test_the_scope_argument_is_the_scope_of_the_first_call():
    cell = Call()
    steps(cell, scope="first")
    steps(cell, scope="second")
    assert names() == ["first/w"]


def test_a_cell_keeps_the_scope_that_it_was_first_called_in():
    cell = C.GRUCell(4)
    for scope in ("a", "b"):
        with tf.variable_scope(scope):
            steps(cell)
    tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    tf.nn.bidirectional_dynamic_rnn(cell, cell, tf.constant(X), dtype=tf.float32)
    assert names() == gru("a/gru_cell")
    assert cell.scope_name == "a/gru_cell"


def test_a_cell_after_a_loop_keeps_the_loops_scope():
    cell = C.GRUCell(4)
    tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    with tf.variable_scope("decoder"):
        steps(cell)
    assert names() == gru("rnn/gru_cell")


@pytest.mark.parametrize("make", [Call, lambda: C.GRUCell(4)])
def test_a_second_cell_in_a_scope_needs_reuse(make):
    with tf.variable_scope("s"):
        tf.nn.dynamic_rnn(make(), tf.constant(X), dtype=tf.float32)
    before = names()
    says = "already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
    with tf.variable_scope("s"), pytest.raises(ValueError, match=says.replace("?", r"\?")):
        tf.nn.dynamic_rnn(make(), tf.constant(X), dtype=tf.float32)
    for reuse in (True, tf.AUTO_REUSE):
        with tf.variable_scope("s", reuse=reuse):
            tf.nn.dynamic_rnn(make(), tf.constant(X), dtype=tf.float32)
    assert names() == before


@pytest.mark.parametrize("make", [Call, lambda: C.GRUCell(4), Old])
def test_reuse_of_what_is_not_there_is_refused(make):
    says = r"does not exist, or was not created with tf.get_variable\(\)"
    with tf.variable_scope("s", reuse=True), pytest.raises(ValueError, match=says):
        tf.nn.dynamic_rnn(make(), tf.constant(X), dtype=tf.float32)
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        tf.nn.dynamic_rnn(make(), tf.constant(X), dtype=tf.float32)
    assert names()


def test_the_reuse_argument_shares_and_makes_as_it_says():
    with pytest.raises(ValueError, match="gru_cell/gates/kernel does not exist"):
        steps(C.GRUCell(4, reuse=True))
    steps(C.GRUCell(4, reuse=tf.AUTO_REUSE))
    steps(C.GRUCell(4, reuse=tf.AUTO_REUSE))
    steps(C.GRUCell(4, reuse=True))
    assert names() == gru("gru_cell")


def test_a_scope_turned_to_reuse_between_steps_shares():
    with tf.variable_scope("m"):
        cell, state = C.LSTMCell(4), None
        for number in range(3):
            if number:
                tf.get_variable_scope().reuse_variables()
            state = state or cell.zero_state(2, tf.float32)
            _, state = cell(tf.ones([2, 3]), state)
    assert names() == ["m/lstm_cell/kernel", "m/lstm_cell/bias"]


def test_a_custom_getter_of_the_scope_sees_every_variable():
    seen = []

    def getter(getter, name, *args, **kwargs):
        seen.append(name)
        return getter(name, *args, **{**kwargs, "trainable": False})

    cell = C.LSTMCell(4)
    with tf.variable_scope("m", custom_getter=getter):
        tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    assert seen == names() == ["m/rnn/lstm_cell/kernel", "m/rnn/lstm_cell/bias"]
    assert tf.trainable_variables() == cell.trainable_variables == []
    assert cell.non_trainable_variables == tf.global_variables()


def test_a_regularizer_of_the_scope_adds_one_loss_a_variable():
    with tf.variable_scope("m", regularizer=tf.reduce_sum):
        tf.nn.dynamic_rnn(C.LSTMCell(4), tf.constant(X), dtype=tf.float32)
    with tf.variable_scope("m", regularizer=tf.reduce_sum, reuse=True):
        tf.nn.dynamic_rnn(C.LSTMCell(4), tf.constant(X), dtype=tf.float32)
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 2


# Zero states


def test_zero_states_are_named_after_the_cells_class():
    stack = C.MultiRNNCell([C.GRUCell(3), C.GRUCell(3)])
    assert C.GRUCell(4).zero_state(2, tf.float32).name == "GRUCellZeroState/zeros:0"
    assert stack.zero_state(2, tf.float32)[1].name == "MultiRNNCellZeroState/GRUCellZeroState_1/zeros:0"
    wrapped = C.DropoutWrapper(C.GRUCell(4)).zero_state(2, tf.float32)
    assert wrapped.name == "DropoutWrapperZeroState/GRUCellZeroState/zeros:0"


@pytest.mark.parametrize("kwargs", [{"batch_size": 2}, {"dtype": tf.float32}, {}])
def test_an_initial_state_needs_a_batch_size_and_a_dtype_or_inputs(kwargs):
    with pytest.raises(ValueError, match="batch_size and dtype cannot be None"):
        C.LSTMCell(3).get_initial_state(**kwargs)


@pytest.mark.parametrize("size", [2, "tensor"])
def test_an_initial_state_must_fit_the_inputs_it_is_made_for(size):
    cell, inputs = C.LSTMCell(3), tf.zeros([3, 2])
    size = tf.constant(4) if size == "tensor" else size
    with pytest.raises(ValueError, match="batch size from input tensor is different from the input param"):
        cell.get_initial_state(inputs=inputs, batch_size=size)
    with pytest.raises(ValueError, match="dtype from input tensor is different from the input param"):
        cell.get_initial_state(inputs=inputs, dtype=tf.float64)
    assert cell.get_initial_state(inputs=inputs).c.get_shape().as_list() == [3, 3]


def test_an_unknown_batch_stays_unknown_in_an_initial_state():
    cell, inputs = C.LSTMCell(3), tf.placeholder(tf.float64, [None, 2])
    for state in (
        cell.get_initial_state(inputs=inputs),
        cell.zero_state(tf.placeholder(tf.int32, []), tf.float64),
    ):
        assert [part.get_shape().as_list() for part in state] == [[None, 3]] * 2
        assert state.dtype == tf.float64


def test_what_a_subclass_forgets_is_named():
    class Empty(C.RNNCell):
        pass

    with pytest.raises(NotImplementedError, match="Empty must define state_size"):
        Empty().zero_state(2, tf.float32)
    with pytest.raises(NotImplementedError, match="Empty must define call"):
        Empty()(tf.ones([2, 3]), tf.ones([2, 3]))


def test_an_object_like_a_cell_is_taken():
    class Like:
        state_size = output_size = 3

        def zero_state(self, batch_size, dtype):
            return tf.ones([batch_size, 3], dtype)

        def __call__(self, inputs, state, scope=None):
            return inputs + state, state + 1

    outputs, state = tf.nn.dynamic_rnn(Like(), tf.constant(X), sequence_length=[5, 2], dtype=tf.float32)
    with tf.Session() as session:
        found, final = session.run([outputs, state])
    assert final.tolist() == [[6.0] * 3, [3.0] * 3]
    assert found[0, 4].tolist() == [5.5] * 3 and not found[1, 2:].any()


def test_a_cell_that_failed_is_built_anew():
    cell = Built()
    with tf.variable_scope("bad"), pytest.raises(ValueError):
        cell(tf.ones([2, 3]), tf.ones([3, 4]))
    assert not cell.built and names() == [] == cell.variables
    with tf.variable_scope("good"):
        steps(cell)
    assert names() == ["good/built/w", "good/built/b"]
