"""SARIF 2.1.0, which GitHub's code scanning and many editors read."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nmspeller import __version__
from nmspeller.apps.documents.document import Document
from nmspeller.apps.documents.office import OfficeDocument
from nmspeller.apps.reports.findings import Finding, findings
from nmspeller.apps.utf16 import Utf16
from nmspeller.runtime.correction import Correction, Reason

_EXPLANATIONS = {
    Reason.SAME_SOUND: "A character of the same sound fits the sentence better.",
    Reason.SIMILAR_SOUND: "A character of a similar sound fits the sentence better.",
    Reason.SIMILAR_SHAPE: "A character of a similar shape fits the sentence better.",
    Reason.DE: "Another one of 的, 地 and 得 is correct here.",
    Reason.USER_WORD: "A list of replacements has another text for this one.",
    Reason.RULE: "A rule for idioms, doubled characters or punctuation applies here.",
    Reason.CONTEXT: "Another character fits the sentence better, though it neither sounds nor looks similar.",
}
_HELP = "Apply the replacement; or, if the text is correct, add the word to a file given with --words."
_RULES = {
    reason: {
        "id": reason.name.lower().replace("_", "-"),
        "shortDescription": {"text": f"Misspelt: {reason.value}"},
        "fullDescription": {"text": explanation},
        "help": {"text": _HELP},
    }
    for reason, explanation in _EXPLANATIONS.items()
}


class SarifReport:
    """Collects all findings, since a SARIF log is one object."""

    def __init__(self) -> None:
        self._results: list[dict[str, Any]] = []

    def show(self, document: Document, correction: Correction) -> None:
        artifact = {"uri": _uri(document.name)}
        units = Utf16(correction.source)
        for one in findings(correction):
            region = _region(one, units)
            result: dict[str, Any] = {
                "ruleId": _RULES[one.edits[0].reason]["id"],
                "level": "warning",
                "message": {"text": f"{one.source} → {one.target} ({one.reason}, {one.confidence:.2f})"},
                "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
            }
            # The lines of an Office document are not those of its file, so replacements cannot refer to them.
            if not isinstance(document, OfficeDocument):
                replacement = {"deletedRegion": region, "insertedContent": {"text": one.target}}
                change = {"artifactLocation": artifact, "replacements": [replacement]}
                result["fixes"] = [{"artifactChanges": [change]}]
            self._results.append(result)

    def finish(self) -> None:
        driver = {"name": "nmspeller", "version": __version__, "rules": list(_RULES.values())}
        run = {
            "tool": {"driver": driver},
            # The unit of editors, including those that ignore this field.
            "columnKind": "utf16CodeUnits",
            "newlineSequences": ["\r\n", "\n", "\r"],
            "results": self._results,
        }
        log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
        print(json.dumps(log, ensure_ascii=False, indent=2))


def _uri(name: str) -> str:
    """Relative to the working folder, unless the file was named by its absolute path."""
    path = Path(name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="surrogateescape")


def _region(one: Finding, units: Utf16) -> dict[str, int]:
    before_line = units.unit(one.line_start)
    return {
        "startLine": one.line,
        "startColumn": units.unit(one.offset) - before_line + 1,
        "endLine": one.line,
        "endColumn": units.unit(one.offset + one.length) - before_line + 1,
    }
