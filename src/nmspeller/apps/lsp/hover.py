"""What an editor shows when the pointer rests on a finding."""

from collections.abc import Iterable

from nmspeller.apps.lsp.actions import described, visible
from nmspeller.apps.lsp.document import OpenDocument
from nmspeller.apps.lsp.findings import EditorFinding
from nmspeller.messages import _
from nmspeller.runtime.why import why


def at(findings: Iterable[EditorFinding], offset: int) -> EditorFinding | None:
    """The finding at an offset: the one that contains its character, or else one that ends there."""
    touching = [finding for finding in findings if finding.start <= offset <= finding.stop]
    return max(touching, key=lambda finding: finding.start, default=None)


def explanation(document: OpenDocument, finding: EditorFinding) -> str:
    """Why, what else it could be, and how confident the speller is; one paragraph each."""
    edit = finding.edit
    exchanges = edit.source and edit.target
    arrow = f"{visible(edit.source)} → {visible(edit.target)}"
    lines = [arrow if exchanges else described(edit.source, edit.target), why(document.text, edit)]
    others = [visible(text) for text in finding.replacements if text != edit.target]
    if others:
        lines.append(_("Alternatives: {alternatives}").format(alternatives=_(", ").join(others)))
    if edit.rule is None:
        lines.append(_("Confidence: {confidence}").format(confidence=f"{edit.confidence:.0%}"))
    return "\n\n".join(lines)
