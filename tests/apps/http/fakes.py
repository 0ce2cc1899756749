"""A speller that knows a few errors by heart, and a server of it to test protocol, limits and faults."""

import json
import os
import re
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
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.dictionary import read_words
from nmspeller.runtime.edits import Change

KNOWN = {
    "高心": (1, "兴", ("星",)),
    "平果": (0, "苹", ("评",)),
    "己是": (0, "已", ()),
    "跑的快": (1, "得", ()),
    "默守成规": (0, "墨", ()),  # which a rule for idioms finds too
}
# The offset and the length of what is replaced: nothing where a character is missing.
MISCOUNTED = {
    "我喜跑步": (2, 0, "欢", ("爱",)),
    "他他来了": (1, 1, "", ()),
    "要赶快做完作": (6, 0, "业", ()),
}
SWAPPED = {"觉睡": "睡觉"}


class FakeModel:
    """Finds KNOWN errors. `thorough` finds 平果 too. Some words make it slow, fail or die."""

    model_hash = "fake"
    window = 126
    batch_characters = 1 << 15

    def __init__(self, seconds):
        self.seconds = seconds
        self.batches = []
        self.hold = threading.Event()
        self.hold.set()

    def read(self, parts, level):
        self.batches.append(([part.text for part in parts], level))
        self.hold.wait(30)
        time.sleep(self.seconds)
        return [tuple(self._changes(part, level)) for part in parts]

    def _changes(self, part, level):
        if "慢慢来" in part.text:
            time.sleep(0.5)
        if "故障" in part.text:
            raise RuntimeError(f"cannot read {part.text}")
        if "退出" in part.text:
            raise SystemExit
        changes = []
        for error, (shift, target, others) in KNOWN.items():
            if error == "平果" and level == "careful":
                continue
            for found in re.finditer(error, part.text):
                at = found.start() + shift
                if not any(start <= at < stop for start, stop in part.locked):
                    others_with_scores = tuple((other, 0.01) for other in others)
                    changes.append(Change(at, target, 0.98, 0.97, others_with_scores))
        for error, (shift, length, target, others) in MISCOUNTED.items():
            for found in re.finditer(error, part.text):
                others_with_scores = tuple((other, 0.01) for other in others)
                changes.append(Change(found.start() + shift, target, 0.98, 0.97, others_with_scores, length))
        for error, correct in SWAPPED.items():
            for found in re.finditer(error, part.text):
                changes += [Change(found.start() + at, correct[at], 0.98, 0.97) for at in (0, 1)]
        return sorted(changes)


class FakeChecker(Checker):
    """A checker around the fake model, which records what it reads."""

    def __init__(self, words=(), seconds=0.0):
        super().__init__(FakeModel(seconds), words=words)

    @property
    def batches(self):
        return self.model.batches

    @property
    def hold(self):
        return self.model.hold


def worker_app():
    """The application of a server process that a test starts; its words are those of $FAKE_WORDS."""
    settings = Settings.from_environment()
    start_logging(settings.log_text)

    def load():
        path = os.environ.get("FAKE_WORDS")
        words = read_words(Path(path)) if path else ()
        return FakeChecker(words, float(os.environ.get("FAKE_SECONDS", 0)))

    return create_app(settings, load)


if __name__ == "__main__":
    settings = Settings(**json.loads(sys.argv[1]))
    settings.to_environment()
    block_sighup()
    start_logging(settings.log_text)
    with listen(settings) as listeners:
        serve_app(worker_app, settings, listeners)
