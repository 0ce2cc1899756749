"""`nmspeller review`, file by file."""

import os
import sys
from collections.abc import Iterable

from nmspeller.apps.check_review import saved
from nmspeller.apps.check_review.decisions import Carried, Decision, Decisions, Kind
from nmspeller.apps.check_review.file_review import FileReview
from nmspeller.apps.check_review.session import Quit, Session, ToReview
from nmspeller.errors import InputError
from nmspeller.messages import _


class Review:
    """One call of the command: its files in order, and what was decided for all of them."""

    def __init__(self, session: Session) -> None:
        self._session, self._carried = session, Carried()

    def run(self, to_review: Iterable[ToReview]) -> None:
        """Review the files; a file with an error does not stop the others.

        Raises:
            KeyboardInterrupt: Ctrl-C; the decisions are kept.
        """
        reviewed, is_whole = [], True
        with self._session.keyboard:
            try:
                for one in to_review:
                    try:
                        self._file(one)
                        reviewed.append(one.path)
                    except InputError as error:
                        self._session.screen.clear_prompt()
                        self._session.report_error(error)
                        is_whole = False
            except (Quit, KeyboardInterrupt):
                self._session.screen.clear_prompt()
                if not self._session.cannot_save:
                    self._session.screen.say(
                        _("Your decisions are kept: continue later with the same command.")
                    )
                raise
        if is_whole:
            done = _("All findings are decided.") if self._session.found else _("No findings.")
            self._session.screen.say(done, style="green")
            for path in reviewed:
                saved.forget(path)

    def end_process_if_searching(self, code: int) -> None:
        """Do not wait for a thread that is inside the model's library, where nothing can stop it."""
        if self._session.search and self._session.search.is_running:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _file(self, one: ToReview) -> None:
        document, raw = one.load()
        document.require_unsigned()
        before = saved.load(one.path)
        decisions = Decisions(document.text, self._carried, before.decisions, document.escapes)
        if before.finished == saved.content_hash(raw):
            self._carried = _carried_on(self._carried, before.decisions)
            self._session.found = True
            return
        FileReview(self._session, one, document, raw, decisions).run()
        self._carried = decisions.carried


def _carried_on(carried: Carried, decisions: Iterable[Decision]) -> Carried:
    """With what was decided for all files in one that is finished."""
    pairs = {decision.pair for decision in decisions if decision.kind is Kind.IGNORE_ALL}
    return Carried(carried.pairs | pairs, carried.words)
