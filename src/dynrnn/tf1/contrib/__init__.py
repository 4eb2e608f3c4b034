"""What old programs take from `tf.contrib`."""
