"""The audit of a topic model: what its library reports of held-out documents, and the likelihood of the same."""
