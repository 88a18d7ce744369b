"""Loops that NumPy has no words for, compiled by numba. They know arrays and nothing else of the library.

Numba takes a moment to import, so the modules with kernels in them are imported within functions, not at the top.
"""
