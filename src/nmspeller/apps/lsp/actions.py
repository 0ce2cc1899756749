"""Findings as an editor shows them: diagnostics, quick fixes and commands."""

from collections.abc import Iterable, Sequence

from lsprotocol import types

from nmspeller.apps.lsp.document import OpenDocument
from nmspeller.apps.lsp.findings import EditorFinding
from nmspeller.messages import _, ngettext
from nmspeller.runtime.findings import Edit, Hint, Reason
from nmspeller.text.patterns import lazy_pattern

SOURCE = "nmspeller"
ADD_WORD = "nmspeller.addWord"
IGNORE = "nmspeller.ignore"
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.nmspeller"
KINDS = [types.CodeActionKind.QuickFix, FIX_ALL]

_LONGEST_WORD = 30
_OUTSIDE_WORDS = lazy_pattern("[，。！？；：…\n\r\x0b\x0c\x85\u2028\u2029]")


def diagnostic(document: OpenDocument, finding: EditorFinding) -> types.Diagnostic:
    """The finding as a diagnostic; one that only the context supports is a hint."""
    edit = finding.edit
    hint = edit.reason is Reason.CONTEXT
    return types.Diagnostic(
        range=document.range(finding.start, finding.stop),
        message=_message(edit),
        severity=types.DiagnosticSeverity.Hint if hint else types.DiagnosticSeverity.Information,
        code=edit.rule or edit.reason.value,
        source=SOURCE,
        data={"probability": round(edit.probability, 4), "confidence": round(edit.confidence, 4)},
    )


def hint_diagnostic(document: OpenDocument, hint: Hint) -> types.Diagnostic:
    """What a rule doubts but cannot correct; there is nothing to fix."""
    return types.Diagnostic(
        range=document.range(hint.offset, hint.offset + hint.length),
        message=hint.explanation,
        severity=types.DiagnosticSeverity.Hint,
        code=hint.rule,
        source=SOURCE,
    )


def _message(edit: Edit) -> str:
    if edit.rule is not None:
        # Loaded late: the rules' word list takes a moment.
        from nmspeller.runtime.rules import RULES

        why = _(RULES[edit.rule].name)
    else:
        why = _("{reason}, {confidence}").format(
            reason=edit.reason.label, confidence=f"{edit.confidence:.0%}"
        )
    if not edit.source:
        message = _("“{target}” may be missing here ({why})")
    elif not edit.target:
        message = _("“{source}” may be unnecessary ({why})")
    else:
        message = _("“{source}”: did you mean “{target}”? ({why})")
    return message.format(source=visible(edit.source), target=visible(edit.target), why=why)


def visible(text: str) -> str:
    """The text with its spaces visible."""
    return text.replace(" ", "␣")


def touching(
    document: OpenDocument, findings: Iterable[EditorFinding], asked: types.Range
) -> list[EditorFinding]:
    """The findings that touch the requested range."""
    start, stop = document.offset(asked.start), document.offset(asked.end)
    return [finding for finding in findings if finding.start <= stop and finding.stop >= start]


def quick_fixes(
    document: OpenDocument, findings: Iterable[EditorFinding], asked: types.Range, *, versioned: bool
) -> list[types.CodeAction]:
    """The actions for the findings that touch the requested range."""
    start, stop = document.offset(asked.start), document.offset(asked.end)
    actions: list[types.CodeAction] = []
    offered: set[str] = set()
    for finding in touching(document, findings, asked):
        about = [diagnostic(document, finding)]
        actions += [
            types.CodeAction(
                title=described(finding.edit.source, text),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=about,
                is_preferred=text == finding.edit.target,
                edit=_workspace_edit(document, [(finding, text)], versioned),
            )
            for text in finding.replacements
        ]
        words = [word for word in _words_around(document.text, finding, start, stop) if word not in offered]
        offered.update(words)
        commands = [
            (_("Add “{word}” to my words").format(word=word), ADD_WORD, [document.uri, word])
            for word in words
        ]
        commands.append((_ignore(finding.edit), IGNORE, [document.uri, *finding.key]))
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


def fix_all(
    document: OpenDocument, findings: Sequence[EditorFinding], *, versioned: bool
) -> list[types.CodeAction]:
    """One action that replaces every finding by its target, if there is any."""
    if not findings:
        return []
    fixes = [(finding, finding.edit.target) for finding in findings]
    title = ngettext("Fix the only finding", "Fix all {number} findings", len(fixes))
    title = title.format(number=len(fixes))
    return [types.CodeAction(title=title, kind=FIX_ALL, edit=_workspace_edit(document, fixes, versioned))]


def wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether a request for `only` some kinds includes this one; `source` includes `source.fixAll`."""
    if only is None:
        return True
    asked = [getattr(each, "value", each) for each in only]
    return any(kind == each or kind.startswith(f"{each}.") or each == "" for each in asked)


def described(source: str, target: str) -> str:
    """What replacing the source by the target does, as the title of a quick fix."""
    if not source:
        title = _("Insert “{target}”")
    elif not target:
        title = _("Delete “{source}”")
    else:
        title = _("Replace “{source}” with “{target}”")
    return title.format(source=visible(source), target=visible(target))


def _ignore(edit: Edit) -> str:
    return _("Ignore “{text}” here").format(text=visible(edit.source or edit.target))


def _words_around(text: str, finding: EditorFinding, start: int, stop: int) -> list[str]:
    """The words that the user may want to add.

    That is the selection if there is one, and otherwise what may be a word there, because Chinese has no
    spaces.
    """
    selection = text[start:stop].strip()
    if start <= finding.start and finding.stop <= stop and len(selection) > finding.stop - finding.start:
        is_word = len(selection) <= _LONGEST_WORD and not _OUTSIDE_WORDS.search(selection)
        return [selection] if is_word else []
    if not finding.edit.source.strip():
        return []  # what may be missing is no word that stands there
    # Loaded late: the list of words takes a moment.
    from nmspeller.runtime.word_guess import words_around

    return [text[left:right] for left, right in words_around(text, finding.start, finding.stop)]


def _workspace_edit(
    document: OpenDocument, fixes: Iterable[tuple[EditorFinding, str]], versioned: bool
) -> types.WorkspaceEdit:
    """The edit, restricted to this version of the document if the editor supports that."""
    edits = [types.TextEdit(document.range(finding.start, finding.stop), text) for finding, text in fixes]
    if not versioned:
        return types.WorkspaceEdit(changes={document.uri: edits})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, edits)])
