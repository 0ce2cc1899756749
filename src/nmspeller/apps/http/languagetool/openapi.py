"""LanguageTool's protocol for the OpenAPI document: forms, and errors in plain text."""

from typing import Any

from pydantic import BaseModel, Field


class MatchReplacement(BaseModel):
    """One proposal."""

    value: str


class Context(BaseModel):
    """The text around a match; offset and length count UTF-16 units of it."""

    text: str
    offset: int
    length: int


class MatchCategory(BaseModel):
    """What kind of error."""

    id: str
    name: str


class MatchRule(BaseModel):
    """Why it is an error; the id never changes."""

    id: str
    description: str
    issueType: str
    category: MatchCategory
    isPremium: bool
    confidence: float


class Match(BaseModel):
    """An error: replace `length` UTF-16 units at `offset` by one of `replacements`."""

    message: str
    shortMessage: str
    replacements: list[MatchReplacement]
    offset: int = Field(ge=0)
    length: int = Field(ge=1)
    context: Context
    sentence: str
    type: dict[str, str]
    rule: MatchRule
    ignoreForIncompleteSentence: bool
    contextForSureMatch: int


class CheckResult(BaseModel):
    """LanguageTool's answer."""

    software: dict[str, Any]
    warnings: dict[str, bool]
    language: dict[str, Any]
    matches: list[Match]
    sentenceRanges: list[list[int]]


_FIELDS = {
    "text": "The text. Either this or `data` is required.",
    "data": 'Or text with markup: {"annotation": [{"text": "…"}, {"markup": "<b>", "interpretAs": ""}]}',
    "language": "`zh-CN`, `zh-TW`, `zh` … or `auto`",
    "level": "`default`, or `picky` to find more",
    "enabledRules": "Rule ids, comma-separated",
    "disabledRules": "Rule ids, comma-separated",
    "enabledCategories": "Category ids, comma-separated",
    "disabledCategories": "Category ids, comma-separated",
    "enabledOnly": "`true`: only the enabled rules and categories",
    "mode": "`all`, `allButTextLevelOnly`, `textLevelOnly` or `batch`",
    "apiKey": "The server's API key, where it was started with one and no header can be sent",
    "username": "Taken and not used",
    "motherTongue": "Taken and not used",
    "preferredVariants": "Taken and not used",
}
_REQUIRED = ("language",)
_VALUES = {
    "language": ["auto", "zh", "zh-CN", "zh-TW", "zh-HK", "zh-MO", "zh-SG"],
    "level": ["", "default", "picky"],
    "mode": ["", "all", "textLevelOnly", "allButTextLevelOnly", "batch"],
}


def _schema(name: str) -> dict[str, Any]:
    return {"type": "string", **({"enum": _VALUES[name]} if name in _VALUES else {})}


CHECK_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": name,
        "in": "query",
        "required": name in _REQUIRED,
        "description": description,
        "schema": _schema(name),
    }
    for name, description in _FIELDS.items()
]
CHECK_REQUEST_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "application/x-www-form-urlencoded": {
            "schema": {
                "type": "object",
                "properties": {
                    name: {**_schema(name), "description": description}
                    for name, description in _FIELDS.items()
                },
                "required": list(_REQUIRED),
                "oneOf": [{"required": ["text"]}, {"required": ["data"]}],
            },
            "example": {"text": "我今天很高心。", "language": "zh-CN"},
        }
    },
}
PLAIN_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": description, "content": {"text/plain": {"schema": {"type": "string"}}}}
    for status, description in {
        400: "Something in the request is wrong",
        401: "The API key is missing or wrong",
        403: "A page of another site asks, or another host name was asked",
        408: "The body did not arrive in time",
        413: "The text or the body is too long",
        429: "The request would wait too long; try again after Retry-After seconds",
        503: "The time was over, the engine failed, or there are too many requests; see Retry-After",
    }.items()
}
