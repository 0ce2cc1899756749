"""The only exception that is shown to users."""


class InputError(Exception):
    """An input cannot be used; the message is one sentence that explains what to do."""
