"""The tool: a topic model's number on held-out documents beside their likelihood, and models in the likelihood's order.

What both share, in the order of the work:

    options, session      the options, said once; the work of both commands
    matching, survey      a model and documents over the same words; the first reading of the documents
    estimator, plan       the choice of the likelihood's estimator and its samples; the cost, before the run
    blocks, runner        the evaluators over blocks of documents; over all of them, on several cores
    store, progress       values on disk, for work that goes on or is asked for again; plan and bar
    scorer, choose        `heldout.log_likelihood`, for scikit-learn's searches; the number of topics, in folds
    formats, tables       numbers as texts; tables, described once
    sheet, pages          the same on a terminal; as files of HTML, by rich
    colours, figures      the look of figures

`audit` and `rank` are alike:

    audit, rank           the call from Python
    result, report        the result; the same, which prints itself and writes its page
    wording, figures      its sentences and tables; its figures
    summary, probability  of an audit: totals, topics; which of the numbers a probability could have given
"""
