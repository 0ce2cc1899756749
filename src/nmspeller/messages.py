"""What users read, in their language.

The texts in the code are English; the catalogue in `locale/` has the others. Wrap what a user will read in
`_()`, with named fields: `_("{file} is empty.").format(file=name)`. Mark a text that is defined before the
language is known, such as the help of an option, with `N_()`, and translate it with `_()` when it is shown.
`python scripts/messages.py` collects the texts and compiles the catalogue.

The laboratory, and what programs read (JSON keys, reasons, ids), stay English.
"""

import gettext
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

LANGUAGES = ("en", "zh")

_LOCALE = Path(__file__).parent / "locale"
_language: ContextVar[str] = ContextVar("language", default="en")
_is_chosen: ContextVar[bool] = ContextVar("is_chosen", default=False)


def _(message: str) -> str:
    """The message in the present language, or as it is where there is no translation."""
    return _catalogue(_language.get()).gettext(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """The form for this number, in the present language."""
    return _catalogue(_language.get()).ngettext(singular, plural, number)


def N_(message: str) -> str:
    """The message as it is; marked for the catalogue."""
    return message


def language() -> str:
    """The present language: one of `LANGUAGES`."""
    return _language.get()


def speak(language: str) -> None:
    """Use this language from here on, in this thread or task."""
    _language.set(language)
    _is_chosen.set(True)


def suggest(language: str) -> None:
    """Use this language from here on, unless `speak` has chosen one."""
    if not _is_chosen.get():
        _language.set(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Use this language inside the block."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def language_of_tag(tag: str | None) -> str | None:
    """The language for a tag or a locale (`zh-CN`, `zh_TW.UTF-8`, `en`), or None for any other."""
    primary = (tag or "").replace("_", "-").split("-")[0].split(".")[0].lower()
    return primary if primary in LANGUAGES else None


def language_of_environment(environment: Mapping[str, str] = os.environ) -> str:
    """The user's language by `LC_ALL`, `LC_MESSAGES` and `LANG`, the first that is set; English otherwise."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return language_of_tag(environment[name]) or "en"
    return "en"


def language_of_header(accepted: str) -> str | None:
    """The language that an `Accept-Language` header prefers, or None if it names none that there is."""
    ranked = []
    for place, one in enumerate(accepted.split(",")):
        tag, _separator, parameters = one.partition(";")
        weight = parameters.strip().removeprefix("q=") or "1"
        try:
            ranked.append((-float(weight), place, language_of_tag(tag.strip())))
        except ValueError:
            continue
    return next(
        (found for weight, _place, found in sorted(ranked, key=lambda each: each[:2]) if found and weight),
        None,
    )


@lru_cache(maxsize=len(LANGUAGES))
def _catalogue(language: str) -> gettext.NullTranslations:
    if language == "en":
        return gettext.NullTranslations()
    return gettext.translation("nmspeller", _LOCALE, [language])
