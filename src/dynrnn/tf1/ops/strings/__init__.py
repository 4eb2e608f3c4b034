"""What is computed with strings, which are arrays of bytes objects: text, splitting, numbers."""
