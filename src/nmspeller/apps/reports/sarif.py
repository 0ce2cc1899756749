"""SARIF 2.1.0, which GitHub's code scanning and many editors read."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nmspeller import __version__
from nmspeller.apps.documents.document import Document, TextDocument
from nmspeller.apps.documents.office import OfficeDocument
from nmspeller.apps.reports.findings import Doubt, Finding, doubts, findings
from nmspeller.apps.utf16 import Utf16
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.findings import Reason
from nmspeller.runtime.rules import RULES, Rule


class SarifReport:
    """Collects all findings, since a SARIF log is one object."""

    def __init__(self, *, explain: bool = False) -> None:
        self._explain = explain
        self._results: list[dict[str, Any]] = []
        self._rules: set[str] = set()

    def show(self, document: Document, correction: Correction) -> None:
        artifact = {"uri": _uri(document.name)}
        units = Utf16(document.escapes.applied(correction.source, ()))
        for one in findings(correction, document.escapes):
            region = _region(document, one, units)
            message = f"{one.summary} {one.why(correction.source)}" if self._explain else one.summary
            result: dict[str, Any] = {
                "ruleId": one.edit.rule or one.edit.reason.value,
                "level": "warning",
                "message": {"text": message},
                "locations": [_location(document, artifact, region, one)],
            }
            # The lines of an Office document are not those of its file, so replacements cannot refer to them;
            # nor can they where the file has escapes in the place of characters.
            if isinstance(document, TextDocument) and not document.escapes.places:
                replacement = {"deletedRegion": region, "insertedContent": {"text": one.target}}
                change = {"artifactLocation": artifact, "replacements": [replacement]}
                result["fixes"] = [{"artifactChanges": [change]}]
            if one.edit.rule:
                self._rules.add(one.edit.rule)
            self._results.append(result)
        for doubt in doubts(correction, document.escapes):
            region = _region(document, doubt, units)
            self._rules.add(doubt.hint.rule)
            self._results.append(
                {
                    "ruleId": doubt.hint.rule,
                    "level": "note",
                    "message": {"text": f"{doubt.hint.source} ({doubt.explanation})"},
                    "locations": [_location(document, artifact, region, doubt)],
                }
            )

    def finish(self, *, fixed: bool = False) -> None:
        used = [_described(rule) for rule in RULES.values() if rule.id in self._rules]
        driver = {"name": "nmspeller", "version": __version__, "rules": [*_reasons(), *used]}
        run = {
            "tool": {"driver": driver},
            # The unit of editors, including those that ignore this field.
            "columnKind": "utf16CodeUnits",
            "newlineSequences": ["\r\n", "\n", "\r"],
            "results": self._results,
        }
        log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
        print(json.dumps(log, ensure_ascii=False, indent=2))


def _reasons() -> list[dict[str, Any]]:
    help = _("Apply the replacement; or, if the text is correct, add the word to a file given with --words.")
    return [
        {
            "id": reason.value,
            "shortDescription": {"text": _("Misspelt: {reason}").format(reason=reason.label)},
            "fullDescription": {"text": reason.description},
            "help": {"text": help},
        }
        for reason in Reason
        if reason is not Reason.RULE
    ]


def _described(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": _(rule.name)},
        "fullDescription": {"text": _(rule.explanation)},
        "help": {"text": _("Check whether the text is correct; if so, no change is needed.")},
    }


def _uri(name: str) -> str:
    """Relative to the working folder, unless the file was named by its absolute path."""
    path = Path(name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="surrogateescape")


def _location(
    document: Document, artifact: dict[str, str], region: dict[str, int], one: Finding | Doubt
) -> dict[str, Any]:
    """The place in the file; in an Office document also the one that a person finds."""
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact, "region": region}}
    if isinstance(document, OfficeDocument):
        location["logicalLocations"] = [{"fullyQualifiedName": document.place_of(one.offset).label}]
    return location


def _region(document: Document, one: Finding | Doubt, units: Utf16) -> dict[str, int]:
    def column(offset: int) -> int:
        first, after = (document.escapes.length(0, at) for at in (one.line_start, offset))
        return units.unit(after) - units.unit(first) + 1

    return {
        "startLine": one.line,
        "startColumn": column(one.offset),
        "endLine": one.line,
        "endColumn": column(one.offset + one.length),
    }
