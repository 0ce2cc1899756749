"""The real server on standard input and output, around a model that knows a few mistakes by heart.

The first argument is a file that takes a line of JSON for each part that the model reads; beside it, `.waits`
takes the seconds of each time that the server waited in vain.
"""

import json
import re
import sys
import time
from pathlib import Path

from nmspeller.apps.lsp import server
from nmspeller.apps.lsp.stdio import serve
from nmspeller.errors import InputError
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.edits import Change

MISTAKES = {
    "在见": (0, "再", ("载",)),
    "平果": (0, "苹", ("瓶",)),
    "跑的快": (1, "得", ("地",)),
    "未来人": (0, "末", ()),
    "蓝天空": (0, "晴", ()),
    "高心": (1, "兴", ()),
    "他门": (1, "们", ()),
}


class FakeModel:
    model_hash = "fake"
    window = 126
    batch_characters = 1 << 15

    def __init__(self, prefilter):
        self.prefilter = prefilter

    def read(self, parts, level):
        return [tuple(self._changes(part, level)) for part in parts]

    def _changes(self, part, level):
        with open(sys.argv[1], "a", encoding="utf-8") as log:
            log.write(json.dumps([part.text, level, self.prefilter]) + "\n")
        if "慢" in part.text:
            time.sleep(1)
        if "停" in part.text:
            time.sleep(300)
        if "坏" in part.text:
            raise RuntimeError("the engine is broken")
        changes = []
        for wrong, (shift, target, others) in MISTAKES.items():
            for found in re.finditer(wrong, part.text):
                at = found.start() + shift
                locked = any(start <= at < stop for start, stop in part.locked)
                if not locked and not (level == "careful" and wrong == "蓝天空"):
                    changes.append(Change(at, target, 0.98, 0.97, tuple((other, 0.01) for other in others)))
        missing = [Change(found.end(), "了", 0.9, 0.8, length=0) for found in re.finditer("看完", part.text)]
        extra = [Change(found.start(), "", 0.9, 0.8) for found in re.finditer("是是", part.text)]
        return sorted([*changes, *missing, *extra], key=lambda change: change.place)


def open_checker(model, *, prefilter):
    if model is not None and not Path(model).is_dir():
        raise InputError(f"There is no model at {model}; give a folder with model.onnx in it.")
    print("this must not reach the editor")
    with open(f"{sys.argv[1]}.loads", "a", encoding="utf-8") as loads:
        loads.write("one\n")
    return Checker(FakeModel(prefilter))


def noting_waits(wait):
    async def noted(event, seconds):
        await wait(event, seconds)
        if not event.is_set():
            with open(f"{sys.argv[1]}.waits", "a", encoding="utf-8") as waits:
                waits.write(f"{seconds}\n")

    return noted


if __name__ == "__main__":
    server._wait = noting_waits(server._wait)
    sys.exit(serve(open_checker))
