"""Calls that no test makes, of everything public: drawn from a seed, held against invariants, shrunk where one does not hold."""
