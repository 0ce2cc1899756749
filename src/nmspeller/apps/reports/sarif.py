"""SARIF 2.1.0, which GitHub's code scanning and many editors read."""

import json
from typing import Any
from urllib.parse import quote

from nmspeller import __version__
from nmspeller.apps.documents.document import Document
from nmspeller.apps.reports.findings import Finding, findings
from nmspeller.runtime.correction import Correction, Reason

_RULES = {
    reason: {
        "id": reason.name.lower().replace("_", "-"),
        "shortDescription": {"text": f"Misspelt: {reason.value}"},
    }
    for reason in Reason
}


class SarifReport:
    """Gathers all findings, for a SARIF log is one object."""

    def __init__(self) -> None:
        self._results: list[dict[str, Any]] = []

    def show(self, document: Document, correction: Correction) -> None:
        uri = quote(document.name.replace("\\", "/"), errors="surrogateescape")
        self._results += [_result(uri, one) for one in findings(correction)]

    def finish(self) -> None:
        driver = {"name": "nmspeller", "version": __version__, "rules": list(_RULES.values())}
        run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": self._results}
        log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
        print(json.dumps(log, ensure_ascii=False, indent=2))


def _result(uri: str, one: Finding) -> dict[str, Any]:
    artifact = {"uri": uri}
    region = {
        "startLine": one.line,
        "startColumn": one.column,
        "endLine": one.line,
        "endColumn": one.column + one.length,
    }
    change = {"deletedRegion": region, "insertedContent": {"text": one.target}}
    return {
        "ruleId": _RULES[one.edits[0].reason]["id"],
        "level": "warning",
        "message": {"text": f"{one.source} → {one.target} ({one.reason}, {one.probability:.2f})"},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "fixes": [{"artifactChanges": [{"artifactLocation": artifact, "replacements": [change]}]}],
    }
