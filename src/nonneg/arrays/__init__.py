"""Arrays of every kind: which library, how the data are stored, in which order to multiply."""
