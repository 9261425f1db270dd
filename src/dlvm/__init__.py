"""Deterministic latent variable models, their likelihoods, and how far folding-in is from them."""
