"""Neural network operations: activations, losses, dropout, convolutions, lookups."""
