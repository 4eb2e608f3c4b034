"""Runs TensorFlow 1 programs unchanged: `program.run_program`.

`modules` holds the table of import paths and `finder` serves it; `source` reads Python 3 and Python 2 files, `python2`,
`python2_names` and `division` translate the latter. What the programs call is not here but in `dynrnn.tf1`.
"""
