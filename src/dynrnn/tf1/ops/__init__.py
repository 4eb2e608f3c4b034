"""TensorFlow 1's operations: tables of rows, with the adapters that give them TensorFlow's arguments."""
