"""A speller that knows a few errors by heart, for tests of everything around the model.

As a program it is the command line with this speller: `python scripted_speller.py check …`.
"""

import os
import re
import sys
import time

from nmspeller.runtime.correction import Correction, Edit, Reason, apply_edits
from nmspeller.runtime.rules import RuleMatch

KNOWN = {
    "我门": ("我们", Reason.SAME_SOUND, 0.99),
    "他门": ("他们", Reason.SAME_SOUND, 0.98),
    "我門": ("我們", Reason.SAME_SOUND, 0.99),
    "天汽": ("天气", Reason.SIMILAR_SHAPE, 0.95),
    "借少": ("介绍", Reason.SIMILAR_SOUND, 0.97),
    "公圆": ("公园", Reason.SAME_SOUND, 0.91),
}


class ScriptedSpeller:
    """Finds the KNOWN errors, one edit a wrong character; with rules, hints at 张琳; records its calls."""

    model_hash = "scripted"
    window = 126
    rules = False

    def __init__(self, words=(), seconds=0.0):
        self.words = tuple(words)
        self.seconds = seconds
        self.calls = []
        self.documents = []

    def check_many(self, texts, *, level=None, words=None, document_script=None, rules=None):
        texts = list(texts)
        self.calls.append((texts, level))
        time.sleep(self.seconds)
        return [self._check(text) for text in texts]

    def rule_matches(self, texts, *, words=None, rules=None):
        self.documents.append(list(texts))
        return [
            [
                RuleMatch(found.start(), 2, "张琳", None, "name_variants")
                for found in re.finditer("张琳", text)
            ]
            if self.rules
            else []
            for text in texts
        ]

    def _check(self, text):
        edits = []
        for wrong, (right, reason, confidence) in KNOWN.items():
            at = -1
            while wrong not in self.words and (at := text.find(wrong, at + 1)) >= 0:
                for index, (old, new) in enumerate(zip(wrong, right, strict=True)):
                    if old != new:
                        edits.append(Edit(at + index, 1, old, new, 0.999, ("某",), reason, confidence))
        edits.sort(key=lambda edit: edit.offset)
        return Correction(text, apply_edits(text, edits), tuple(edits))


if __name__ == "__main__":
    from nmspeller.__main__ import run
    from nmspeller.apps.cli import job
    from nmspeller.messages import language_of_environment, speak

    speak(language_of_environment())

    def load_speller(model, lists, prefilter, rules):
        speller = ScriptedSpeller(seconds=float(os.environ.get("SECONDS_A_CHECK", 0)))
        speller.rules = bool(rules)
        return speller

    job.load_speller = load_speller
    sys.exit(run(sys.argv[1:]))
