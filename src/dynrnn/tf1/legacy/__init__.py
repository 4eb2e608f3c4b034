"""Spellings of TensorFlow 0.x that TensorFlow 1 dropped: they work wherever they can be told apart, each with one
warning.

`notice` warns, `names` has the old names, `order` tells old arguments of functions that kept their name.
"""
