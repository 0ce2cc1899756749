"""A speller that knows a few errors by heart, for tests of everything around the model.

As a program it is the command line with this speller: `python scripted_speller.py check …`.
"""

import os
import re
import sys
import time
from dataclasses import replace

from nmspeller.runtime.checker import Checker
from nmspeller.runtime.dictionary import word_sources
from nmspeller.runtime.edits import Change
from nmspeller.runtime.rule_matches import chosen_rules
from nmspeller.runtime.rules import RuleMatch

KNOWN = {
    "我门": ("我们", 0.99),
    "他门": ("他们", 0.98),
    "天汽": ("天气", 0.95),
    "借少": ("介绍", 0.97),
    "公圆": ("公园", 0.91),
}


class ScriptedModel:
    """Finds the KNOWN errors, and records its calls."""

    model_hash = "scripted"
    window = 126
    batch_characters = 1 << 15

    def __init__(self, seconds):
        self.seconds = seconds
        self.calls = []

    def read(self, parts, level):
        self.calls.append(([part.text for part in parts], level))
        time.sleep(self.seconds)
        return [tuple(self._changes(part)) for part in parts]

    @staticmethod
    def _changes(part):
        found_here = []
        for wrong, (right, confidence) in KNOWN.items():
            for found in re.finditer(wrong, part.text):
                for at, (old, new) in enumerate(zip(wrong, right, strict=True), found.start()):
                    if old != new and not any(start <= at < stop for start, stop in part.locked):
                        found_here.append(Change(at, new, 0.999, confidence, (("某", 0.001),)))
        return sorted(found_here)


class ScriptedRule:
    """Hints at 张琳."""

    id = "name_variants"

    def matches(self, text, protected):
        return (RuleMatch(found.start(), 2, "张琳", None, self.id) for found in re.finditer("张琳", text))


class ScriptedSpeller(Checker):
    """A checker around the scripted model; with rules it has the scripted one, too."""

    def __init__(self, words=(), seconds=0.0):
        super().__init__(ScriptedModel(seconds), words=words)
        self.rules = False
        self.documents = []

    def analyzer(self, **options):
        rules = [ScriptedRule(), *chosen_rules(self.rules)] if self.rules else []
        return replace(super().analyzer(**options), rules=rules)

    def use_words(self, files):
        self._words = word_sources(files)

    def edits(self, text):
        return self.check_many([text])[0].edits

    @property
    def calls(self):
        return self.model.calls

    def begin(self, texts, **options):
        self.documents.append(list(texts))
        return super().begin(texts, **options)


if __name__ == "__main__":
    from nmspeller.__main__ import run
    from nmspeller.apps.cli import job
    from nmspeller.messages import language_of_environment, speak

    speak(language_of_environment())

    def load_speller(model, lists, prefilter, rules):
        seconds = float(os.environ.get("SECONDS_A_CHECK", 0))
        speller = ScriptedSpeller(seconds=seconds)
        speller.rules = rules
        return speller

    job.load_speller = load_speller
    sys.exit(run(sys.argv[1:]))
