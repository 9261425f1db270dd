"""The audit of a topic model: what its library reports of held-out documents, and the likelihood of the same.

`heldout audit`, in the order of its work:

    options           what may be chosen, for the command line and for Python
    command, audit    what the verb does; the call from Python
    matching          the model and the documents over the same words
    survey            the first reading of the documents
    truth             which estimator computes the likelihood, with how many samples
    plan              what that will cost
    runner, blocks    the evaluators over blocks of documents, on several cores
    store             what an interrupted audit keeps
    summary, result   totals, and what an audit gives
    wording           what is said of it: in `terminal` on a terminal, in `page` with `figures` as HTML

`heldout recommend`, which `truth` asks, too:

    recommend_command, recommend    what the verb does; the call from Python
    precision_table, error_model    what was measured of the estimators; what follows between the points
    cost                            of exact likelihoods
"""
