"""The error for bad input, which a user can correct, and the warning."""


class InputError(ValueError):
    """Bad input: one line with the fault, its place, and a remedy.

    The command line prints the line and exits with 2; nothing has been written.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class InputWarning(UserWarning):
    """Input that may be bad: one line, as in `InputError`; the work goes on."""


def printable(text: object) -> str:
    r"""Return text with unprintable characters (controls, direction marks, lone surrogates) replaced by visible ones.

    Names of files, words and classes come from anywhere, and a terminal or a browser acts on these characters.

    Examples:
        >>> printable("a\x1b[31m\tb")
        'a�[31m b'
    """
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
