"""The custom cells of the golden cases as PyTorch people would write them: modules with nested states and inputs."""

from __future__ import annotations

import collections

import torch
from torch import nn

Trio = collections.namedtuple("Trio", ("alpha", "beta", "gamma"))


class CustomCell(nn.Module):
    """Its parameters are made from the case's variables, by their last names."""

    def __init__(self, state_size, weights):
        super().__init__()
        self.state_size = state_size
        for name, value in weights.items():
            self.register_parameter(name, nn.Parameter(value))


class NestedStateCell(CustomCell):
    def __init__(self, weights, n, m, k):
        super().__init__(((n, m), k), weights)

    def forward(self, x, state):
        (a, b), c = state
        new_a = torch.tanh(x @ self.Wx + b @ self.Wb + self.ba)
        new_b = torch.sigmoid(a @ self.Wab + c @ self.Wcb)
        new_c = 0.5 * c + torch.tanh(x @ self.Wxc)
        return new_a * torch.sigmoid(new_c.sum(1, keepdim=True)), ((new_a, new_b), new_c)


class WideOutputCell(CustomCell):
    def __init__(self, weights, n, p):
        super().__init__(n, weights)

    def forward(self, x, state):
        new = torch.tanh(torch.cat((x, state), 1) @ self.W + self.b)
        return torch.cat((new, x), 1) @ self.V + self.d, new


class TupleInputCell(CustomCell):
    def __init__(self, weights, n, dy):
        super().__init__(n, weights)

    def forward(self, inputs, state):
        x, y = inputs
        h = torch.tanh(x @ self.Wx + y @ self.Wy + state @ self.Ws + self.b)
        return (h, y * torch.sigmoid(h @ self.Wz)), h


class NestedInputCell(CustomCell):
    def __init__(self, weights, n):
        super().__init__(n, weights)

    def forward(self, inputs, state):
        (x, y), z = inputs
        new = torch.tanh(x @ self.Wx + y @ self.Wy + z.flatten(1) @ self.Wz + state @ self.Ws)
        return new - 0.5 * state, new


class CounterCell(CustomCell):
    def __init__(self, weights, n, scalar=False):
        super().__init__((n, torch.Size([]) if scalar else 1), weights)

    def forward(self, x, state):
        h, count = state
        new = torch.tanh(torch.cat((x, h), 1) @ self.W + self.b)
        return new / (1.0 + count), (new, count + 1)


class GridCell(CustomCell):
    def __init__(self, weights, h, w):
        super().__init__(torch.Size([h, w]), weights)

    def forward(self, x, state):
        new = torch.tanh(x * self.A + state @ self.M + self.b)
        return new + 0.1 * x, new


class DictStateCell(CustomCell):
    def __init__(self, weights, n, m):
        super().__init__({"mem": m, "hid": n}, weights)

    def forward(self, x, state):
        hid = torch.tanh(torch.cat((x, state["mem"]), 1) @ self.W + self.b)
        mem = 0.9 * state["mem"] + torch.cat((x, state["hid"]), 1) @ self.V
        return hid, {"mem": mem, "hid": hid}


class TrioStateCell(CustomCell):
    def __init__(self, weights, n):
        super().__init__(Trio(n, n, 1), weights)

    def forward(self, x, state):
        alpha = torch.tanh(torch.cat((x, state.beta), 1) @ self.W + self.b)
        beta = state.alpha * torch.sigmoid(state.gamma)
        gamma = state.gamma + alpha.mean(1, keepdim=True)
        return torch.cat((alpha, beta), 1), Trio(alpha, beta, gamma)


CUSTOM = {kind.__name__: kind for kind in CustomCell.__subclasses__()}
