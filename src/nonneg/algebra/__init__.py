"""Products of matrices as words, their derivatives as sums of words, and how far a multiplicative step may go. No numbers here."""
