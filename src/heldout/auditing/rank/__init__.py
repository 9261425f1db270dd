"""The ranking of several models: its work, its result, and the texts, figure and page of that."""
