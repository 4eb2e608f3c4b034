"""JAX as a peer: `lax.scan` over masked steps, compiled, the input product of all steps taken before the scan."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers import Prepared
from benchmarks.problem import Problem


def scan(problem: Problem, mode: str, threads: int) -> Prepared:
    """The compiled scan; rows that have ended keep their state and put out zeros.

    JAX takes as many threads as the process has processors, which the worker has seen to.
    """
    inputs, lengths, weights = problem.arrays()
    step, states = {"lstm": (_lstm, 2), "gru": (_gru, 1), "rnn": (_rnn, 1)}[problem.cell]
    valid = jnp.asarray(np.arange(problem.time)[:, None, None] < lengths[:, None])
    x, params = jnp.asarray(inputs), {name: jnp.asarray(value) for name, value in weights.items()}
    zeros = (jnp.zeros((problem.batch, problem.units), jnp.float32),) * states

    def run(params, x):
        """Return the final state and the outputs."""

        def body(state, now):
            product, running = now
            new = step(product, params, state)
            kept = tuple(jnp.where(running, after, before) for after, before in zip(new, state, strict=True))
            return kept, jnp.where(running, new[0], 0.0)

        products = x @ params["weight_ih"].T + params["bias_ih"]
        return jax.lax.scan(body, zeros, (products, valid))

    if mode != "training":
        forward = jax.jit(run)
        return Prepared(lambda: jax.block_until_ready(forward(params, x)), lambda result: np.asarray(result[1]))

    def loss(params, x):
        state, outputs = run(params, x)
        return jnp.square(outputs).sum(), (state, outputs)

    train = jax.jit(jax.grad(loss, has_aux=True))
    return Prepared(
        lambda: jax.block_until_ready(train(params, x)),
        lambda result: np.asarray(result[1][1]),
        lambda result: {name: np.asarray(value) for name, value in result[0].items()},
    )


def _recurrent(params, state):
    return state[0] @ params["weight_hh"].T + params["bias_hh"]


def _lstm(product, params, state):
    i, f, g, o = jnp.split(product + _recurrent(params, state), 4, axis=1)
    c = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def _gru(product, params, state):
    (r, z, n), (hr, hz, hn) = (jnp.split(value, 3, axis=1) for value in (product, _recurrent(params, state)))
    z = jax.nn.sigmoid(z + hz)
    return (z * state[0] + (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + hr) * hn),)


def _rnn(product, params, state):
    return (jnp.tanh(product + _recurrent(params, state)),)
