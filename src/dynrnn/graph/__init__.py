"""A small static graph engine: nodes, static shapes, plans that run on PyTorch. It knows no TensorFlow names."""
