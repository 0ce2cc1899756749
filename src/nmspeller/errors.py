"""The one exception that a person may see."""


class InputError(Exception):
    """Something the user gave cannot be used; the message is one sentence that says what to do."""
