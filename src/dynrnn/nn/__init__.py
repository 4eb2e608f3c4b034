"""The native face: cells, loops and modules for people who write PyTorch."""
