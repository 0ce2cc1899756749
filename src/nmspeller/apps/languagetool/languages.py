"""Which languages the protocol's clients may name."""

from dataclasses import dataclass

from nmspeller.apps.http.errors import ApiError
from nmspeller.text.script import Script, detect


@dataclass(frozen=True)
class Language:
    """A language as LanguageTool lists it."""

    name: str
    code: str


SIMPLIFIED = Language("Chinese (Simplified)", "zh-CN")
TRADITIONAL = Language("Chinese (Traditional)", "zh-TW")
_LISTED = (
    SIMPLIFIED,
    TRADITIONAL,
    Language("Chinese (Hong Kong)", "zh-HK"),
    Language("Chinese (Macau)", "zh-MO"),
    Language("Chinese (Singapore)", "zh-SG"),
)
_BY_CODE = {
    **{language.code.lower(): language for language in _LISTED},
    "zh": SIMPLIFIED,
    "zh-hans": SIMPLIFIED,
    "zh-hant": TRADITIONAL,
    "zh-hans-cn": SIMPLIFIED,
    "zh-hant-tw": TRADITIONAL,
}


def listed() -> list[dict[str, str]]:
    """What /v2/languages answers."""
    return [{"name": language.name, "code": "zh", "longCode": language.code} for language in _LISTED]


def find(code: str | None) -> Language | None:
    """The language of a code; None for `auto`. An unknown code is refused, as LanguageTool refuses it."""
    if not code:
        raise ApiError(400, "Missing 'language' parameter, e.g. 'language=zh-CN' or 'language=auto'.")
    normal = code.replace("_", "-").lower()
    if normal == "auto":
        return None
    if normal not in _BY_CODE:
        codes = ", ".join(language.code for language in _LISTED)
        raise ApiError(
            400,
            f"'{code[:40]}' is not a language code known to this server. Supported are: zh, {codes}, auto.",
        )
    return _BY_CODE[normal]


def detected(text: str) -> Language:
    """The Chinese that a text is written in."""
    return TRADITIONAL if detect(text) is Script.TRADITIONAL else SIMPLIFIED
