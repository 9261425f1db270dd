"""Evaluators: one estimate of a document's log-likelihood per file."""
