"""
Vowels and consonants
=====================

A chain with two states, learned from the letters of an English text, tells vowels from consonants.
The text is the licence of Python, which comes with every Python.
"""

import builtins

import matplotlib.pyplot as plt

from nonneg import QNMFHMM

builtins.license._Printer__setup()
text = "".join(letter for letter in " ".join(builtins.license._Printer__lines).lower() if letter.isalpha() and letter.isascii())
model = QNMFHMM(2, random_state=0).fit(text)
vowels = model.emissionprob_
figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
letters = [str(symbol) for symbol in model.symbols_]
axes.bar(letters, vowels[0], label="state 0")
axes.bar(letters, -vowels[1], label="state 1")
axes.set_ylabel("probability")
axes.legend()
