"""The error for bad input, which a user can correct."""


class InputError(ValueError):
    """Bad input: one line that says what was wrong, where, and what to do.

    The command line prints the line and exits with 2; nothing has been written.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
