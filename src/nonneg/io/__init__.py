"""Files that nonneg writes for itself: values as JSON with their arrays, in zip archives that run no code."""
