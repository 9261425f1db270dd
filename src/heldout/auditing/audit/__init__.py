"""The audit of one model: its work, its result, and the texts, figures and page of the result."""
