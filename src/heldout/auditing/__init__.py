"""The audit of a topic model: its library's number on held-out documents beside their likelihood.

`heldout audit`, in the order of its work:

    options           the options of the command line and of the call from Python
    command, audit    the command's work; the call from Python
    matching          the model and the documents over the same words
    survey            the first reading of the documents
    truth             the choice of the likelihood's estimator and its samples
    plan, cost        the cost, before the run; of exact likelihoods
    runner, blocks    the evaluators over blocks of documents, on several cores
    store             values on disk, for interrupted audits
    summary, result   totals; the result
    probability       which of the numbers a probability could have given
    wording           its texts; `terminal` prints them, `page` with `templates` and `figures` writes HTML

`heldout rank`, and `heldout.log_likelihood` for scikit-learn's searches, over the same runner:

    rank_command, rank, scorer            the command's work; the calls from Python
    ranking                               the result: paired differences, and what they tell apart
    ranking_wording, ranking_terminal     its texts, which are printed, and by `page` written as HTML
"""
