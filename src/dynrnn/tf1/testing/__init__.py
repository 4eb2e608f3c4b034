"""`tf.test`: test cases for graphs, their assertions on arrays, and the check of gradients."""
