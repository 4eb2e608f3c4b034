"""What TensorFlow 1 programs use around their graphs: flags, the main function, logging, files, resources, versions."""
