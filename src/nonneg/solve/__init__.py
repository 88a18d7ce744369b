"""A model, bound to data, moved by a solver until something says stop."""
