"""Summaries: operations that turn values into records for TensorBoard, and the writers of its files."""
