"""nmspeller: a Chinese spell checker that understands context, and the laboratory that trained it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"
__all__ = [
    "Correction",
    "Edit",
    "Hint",
    "InputError",
    "Level",
    "Reason",
    "Speller",
    "__version__",
    "check_file",
]

if TYPE_CHECKING:
    from nmspeller.apps.documents.document import check_file
    from nmspeller.errors import InputError
    from nmspeller.runtime.correction import Correction
    from nmspeller.runtime.findings import Edit, Hint, Reason
    from nmspeller.runtime.policy import Level
    from nmspeller.runtime.speller import Speller

# Loaded when they are first asked for, so that `import nmspeller` stays instant.
_MODULES = {
    "Correction": "nmspeller.runtime.correction",
    "Edit": "nmspeller.runtime.findings",
    "Hint": "nmspeller.runtime.findings",
    "InputError": "nmspeller.errors",
    "Level": "nmspeller.runtime.policy",
    "Reason": "nmspeller.runtime.findings",
    "Speller": "nmspeller.runtime.speller",
    "check_file": "nmspeller.apps.documents.document",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'nmspeller' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
