"""The dialogue about one file.

The file is written when all its findings are decided, or when the user quits and wants it; its new words go
to the user's file of words at the same time. Until then every decision is kept in the user's state folder, so
that nothing is lost when the review, the terminal or the connection ends.
"""

import os
from dataclasses import replace
from pathlib import Path

from nmspeller.apps.check_review import saved
from nmspeller.apps.check_review.decisions import Decisions, Kind, covers, replaced
from nmspeller.apps.check_review.keyboard import CLOSED, REDRAW
from nmspeller.apps.check_review.saved import Saved
from nmspeller.apps.check_review.search import Search
from nmspeller.apps.check_review.session import Quit, Session, ToReview
from nmspeller.apps.documents.document import Document
from nmspeller.apps.documents.files import may_be_written
from nmspeller.apps.project.config import config_for
from nmspeller.apps.project.my_words import add_word, checked_word, words_file
from nmspeller.apps.reports.findings import Finding, doubts, visible
from nmspeller.apps.reports.proof import place
from nmspeller.apps.reports.terminal import printable, short_place
from nmspeller.errors import InputError
from nmspeller.messages import _, ngettext

_TICK = 0.2  # seconds between two looks at the search


class FileReview:
    """The dialogue about one file."""

    def __init__(
        self, session: Session, one: ToReview, document: Document, raw: bytes, decisions: Decisions
    ) -> None:
        self._session, self._one, self._document, self._raw = session, one, document, raw
        self._keyboard, self._screen = session.keyboard, session.screen
        self._decisions = decisions
        self._search = session.search = Search(one.speller, document, one.level)
        self._is_named = self._has_shown_hints = False

    def run(self) -> None:
        try:
            while True:
                while (index := self._next()) is not None:
                    self._decide(index)
                self._show_hints()
                if not (self._decisions.accepted or self._decisions.words) or self._confirm():
                    break
            self._write(finished=True)
        except Quit:
            self._ask_to_write()
            raise
        finally:
            self._search.stop()

    def _next(self) -> int | None:
        """The next finding to decide on, waiting for it if necessary; None at the end."""
        while True:
            is_running = self._search.is_running  # first, so that nothing comes after the last look
            for edits in self._search.new():
                self._decisions.add(self._one.wanted(self._document, edits))
                self._session.found |= bool(self._decisions.findings)
            index = self._decisions.next_open()
            if index is not None or not is_running:
                return index
            self._screen.prompt(
                _("{file}: checking, {percent} % …").format(
                    file=self._one.path.name, percent=int(100 * self._search.share)
                )
            )
            key = self._keyboard.key(_TICK)
            if key in ("q", CLOSED):
                raise Quit
            if key == "u":
                self._undo()

    def _decide(self, index: int) -> None:
        """Ask until something is decided about the finding, or undone."""
        one = self._decisions.findings[index]
        candidates = _candidates(one)
        self._show(index, candidates)
        while True:
            self._prompt(one)
            key = self._key()
            if key in ("a", "\r", "\n"):
                self._accept(index, one.target)
            elif key.isdecimal() and 1 <= int(key) <= len(candidates):
                self._accept(index, candidates[int(key) - 1])
            elif key == "e":
                if not self._type_replacement(index):
                    continue
            elif key == "s":
                self._take(Kind.IGNORE, index)
                self._screen.note(_("skipped"))
            elif key == "i":
                self._take(Kind.IGNORE_ALL, index)
                self._screen.note(
                    _("{source} → {target} is skipped everywhere").format(
                        source=visible(one.source), target=visible(one.target)
                    )
                )
            elif key == "w":
                if not self._add_word(index):
                    continue
            elif key == "u":
                if not self._undo():
                    self._screen.note(_("There is nothing to undo in this file."))
                    continue
            elif key == "?":
                self._screen.keys()
                continue
            elif key == REDRAW:
                self._show(index, candidates)
                continue
            else:
                continue
            return

    def _show_hints(self) -> None:
        """What a rule doubts: there is nothing to decide, the user looks at it in the file."""
        checked = self._search.checked
        if checked is None or self._has_shown_hints:
            return
        self._has_shown_hints = True
        if hints := self._one.doubted(self._document, checked.hints):
            checked = replace(checked, hints=tuple(hints))
            self._name()
            self._screen.say("")
            for doubt in doubts(checked, self._document.escapes):
                self._screen.doubt(doubt, short_place(self._document, doubt))

    def _name(self) -> None:
        """Say once which file it is."""
        if not self._is_named:
            self._is_named = True
            self._screen.heading(str(self._one.path))

    def _show(self, index: int, candidates: tuple[str, ...]) -> None:
        if not self._is_named:
            self._name()
            # One that was removed meanwhile has no permissions; writing it will say so.
            if os.path.exists(self._one.path) and not may_be_written(self._one.path):
                self._screen.say(
                    _("The file is read-only: your decisions are kept until it can be written."),
                    style="yellow",
                )
            if restored := self._decisions.restored:
                self._screen.say(
                    ngettext(
                        "{number} finding was decided before; u goes back to it.",
                        "{number} findings were decided before; u goes back to them.",
                        restored,
                    ).format(number=restored),
                    style="dim",
                )
        if not self._session.keys_shown:
            self._session.keys_shown = True
            self._screen.keys()
        number = f"{index + 1}/{len(self._decisions.findings)}"
        if self._search.is_running:
            number += "+"
        one = self._decisions.findings[index]
        heading = f"{number} · {place(self._document, one)}"
        self._screen.finding(self._document.text, one, candidates, heading)

    def _prompt(self, one: Finding) -> None:
        self._screen.prompt(_("Enter: {target}  s: skip  ?: keys > ").format(target=visible(one.target)))

    def _key(self) -> str:
        """The next key; quitting is the same everywhere."""
        while (key := self._keyboard.key()) is None:
            pass
        if key in ("q", CLOSED):
            raise Quit
        return key

    def _accept(self, index: int, replacement: str) -> None:
        self._take(Kind.ACCEPT, index, replacement)
        self._screen.note(f"✓ {visible(replacement)}", style="green")

    def _take(self, kind: Kind, index: int, text: str = "") -> None:
        self._decisions.take(kind, index, text)
        self._save()

    def _undo(self) -> bool:
        undone = self._decisions.undo()
        if undone:
            self._screen.note(_("undone"))
            self._save()
        return undone

    def _type_replacement(self, index: int) -> bool:
        one = self._decisions.findings[index]
        self._screen.clear_prompt()
        replacement = self._keyboard.line("  " + _("Replacement (empty: back): "), one.target)
        if not replacement or replacement == one.source:
            return False
        if printable(replacement) != replacement:
            self._screen.note(_("A replacement cannot have control characters."), style="red")
            return False
        try:
            # Not every encoding has every character; better to know now than at the end.
            self._document.with_edits([replaced(one, replacement)])
        except InputError as error:
            self._screen.note(str(error), style="red")
            return False
        self._accept(index, replacement)
        return True

    def _add_word(self, index: int) -> bool:
        one = self._decisions.findings[index]
        self._screen.clear_prompt()
        try:
            file = words_file(self._one.path, config_for(self._one.path), self._session.asked_words)
            offered = _word_around(self._document.text, one)
            word = self._keyboard.line("  " + _("Word (empty: back): "), offered)
            if not word:
                return False
            word = checked_word(word)
        except InputError as error:
            self._screen.note(str(error), style="red")
            return False
        if not covers(word, self._document.text, one):
            self._screen.note(_("“{word}” is not at this place of the text.").format(word=word), style="red")
            return False
        self._take(Kind.ADD_WORD, index, word)
        self._screen.note(_("“{word}” will be added to {file}").format(word=word, file=_short(file)))
        return True

    def _confirm(self) -> bool:
        """Whether to write the file, whose findings are all decided; otherwise one is open again."""
        self._screen.say("")
        while True:
            self._screen.prompt(_("Save {what}?  Enter: yes  u: undo  q: quit > ").format(what=self._what()))
            key = self._key()
            if key in ("\r", "\n", "a", "y"):
                return True
            if key == "u" and self._undo():
                return False

    def _ask_to_write(self) -> None:
        """On quitting: what is accepted is written if the user wants it, and kept for later if not."""
        if not (self._decisions.accepted or self._decisions.words):
            return
        self._screen.say("")
        while True:
            self._screen.prompt(_("Save {what} now?  y: yes  n: keep for later > ").format(what=self._what()))
            key = self._keyboard.key()
            if key in ("n", "q", CLOSED):
                return
            if key == "y":
                break
        try:
            self._write(finished=False)
        except InputError as error:
            self._screen.clear_prompt()
            self._session.report_error(error)

    def _what(self) -> str:
        corrections, words = len(self._decisions.accepted), len(self._decisions.words)
        parts = []
        if corrections:
            parts.append(
                ngettext("{number} correction", "{number} corrections", corrections).format(
                    number=corrections
                )
            )
        if words:
            parts.append(ngettext("{number} word", "{number} words", words).format(number=words))
        if len(parts) == 1:
            return parts[0]
        return _("{first} and {second}").format(first=parts[0], second=parts[1])

    def _write(self, *, finished: bool) -> None:
        """Write corrections and words; the decisions stay as they are if that fails."""
        path, content = self._one.path, self._raw
        edits = self._decisions.edits()
        if edits:
            content, sentence = self._one.write(self._document, edits, self._raw)
            self._screen.say(sentence, style="green" if content != self._raw else "yellow")
        for word in self._decisions.words:
            file = words_file(path, config_for(path), self._session.asked_words)
            add_word(file, word)
            self._screen.say(_("Added “{word}” to {file}.").format(word=word, file=_short(file)))
        if self._decisions.findings:
            rest = tuple(self._decisions.after_writing())
            self._store(Saved(rest, saved.content_hash(content) if finished else None))

    def _save(self) -> None:
        self._store(Saved(tuple(self._decisions.kept)))

    def _store(self, state: Saved) -> None:
        if self._session.cannot_save:
            return
        try:
            saved.store(self._one.path, state)
        except (OSError, RuntimeError) as error:  # a full disk, no permission, no home
            self._session.cannot_save = True
            self._screen.note(
                _("Decisions cannot be kept for later ({reason}); finish the file to save them.").format(
                    reason=error
                ),
                style="yellow",
            )


def _candidates(one: Finding) -> tuple[str, ...]:
    """Other replacements, best first."""
    others = dict.fromkeys(one.edit.alternatives)
    return tuple(other for other in others if other not in (one.source, one.target))[:9]


def _word_around(text: str, one: Finding) -> str:
    """What is most likely a word there, for the user to change."""
    # Loaded late: the list of words takes a moment.
    from nmspeller.runtime.word_guess import words_around

    return next(
        (text[start:stop] for start, stop in words_around(text, one.offset, one.offset + one.length)), ""
    )


def _short(file: Path) -> str:
    """The path from the working folder, if the file is in it."""
    try:
        return str(file.relative_to(os.getcwd()))
    except (ValueError, OSError):
        return str(file)
