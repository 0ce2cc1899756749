"""A speller that knows a few errors by heart, and a server of it to test protocol, limits and faults."""

import json
import os
import sys
import threading
import time
from pathlib import Path

from nmspeller.apps.http.app import create_app
from nmspeller.apps.http.listening import listen
from nmspeller.apps.http.logs import start_logging
from nmspeller.apps.http.server import serve_app
from nmspeller.apps.http.settings import Settings
from nmspeller.apps.http.workers import block_sighup
from nmspeller.runtime.correction import Correction, Edit, Reason, apply_edits
from nmspeller.runtime.rule_edits import chosen_rules, find_in_document
from nmspeller.text.protect import WordMatcher

KNOWN = {
    "高心": (1, "兴", ("星",), Reason.SIMILAR_SOUND),
    "平果": (0, "苹", ("评",), Reason.SAME_SOUND),
    "己经": (0, "已", (), Reason.SIMILAR_SHAPE),
    "跑的快": (1, "得", (), Reason.DE),
    "默守成规": (0, "墨", (), Reason.SAME_SOUND),  # which a rule for idioms finds too
}


class FakeChecker:
    """Finds KNOWN errors. `thorough` finds 平果 too. Some words make it slow, fail or die."""

    model_hash = "fake"
    window = 126

    def __init__(self, words=(), seconds=0.0):
        self.words = tuple(words)
        self.seconds = seconds
        self.batches = []
        self.hold = threading.Event()
        self.hold.set()

    def check_many(self, texts, *, level=None, words=None, document_script=None):
        texts = list(texts)
        self.batches.append((texts, level, words))
        self.hold.wait(30)
        time.sleep(self.seconds)
        return [self._check(text, level, (*self.words, *(words or ()))) for text in texts]

    def rule_matches(self, texts, *, words=None, rules=None):
        protected = [WordMatcher((*self.words, *(words or ()))).spans(text) for text in texts]
        return find_in_document(texts, protected, chosen_rules(rules))

    def _check(self, text, level, words):
        if "慢慢来" in text:
            time.sleep(0.5)
        if "故障" in text:
            raise RuntimeError(f"cannot read {text}")
        if "退出" in text:
            raise SystemExit
        edits = []
        for error, (at, target, alternatives, reason) in KNOWN.items():
            if error in words or (error == "平果" and level == "careful"):
                continue
            start = text.find(error)
            while start >= 0:
                edits.append(
                    Edit(start + at, 1, error[at], target, 0.98, alternatives, reason, confidence=0.97)
                )
                start = text.find(error, start + 1)
        edits.sort(key=lambda edit: edit.offset)
        return Correction(text, apply_edits(text, edits), tuple(edits))


def worker_app():
    """The application of a server process that a test starts; its words are those of $FAKE_WORDS."""
    settings = Settings.from_environment()
    start_logging(settings.log_text)

    def load():
        path = os.environ.get("FAKE_WORDS")
        words = Path(path).read_text("utf-8").split() if path else ()
        return FakeChecker(words, float(os.environ.get("FAKE_SECONDS", 0)))

    return create_app(settings, load)


if __name__ == "__main__":
    settings = Settings(**json.loads(sys.argv[1]))
    settings.to_environment()
    block_sighup()
    start_logging(settings.log_text)
    with listen(settings) as listeners:
        serve_app(worker_app, settings, listeners)
