"""What a LanguageTool request asks for: form fields in a query, a form body, or a multipart body."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_to_bytes

from fastapi import Request
from starlette.exceptions import HTTPException

from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.languagetool import languages
from nmspeller.apps.http.languagetool.annotated import AnnotatedText, plain_text, read_annotations
from nmspeller.apps.http.languagetool.languages import Language
from nmspeller.apps.http.languagetool.rules import Selection
from nmspeller.messages import _

_MOST_FIELDS = 100
_LEVELS = {"": None, "default": None, "picky": "thorough"}
_MODES = ("", "all", "textlevelonly", "allbuttextlevelonly", "batch")


@dataclass(frozen=True)
class Asked:
    """A parsed request. `language` is None where it is to be detected."""

    text: AnnotatedText
    language: Language | None
    level: str | None
    selection: Selection
    wants_spelling: bool


async def read_fields(request: Request) -> dict[str, str]:
    """The fields of a request; those of the body go before those of the query."""
    fields = _decode(request.scope["query_string"])
    if request.method == "POST":
        body = await request.body()
        if request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
            _require_utf8(body)
            try:
                form = await request.form(
                    max_files=0, max_fields=_MOST_FIELDS, max_part_size=64 * 1024 * 1024
                )
            except (HTTPException, KeyError, ValueError):
                raise ApiError(400, _("The multipart form cannot be read.")) from None
            fields.update({name: value for name, value in form.items() if isinstance(value, str)})
        else:
            fields.update(_decode(body))
    return fields


def _decode(encoded: bytes) -> dict[str, str]:
    """Form fields, percent-encoded or (as `curl -d` sends them) in bare UTF-8."""
    _require_utf8(unquote_to_bytes(encoded))
    try:
        return dict(parse_qsl(encoded.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise ApiError(400, _("The form has more than {most} fields.").format(most=_MOST_FIELDS)) from None


def _require_utf8(content: bytes) -> None:
    try:
        content.decode()
    except UnicodeDecodeError:
        raise ApiError(400, _("The form is not in UTF-8.")) from None


def parse(fields: dict[str, str]) -> Asked:
    """What is asked, or an error in LanguageTool's own words."""
    if "text" in fields and "data" in fields:
        raise ApiError(400, _("Set only 'text' or 'data' parameter, not both."))
    if "text" not in fields and "data" not in fields:
        raise ApiError(400, _("Missing 'text' or 'data' parameter."))
    language = languages.find(fields.get("language"))
    level = fields.get("level", "").lower()
    if level not in _LEVELS:
        raise ApiError(400, _("If 'level' is set, it must be set to 'default' or 'picky'."))
    mode = fields.get("mode", "").lower()
    if mode not in _MODES:
        raise ApiError(
            400, _("If 'mode' is set, it must be 'all', 'textLevelOnly', 'allButTextLevelOnly' or 'batch'.")
        )
    selection = Selection(
        enabled_rules=_names(fields, "enabledRules"),
        disabled_rules=_names(fields, "disabledRules"),
        enabled_categories=_names(fields, "enabledCategories"),
        disabled_categories=_names(fields, "disabledCategories"),
        enabled_only=fields.get("enabledOnly", "").lower() in ("true", "yes", "on"),
    )
    text = plain_text(fields["text"]) if "text" in fields else read_annotations(fields["data"])
    # A client that asks once for the whole text and once for its sentences must not get each match twice.
    return Asked(text, language, _LEVELS[level], selection, wants_spelling=mode != "textlevelonly")


def _names(fields: dict[str, str], field: str) -> frozenset[str]:
    return frozenset(name.strip() for name in fields.get(field, "").split(",") if name.strip())
