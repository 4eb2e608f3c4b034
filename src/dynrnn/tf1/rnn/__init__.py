"""The loops over time: `tf.nn.dynamic_rnn`, `static_rnn`, their bidirectional and stacked forms."""

from .bidirectional import bidirectional_dynamic_rnn, static_bidirectional_rnn
from .dynamic import dynamic_rnn
from .stacked import stack_bidirectional_dynamic_rnn, stack_bidirectional_rnn
from .static import static_rnn

__all__ = [
    "bidirectional_dynamic_rnn",
    "dynamic_rnn",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
]
