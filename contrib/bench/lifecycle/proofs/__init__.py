"""Proofs of what clients may count on while the daemon changes under them."""
