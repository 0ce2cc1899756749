"""Findings as an editor shows them: diagnostics, quick fixes and commands."""

from collections.abc import Iterable, Sequence

from lsprotocol import types

from nmspeller.apps.lsp.document import Document
from nmspeller.apps.lsp.findings import Finding
from nmspeller.runtime.correction import Reason

SOURCE = "nmspeller"
ADD_WORD = "nmspeller.addWord"
IGNORE = "nmspeller.ignore"
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.nmspeller"
KINDS = [types.CodeActionKind.QuickFix, FIX_ALL]

_LONGEST_WORD = 30


def diagnostic(document: Document, finding: Finding) -> types.Diagnostic:
    """The finding as a diagnostic; one that only the context supports is a hint."""
    edit = finding.edit
    hint = edit.reason is Reason.CONTEXT
    why = f"{edit.reason.value}, {edit.confidence:.0%}"
    return types.Diagnostic(
        range=document.range(finding.start, finding.stop),
        message=f"“{edit.source}”: did you mean “{edit.target}”? ({why})",
        severity=types.DiagnosticSeverity.Hint if hint else types.DiagnosticSeverity.Information,
        code=edit.reason.value,
        source=SOURCE,
        data={"probability": round(edit.probability, 4), "confidence": round(edit.confidence, 4)},
    )


def quick_fixes(
    document: Document, findings: Iterable[Finding], asked: types.Range, *, versioned: bool
) -> list[types.CodeAction]:
    """The actions for the findings that touch the requested range."""
    start, stop = document.offset(asked.start), document.offset(asked.end)
    actions: list[types.CodeAction] = []
    for finding in findings:
        if finding.start > stop or finding.stop < start:
            continue
        about = [diagnostic(document, finding)]
        actions += [
            types.CodeAction(
                title=f"Replace “{finding.edit.source}” by “{text}”",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=about,
                is_preferred=text == finding.edit.target,
                edit=_workspace_edit(document, [(finding, text)], versioned),
            )
            for text in finding.replacements
        ]
        commands = [
            (f"Add “{word}” to my words", ADD_WORD, [document.uri, word])
            for word in _words_around(document.text, finding, start, stop)
        ]
        commands.append((f"Ignore “{finding.edit.source}” here", IGNORE, [document.uri, *finding.key]))
        actions += [
            types.CodeAction(
                title=title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=about,
                command=types.Command(title=title, command=command, arguments=arguments),
            )
            for title, command, arguments in commands
        ]
    return actions


def fix_all(document: Document, findings: Sequence[Finding], *, versioned: bool) -> list[types.CodeAction]:
    """One action that replaces every finding by its target, if there is any."""
    if not findings:
        return []
    fixes = [(finding, finding.edit.target) for finding in findings]
    title = f"Fix all {len(fixes)} spelling findings" if len(fixes) > 1 else "Fix the only spelling finding"
    return [types.CodeAction(title=title, kind=FIX_ALL, edit=_workspace_edit(document, fixes, versioned))]


def wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether a request for `only` some kinds includes this one; `source` includes `source.fixAll`."""
    if only is None:
        return True
    asked = [getattr(each, "value", each) for each in only]
    return any(kind == each or kind.startswith(f"{each}.") or each == "" for each in asked)


def _words_around(text: str, finding: Finding, start: int, stop: int) -> list[str]:
    """The words that the user may want to add.

    That is the selection if there is one. Otherwise the word's boundaries are unknown, because Chinese has no
    spaces, so the finding is offered with the character before it, after it, and both: most words and names
    have two or three. It is offered alone only if it has no such neighbour.
    """
    selection = text[start:stop].strip()
    if start <= finding.start and finding.stop <= stop and len(selection) > finding.stop - finding.start:
        return [selection] if len(selection) <= _LONGEST_WORD and len(selection.splitlines()) == 1 else []
    before = finding.start - (finding.start > 0 and _is_hanzi(text[finding.start - 1]))
    after = finding.stop + (finding.stop < len(text) and _is_hanzi(text[finding.stop]))
    spans = dict.fromkeys([(before, finding.stop), (finding.start, after), (before, after)])
    words = [text[left:right] for left, right in spans if (left, right) != (finding.start, finding.stop)]
    return words or [finding.edit.source]


def _is_hanzi(character: str) -> bool:
    return "㐀" <= character <= "鿿" or "\U00020000" <= character <= "\U000323af" or character == "〇"


def _workspace_edit(
    document: Document, fixes: Iterable[tuple[Finding, str]], versioned: bool
) -> types.WorkspaceEdit:
    """The edit, restricted to this version of the document if the editor supports that."""
    edits = [types.TextEdit(document.range(finding.start, finding.stop), text) for finding, text in fixes]
    if not versioned:
        return types.WorkspaceEdit(changes={document.uri: edits})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, edits)])
