"""The choice of the number of topics: its fits, its result, and the texts, figures and page of that."""
