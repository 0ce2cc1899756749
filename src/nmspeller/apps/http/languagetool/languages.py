"""Which languages the protocol's clients may name."""

from dataclasses import dataclass

from nmspeller.apps.http.errors import ApiError
from nmspeller.messages import _
from nmspeller.text.hanzi import is_hanzi
from nmspeller.text.script import Script, detect

_HIGHEST_CONFIDENCE = 0.99


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
    """The language of a code; None for `auto`. An unknown code is an error, as in LanguageTool."""
    if not code:
        raise ApiError(400, _("Missing 'language' parameter, e.g. 'language=zh-CN' or 'language=auto'."))
    normal = code.replace("_", "-").lower()
    if normal == "auto":
        return None
    if normal not in _BY_CODE:
        codes = ", ".join(language.code for language in _LISTED)
        raise ApiError(
            400,
            _("'{code}' is not a language code known to this server. Supported are: {codes}.").format(
                code=code[:40], codes=f"zh, {codes}, auto"
            ),
        )
    return _BY_CODE[normal]


def detected(text: str, asked: Language | None) -> Language:
    """The Chinese that a text is written in; what was asked for where its characters are of both scripts."""
    script = detect(text)
    if script is Script.NEUTRAL and asked is not None:
        return asked
    return TRADITIONAL if script is Script.TRADITIONAL else SIMPLIFIED


def confidence(text: str) -> float:
    """How much speaks for Chinese: the share of Hanzi among the letters of a text."""
    letters = sum(map(str.isalpha, text))
    return round(_HIGHEST_CONFIDENCE * sum(map(is_hanzi, text)) / letters, 4) if letters else 0.0
