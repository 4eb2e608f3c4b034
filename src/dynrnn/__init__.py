"""dynrnn: TensorFlow 1's dynamic_rnn system on PyTorch.

Here stand the names of the native face, nothing else. The TensorFlow 1 face is `dynrnn.tf1`; programs run unchanged
with `dynrnn run PROGRAM`.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
