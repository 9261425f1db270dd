"""The paper: studies, results, contrasts, typesetting and the papers that are reproduced."""
