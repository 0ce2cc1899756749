"""The real server on standard input and output, around a speller that knows five mistakes by heart.

The first argument is a file that takes a line of JSON for each text the speller is asked about.
"""

import json
import re
import sys
import time
from pathlib import Path

from nmspeller.runtime.rule_edits import chosen_rules, find_in_document

from nmspeller.apps.lsp.stdio import serve
from nmspeller.errors import InputError
from nmspeller.runtime.correction import Correction, Edit, Reason, apply_edits

MISTAKES = {
    "在见": (0, "在", "再", ("载", "再"), Reason.SAME_SOUND),
    "平果": (0, "平", "苹", ("瓶",), Reason.SAME_SOUND),
    "跑的快": (1, "的", "得", ("得", "地"), Reason.DE),
    "未来人": (0, "未", "末", (), Reason.SIMILAR_SHAPE),
    "蓝天空": (0, "蓝", "晴", (), Reason.CONTEXT),
}


class FakeSpeller:
    model_hash = "fake"
    window = 126

    def __init__(self, model, *, replacements, prefilter, rules):
        self.replacements = replacements
        if model is not None and not Path(model).is_dir():
            raise InputError(f"There is no model at {model}; give a folder with model.onnx in it.")
        self.prefilter = prefilter
        self.rules = chosen_rules(rules)
        print("this must not reach the editor")

    def rule_matches(self, texts, *, words=None):
        return find_in_document(texts, [()] * len(texts), self.rules)

    def check_many(self, texts, *, level=None, words=None, document_script=None, rules=None):
        assert rules is False  # the rules read all of a document, and not its parts
        if level not in (None, "careful", "balanced", "bold"):
            raise InputError(f"There is no level {level!r}; use careful, balanced or bold.")
        return [self._check(text, level, tuple(words or ())) for text in texts]

    def _check(self, text, level, words):
        with open(sys.argv[1], "a", encoding="utf-8") as log:
            log.write(json.dumps([text, level, words, self.prefilter]) + "\n")
        if "慢" in text:
            time.sleep(1)
        if "停" in text:
            time.sleep(30)
        if "坏" in text:
            raise RuntimeError("the engine is broken")
        safe = [found.span() for word in words for found in re.finditer(re.escape(word), text)]
        edits = []
        for wrong, (shift, source, target, alternatives, reason) in MISTAKES.items():
            for found in re.finditer(wrong, text):
                at = found.start() + shift
                protected = any(start <= at < stop for start, stop in safe)
                if not protected and not (level == "careful" and reason is Reason.CONTEXT):
                    edits.append(Edit(at, 1, source, target, 0.98, alternatives, reason, confidence=0.97))
        for wrong, right in self.replacements.items():
            edits += [
                Edit(found.start(), len(wrong), wrong, right, 1.0, (), Reason.USER_WORD)
                for found in re.finditer(re.escape(wrong), text)
            ]
        edits.sort(key=lambda edit: edit.offset)
        return Correction(text, apply_edits(text, edits), tuple(edits))


if __name__ == "__main__":
    sys.exit(serve(FakeSpeller))
