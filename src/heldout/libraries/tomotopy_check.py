"""Load a tomotopy model of a named class from standard input and use it once, in a separate process.

tomotopy's loader trusts lengths and pointers in the file: most damaged files end in a segmentation fault, an abort or a
loop without end, which would take the caller's process along. `heldout.libraries.tomotopy` runs this file first, under
a limit of memory and time, and loads the same bytes only where it succeeded. It imports tomotopy and nothing of
heldout.
"""

import sys


def limit(size: int) -> None:
    """Limit this process to 2 GB and ten times the model's bytes, 2 s and 1 s for each 20 MB, and no core file.

    A sound model takes about five times its bytes, 0.15 s and 0.2 s for each 20 MB.
    """
    try:
        import resource
    except ImportError:  # not a POSIX system: the caller's limit by the clock stays
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, most in ((resource.RLIMIT_AS, (2 << 30) + 10 * size), (resource.RLIMIT_CPU, 2 + size // 20_000_000)):
        resource.setrlimit(kind, (most, most + 1))


def main() -> None:
    """Read the model and, unless "load" is typed, all that a reader or an evaluator asks of it; print nothing."""
    data = sys.stdin.buffer.read()
    limit(len(data))
    import tomotopy

    # not loads(), which unpickles the constructor's arguments
    model_class = getattr(tomotopy, sys.argv[1])
    model, _ = model_class._loads(model_class, data)
    words = list(model.used_vocabs)
    if not words or sys.argv[2:]:
        return
    for topic in range(model.k):
        if len(model.get_topic_word_dist(topic)) != len(words):
            raise ValueError(f"topic {topic} has another number of words")
    given = {"metadata": next(iter(model.metadata_dict))} if isinstance(model, tomotopy.DMRModel) else {}
    for part in (words[:100], words[-100:]):
        model.infer(model.make_doc(part, **given), iterations=2, workers=1)
    prior = (model.prior_mean, model.prior_cov) if isinstance(model, tomotopy.CTModel) else (model.alpha,)
    for value in (*prior, model.eta, model.perplexity, model.global_step, len(model.vocabs)):
        repr(value)


if __name__ == "__main__":
    main()
