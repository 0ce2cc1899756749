"""How many sentences get other edits on ONNX Runtime than on the native engine.

    python benchmarks/engines.py --clean SENTENCES.txt

reads all evaluation sets and SENTENCES.txt, the clean1.txt that benchmarks/clean_text.py writes, with the
shipped model on both engines, at `balanced`, and writes docs/results/engines.md and its figures.
"""

import argparse
from pathlib import Path
from typing import Any
from unittest.mock import patch

from accuracy_report import RULES, TITLES
from nmspeller import Speller
from nmspeller.lab.evaluation import suites
from nmspeller.lab.evaluation.metrics import evaluate
from nmspeller.lab.evaluation.speed import processor
from nmspeller.runtime import device
from nmspeller.runtime.native.weights import UnsupportedError
from nmspeller.runtime.pipeline import Pipeline
from page import PAGES, table, write_figures, write_page

HEAD = """\
# One model, two engines

Written by `benchmarks/engines.py`; no figure is typed by hand. The shipped model (SHA-256 of all its files
`{hash}…`) on {processor}, at `balanced`, without rules: sentence-level correction F1 in percent by
the protocol of [shipped.md](shipped.md) on both engines, and how many sentences get other edits.

Both compute the same integer products. Between them are floats, whose last bits differ with the order of
additions and the polynomials of GELU and softmax. Activations are rounded to bytes fifty times; where a last
bit decides about a step, the difference grows on the way through the layers, as much as between training
and export. Neither engine is nearer to the model as it was trained. The native engine gives the same edits on
every processor; ONNX Runtime has other kernels, and rounds otherwise, on another one.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clean", type=Path, required=True, help="correct sentences, one a line")
    parser.add_argument("--out", type=Path, default=PAGES)
    options = parser.parse_args()
    figures = measure(options.clean)
    write_figures("engines", figures, options.out)
    write_page("engines", page(figures), options.out)
    print(page(figures))


def measure(clean: Path) -> dict[str, Any]:
    native = Speller(rules=False)
    with patch.object(device, "NativeEngine", side_effect=UnsupportedError):
        onnx_runtime = Speller(rules=False)
    sets: dict[str, Any] = {}
    for name in suites.names():
        pairs = suites.load(name)
        sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
        answers = [answers_of(speller, sources) for speller in (native, onnx_runtime)]
        scores = [evaluate(sources, targets, each, drop_de=suites.drops_de(name)) for each in answers]
        f1 = [round(score.sentence.correction.f1, 2) for score in scores]
        sets[name] = {"f1": f1, **compared(*answers)}
        print(name, sets[name], flush=True)
    lines = [line for line in clean.read_text("utf-8").splitlines() if line.strip()]
    return {
        "hash": native.model_hash,
        "processor": processor(),
        "engines": [engine_name(native), engine_name(onnx_runtime)],
        "sets": sets,
        "clean": compared(*(answers_of(speller, lines) for speller in (native, onnx_runtime))),
    }


def answers_of(speller: Speller, texts: list[str]) -> list[str]:
    return [correction.text for correction in speller.check_many(texts)]


def compared(one: list[str], other: list[str]) -> dict[str, int]:
    return {"sentences": len(one), "differ": sum(map(str.__ne__, one, other))}


def engine_name(speller: Speller) -> str:
    pipeline = speller.checker.model
    assert isinstance(pipeline, Pipeline)
    return pipeline.engine_name


def page(figures: dict[str, Any]) -> str:
    rows = [
        [title(name), *(f"{f1:.2f}" for f1 in each["f1"]), *differing(each)]
        for name, each in figures["sets"].items()
    ]
    rows.append(["correct sentences", "–", "–", *differing(figures["clean"])])
    head = ["", *figures["engines"], "sentences", "with other edits", "%"]
    text = HEAD.format(hash=figures["hash"][:16], processor=figures["processor"])
    return f"{text}\n{table(head, rows)}\n"


def differing(each: dict[str, Any]) -> list[str]:
    share = 100 * each["differ"] / each["sentences"]
    return [f"{each['sentences']:,}", f"{each['differ']:,}", f"{share:.1f}"]


def title(name: str) -> str:
    return f"{TITLES[name]}, {RULES['both']}" if name == "sighan13" else TITLES[name]


if __name__ == "__main__":
    main()
