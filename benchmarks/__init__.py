"""Benchmarks of the recurrent layers against their peers; README.md beside this file tells how to run and read them.

`python -m benchmarks` measures; `python benchmarks/tf1_overhead.py` is a program of its own. Nothing is imported here:
a worker in another environment has numpy and its own library only.
"""
