"""Cells with unusual states, inputs and outputs: those that the golden cases were made with, from their description.

Each makes its variables with `tf.get_variable` in the order in which they are named first. x is the step's input.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import dynrnn.tf1 as tf

Trio = namedtuple("Trio", ["alpha", "beta", "gamma"])


def width(tensor: Any) -> int:
    return tensor.get_shape()[-1].value


class Described(tf.nn.rnn_cell.RNNCell):
    """A cell whose sizes are plain attributes, which the class's `state_size` and `output_size` read."""

    def __init__(self, state: Any, output: Any):
        super().__init__()
        self._sizes = state, output

    @property
    def state_size(self) -> Any:
        return self._sizes[0]

    @property
    def output_size(self) -> Any:
        return self._sizes[1]


class NestedStateCell(Described):
    """State ((a, b), c); a and b feed each other, c runs beside them and scales the output."""

    def __init__(self, n: int, m: int, k: int):
        super().__init__(((n, m), k), n)
        self._n, self._m, self._k = n, m, k

    def call(self, inputs, state):
        (a, b), c = state
        n, m, k, d = self._n, self._m, self._k, width(inputs)
        to_a = tf.get_variable("Wx", [d, n])
        b_to_a = tf.get_variable("Wb", [m, n])
        bias = tf.get_variable("ba", [n])
        a_to_b = tf.get_variable("Wab", [n, m])
        c_to_b = tf.get_variable("Wcb", [k, m])
        to_c = tf.get_variable("Wxc", [d, k])
        new_a = tf.tanh(tf.matmul(inputs, to_a) + tf.matmul(b, b_to_a) + bias)
        new_b = tf.sigmoid(tf.matmul(a, a_to_b) + tf.matmul(c, c_to_b))
        new_c = 0.5 * c + tf.tanh(tf.matmul(inputs, to_c))
        output = new_a * tf.sigmoid(tf.reduce_sum(new_c, 1, keepdims=True))
        return output, ((new_a, new_b), new_c)


class WideOutputCell(Described):
    """An output of another width than the state's."""

    def __init__(self, n: int, p: int):
        super().__init__(n, p)
        self._n, self._p = n, p

    def call(self, inputs, state):
        n, p, d = self._n, self._p, width(inputs)
        to_state, bias = tf.get_variable("W", [d + n, n]), tf.get_variable("b", [n])
        to_output, shift = tf.get_variable("V", [n + d, p]), tf.get_variable("d", [p])
        new = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), to_state) + bias)
        return tf.matmul(tf.concat([new, inputs], 1), to_output) + shift, new


class TupleInputCell(Described):
    """Inputs (x, y), outputs (h, z): a gate made of h scales y."""

    def __init__(self, n: int, dy: int):
        super().__init__(n, (n, dy))
        self._n, self._dy = n, dy

    def call(self, inputs, state):
        x, y = inputs
        n, dy = self._n, self._dy
        from_x, from_y = tf.get_variable("Wx", [width(x), n]), tf.get_variable("Wy", [dy, n])
        recurrent, bias = tf.get_variable("Ws", [n, n]), tf.get_variable("b", [n])
        gate = tf.get_variable("Wz", [n, dy])
        h = tf.tanh(tf.matmul(x, from_x) + tf.matmul(y, from_y) + tf.matmul(state, recurrent) + bias)
        return (h, y * tf.sigmoid(tf.matmul(h, gate))), h


class NestedInputCell(Described):
    """Inputs ((x, y), z) with z of rank 3."""

    def __init__(self, n: int):
        super().__init__(n, n)
        self._n = n

    def call(self, inputs, state):
        (x, y), z = inputs
        n = self._n
        flat = z.get_shape()[1].value * width(z)
        from_x, from_y = tf.get_variable("Wx", [width(x), n]), tf.get_variable("Wy", [width(y), n])
        from_z, recurrent = tf.get_variable("Wz", [flat, n]), tf.get_variable("Ws", [n, n])
        whole = tf.matmul(x, from_x) + tf.matmul(y, from_y) + tf.matmul(tf.reshape(z, [-1, flat]), from_z)
        new = tf.tanh(whole + tf.matmul(state, recurrent))
        return new - 0.5 * state, new


class CounterCell(Described):
    """State (h, count): an int32 leaf `[batch, 1]`, or with `scalar` one of rank 0, counts the steps."""

    def __init__(self, n: int, scalar: bool = False):
        super().__init__((n, tf.TensorShape([]) if scalar else 1), n)
        self._n = n

    def call(self, inputs, state):
        h, count = state
        n = self._n
        weight, bias = tf.get_variable("W", [width(inputs) + n, n]), tf.get_variable("b", [n])
        new = tf.tanh(tf.matmul(tf.concat([inputs, h], 1), weight) + bias)
        return new / (1.0 + tf.cast(count, new.dtype)), (new, count + 1)


class GridCell(Described):
    """Inputs, state and output `[h, w]` a row; the state is mixed along its last axis."""

    def __init__(self, h: int, w: int):
        super().__init__(tf.TensorShape([h, w]), tf.TensorShape([h, w]))
        self._h, self._w = h, w

    def call(self, inputs, state):
        h, w = self._h, self._w
        scale, mix, bias = tf.get_variable("A", [h, w]), tf.get_variable("M", [w, w]), tf.get_variable("b", [h, w])
        mixed = tf.reshape(tf.matmul(tf.reshape(state, [-1, w]), mix), [-1, h, w])
        new = tf.tanh(inputs * scale + mixed + bias)
        return new + 0.1 * inputs, new


class DictStateCell(Described):
    """State {"mem", "hid"}, whose leaves are ordered by key and not as written here."""

    def __init__(self, n: int, m: int):
        super().__init__({"mem": m, "hid": n}, n)
        self._n, self._m = n, m

    def call(self, inputs, state):
        mem, hid = state["mem"], state["hid"]
        n, m, d = self._n, self._m, width(inputs)
        weight, bias = tf.get_variable("W", [d + m, n]), tf.get_variable("b", [n])
        to_mem = tf.get_variable("V", [d + n, m])
        new = tf.tanh(tf.matmul(tf.concat([inputs, mem], 1), weight) + bias)
        return new, {"mem": 0.9 * mem + tf.matmul(tf.concat([inputs, hid], 1), to_mem), "hid": new}


class TrioStateCell(Described):
    """State Trio(alpha, beta, gamma), a namedtuple; the output is alpha and beta side by side."""

    def __init__(self, n: int):
        super().__init__(Trio(n, n, 1), 2 * n)
        self._n = n

    def call(self, inputs, state):
        weight = tf.get_variable("W", [width(inputs) + self._n, self._n])
        bias = tf.get_variable("b", [self._n])
        alpha = tf.tanh(tf.matmul(tf.concat([inputs, state.beta], 1), weight) + bias)
        beta = state.alpha * tf.sigmoid(state.gamma)
        gamma = state.gamma + tf.reduce_mean(alpha, 1, keepdims=True)
        return tf.concat([alpha, beta], 1), Trio(alpha, beta, gamma)


DESCRIBED = {
    cls.__name__: cls
    for cls in (
        NestedStateCell,
        WideOutputCell,
        TupleInputCell,
        NestedInputCell,
        CounterCell,
        GridCell,
        DictStateCell,
        TrioStateCell,
    )
}
