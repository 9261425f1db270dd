"""Effects and verdicts: from tables of results to what is concluded."""
