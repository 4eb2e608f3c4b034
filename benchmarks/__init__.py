"""Benchmarks of the recurrent layers against their peers; README.md beside this file tells how to run and read them.

`python -m benchmarks` measures; `tf1_overhead.py` and `user_cells.py` are programs of their own. Nothing is imported
here: a worker in another environment has numpy and its own library only.
"""
