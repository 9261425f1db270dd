"""The paper: studies, results, verdicts, typesetting and the papers that are reproduced."""
