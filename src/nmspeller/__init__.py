"""nmspeller: a Chinese spell checker that understands context, and the laboratory that trained it."""

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"
__all__ = ["Correction", "Edit", "InputError", "Reason", "Speller", "__version__"]

if TYPE_CHECKING:
    from nmspeller.errors import InputError
    from nmspeller.runtime import Correction, Edit, Reason, Speller


def __getattr__(name: str) -> Any:
    """Load the runtime when it is first asked for, so that `import nmspeller` stays instant."""
    if name == "InputError":
        from nmspeller.errors import InputError

        return InputError
    if name in ("Correction", "Edit", "Reason", "Speller"):
        from nmspeller import runtime

        return getattr(runtime, name)
    raise AttributeError(f"module 'nmspeller' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
