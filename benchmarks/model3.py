"""What was tried for model 3, and what dev pairs said of it.

    python benchmarks/model3.py [RECORDS]
    python benchmarks/model3.py --second LOGS
    python benchmarks/model3.py --network OUT MODEL [OTHER …]
    python benchmarks/model3.py --third RECORDS MODEL

RECORDS is the folder in which benchmarks/train_model3.py trained: model2.json and judged.json of `judge`,
runs/mean/mix.json of `mix` or `pick`, and train.json in runs/a, runs/b and runs/qat; or one JSON file, which
may be compressed (.xz), with the contents of these by their paths. It becomes docs/results/data/model3.json,
from which docs/results/model3.md is written. LOGS has what `mix` printed of each mean of the second training,
NAME.log, and its train.json. OUT is what benchmarks/train_tags.py trained, and MODEL the folder with it,
whose policy.json is calibrated; OTHER are trainings that were not chosen. RECORDS of the third training have
joint/train.json, mix.json of `mix --characters` with model 2 as B, and of each network that was trained on a
mean, NAME/train.json and NAME/judged.json of `judge`, and the clean0.txt that it read; MODEL is what was made
of the last of them, calibrated.
"""

import ast
import json
import lzma
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

from dev_tags import PossibleEdit
from nmspeller.errors import InputError
from nmspeller.runtime.policy import TAGGED
from page import read_figures, table, write_figures, write_page

SETS = ("native", "revisions", "lang8", "learners", "queries", "medical", "hard")
MEANS = ("macro", "sighan", "ecspell")
CHANGED = ("plain_changed", "native_clean_changed")
SHARES = ("0.4%", "1.5%")
KINDS = ("extra", "missing", "swap")
SYNTHETIC = ("synthetic", "swapped")
RECORDS = ("model2.json", "judged.json", "runs/mean/mix.json", "runs/a/train.json", "runs/b/train.json",
           "runs/qat/train.json")  # fmt: skip
HEAD = """\
# The trainings of model 3

The shipped model is the mean of a joint training with model 2, with a network of tags trained on it: the last
section. The models of the other sections are not shipped.

Written by `benchmarks/model3.py` from model3.json; `benchmarks/train_model3.py` has the steps. In the first
part, two float trainings, A and B, and means of their weights; the best mean is quantised and trained on
with itself as the teacher. All figures are of dev pairs, which no training saw. The weights were chosen by
0.75 × (0.6 macro + 0.25 SIGHAN + 0.15 ECSpell) at 0.4 % + 0.25 × the mean of extra, missing and swapped.
"""
CHARACTERS = """\
## Replaced characters, at {share} of clean sentences changed

Strict sentence-level correction F1 in percent: the best other character of each position, accepted from the
confidence on at which that share of clean sentences is changed; one pass. Macro: the mean over native to
hard. SIGHAN and ECSpell: the means over the dev parts of their three training sets.
"""
TAGS = """\
## Missing, extra and swapped characters

Share in percent of the sentences with one such error that are wholly right, on native writers' words and
revisions ({counted}); of all changed sentences those that are right; and of clean sentences those that
tags alone, or tags and replacements together, change. Thresholds are chosen for each row: most sentences
right where at least 92 % of the changed ones are. Replacements are made from the confidence of 0.4 % on.
"""
SECOND = """\
## The second training

From the quantised model above, in integers from the start: `{recipe}` ({tokens:,.0f} M tokens,
{seconds:,} s), with model 2 as the teacher of the characters. C is what came of it, and the rows are means of
its weights with those of its start, judged as above at 0.4 % of the clean sentences. Two things are not as
above: swaps have a threshold of their own, and sentences that were found to have mistakes are no longer among
the clean ones.
"""


NETWORK = """\
## A network of tags on model 2

The model shipped before. Model 2 stays as it is. What it computes, the states of four layers and some
log-probabilities, is read by a network of {parameters:,} parameters (`lab/models/tag_network.py`). It is
trained alone, on two cores, after these have read the rows (`benchmarks/train_tags.py`): {rows}, and
synthetic ones. Real pairs are seen several times an epoch. The first networks knew nothing of swaps; the
chosen one goes on from the first of them, with rows in which most errors are swaps. In percent of the dev
pairs' places that are tagged where so many clean sentences are:

{trainings}

Through the runtime that users have, in percent: sentences of the dev pairs that are wholly right, of all
changed ones those that are right, and of the {clean:,} clean sentences those that tags change. The thresholds
were chosen on the same pairs and sentences (`nmspeller lab calibrate --edits`).
"""

THIRD = """\
## The third training, and means with model 2

From model 2 in integers, characters and tags together, with model 2 as the teacher of the characters wherever
its best character is right (`{recipe}`, {tokens:,.0f} M tokens, {seconds:,} s): J. Beside corpus text, right
sentences of the real sets get fresh errors of all kinds. Alone, J is worse than model 2: labels wear off what
model 2 knows. Means with it are better than J, and than model 2 in the first tables, whose clean sentences
had been read less. Characters are judged as above, at 0.4, 0.8 and 1.5 % of the clean sentences changed;
0.8 % is the limit of `balanced`.

{means}

Then the network of tags is trained on a mean that stays as it is (`model3_tags`). Of {kinds} dev pairs, so
many edits are right where their scores are above that of the n-th clean sentence of {clean:,} (which had not
yet been read again); J beside them.

{networks}

The mean of halves is chosen: at 0.8 % it is the best for characters, and its tags find more than those on
the other mean, with half of the training. Through the runtime, as in the section before, after sentences in
which the new model found true mistakes were taken out of the clean ones ({read:,} are left):
"""
PLACES = (2, 4, 8, 25)
EDITS = ("edits", "clean_edits")


def main() -> None:
    match sys.argv[1:]:
        case ["--third", records, model]:
            write_figures("model3", {**read_figures("model3"), "third": third(Path(records), Path(model))})
        case ["--network", out, model, *others]:
            found = network(Path(out), Path(model), [Path(other) for other in others])
            write_figures("model3", {**read_figures("model3"), "network": found})
        case ["--second", logs]:
            write_figures("model3", {**read_figures("model3"), "second": second(Path(logs))})
        case [records]:
            write_figures("model3", {**read_figures("model3"), **figures(read_records(Path(records)))})
    write_page("model3", page(read_figures("model3")))


def second(logs: Path) -> dict[str, Any]:
    """The record of the second training, and what `mix` said of each mean."""
    rows = {}
    for path in sorted(logs.glob("*.log"), key=lambda path: -float(path.stem)):
        share = float(path.stem)
        figure, characters, tags = re.fullmatch(
            r".+?B ([\d.]+) (\{.+?\}) (\{.+\})", path.read_text("utf-8").strip()
        ).groups()  # type: ignore[union-attr]
        rows[f"{share:g} C + {1 - share:g} start"] = {
            "chosen_by": float(figure),
            **ast.literal_eval(characters),
            **ast.literal_eval(tags),
        }
    return {"training": json.loads((logs / "train.json").read_text("utf-8")), "rows": rows}


def third(records: Path, model: Path) -> dict[str, Any]:
    """The joint training, its means with model 2, the networks on two of them, and what the last gives."""
    mixes = json.loads((records / "mix.json").read_text("utf-8"))
    means = {
        name.replace("A", "J").replace("B", "model 2"): {
            share: {each: figure[each] for each in (*MEANS, "native", "revisions")}
            for share, figure in found["characters"].items()
        }
        for name, found in mixes.items()
    }
    networks = {}
    for path in sorted(records.glob("*/judged.json")):
        judged = json.loads(path.read_text("utf-8"))["tags"]
        training = json.loads((path.parent / "train.json").read_text("utf-8"))
        networks[path.parent.name] = {"training": training, "found": _found_at(judged)}
    return {
        "training": json.loads((records / "joint" / "train.json").read_text("utf-8")),
        "means": means,
        "networks": networks,
        "kinds": judged["kinds"],
        "clean": len((records / "clean0.txt").read_text("utf-8").splitlines()),
        **_shipped(model),
    }


def _found_at(judged: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Right edits of each kind with a score above that of the n-th clean sentence, for each n of PLACES."""
    found: dict[str, dict[str, int]] = {}
    for kind in TAGGED:
        edits, alarms = (
            [edit for edit in found_edits if edit.kind == kind and edit.possible]
            for found_edits in ([PossibleEdit(**each) for each in judged[name]] for name in EDITS)
        )
        scores = sorted((alarm.score for alarm in alarms), reverse=True)
        sure = {edit.sentence: edit.score for edit in edits if edit.right}.values()
        found[kind] = {
            str(place): sum(score > (scores[place] if place < len(scores) else 0.0) for score in sure)
            for place in PLACES
        }
    return found


def network(out: Path, model: Path, others: Sequence[Path]) -> dict[str, Any]:
    """The records of the network's training and of others, and what its thresholds gave."""
    weights = load_file(out / "tags.safetensors")
    return {
        "trainings": [json.loads((folder / "train.json").read_text("utf-8")) for folder in (out, *others)],
        "parameters": sum(array.size for array in weights.values()),
        **_shipped(model),
    }


def _shipped(model: Path) -> dict[str, Any]:
    """What the calibration of a model says of its tags."""
    policy = json.loads((model / "policy.json").read_text("utf-8"))
    return {
        "tags": policy["calibration"]["tags"],
        "clean_sentences": policy["calibration"]["clean_sentences"],
        "thresholds": {
            level: {kind: least[kind] for kind in TAGGED} for level, least in policy["levels"].items()
        },
    }


def read_records(path: Path) -> dict[str, Any]:
    """The contents of RECORDS, by path.

    Raises:
        InputError: one of them is absent.
    """
    if path.is_dir():
        found = {
            name: json.loads((path / name).read_text("utf-8")) for name in RECORDS if (path / name).is_file()
        }
    else:
        content = path.read_bytes()
        found = json.loads(lzma.decompress(content) if path.suffix == ".xz" else content)
    absent = [name for name in RECORDS if not isinstance(found.get(name), dict)]
    if absent:
        raise InputError(f"{path} has no {', '.join(absent)}; finish the training first.")
    return {name: found[name] for name in RECORDS}


def figures(records: Mapping[str, Any]) -> dict[str, Any]:
    """What the page needs of the records: a row for model 2, each mix and the quantised model."""
    a, b, quantised = (records[f"runs/{name}/train.json"] for name in ("a", "b", "qat"))
    mixes = records["runs/mean/mix.json"]
    best = max(mixes, key=lambda name: mixes[name]["chosen_by"])
    titles = {"1 A + 0 B": f"A: {_training(a)}", "0 A + 1 B": f"B: {_training(b)}"}
    rows = [_row("model 2, in floats", records["model2.json"])]
    order = sorted(mixes, key=lambda name: (name not in titles, name != "1 A + 0 B", name))
    for name in order:
        title = titles.get(name, name)
        rows.append(_row(f"**{title}**, chosen" if name == best else title, mixes[name]))
    rows.append(_row(f"quantised: {_training(quantised)}", records["judged.json"]))
    return {"kinds": records["judged.json"]["tags"]["kinds"], "rows": rows}


def _training(record: Mapping[str, Any]) -> str:
    return f"`{record['recipe']}` ({record['tokens'] / 1e6:,.0f} M tokens, {record['seconds']:,} s)"


def _row(title: str, judged: Mapping[str, Any]) -> dict[str, Any]:
    wanted = (*MEANS, *SETS, *CHANGED)
    characters = {share: {name: judged["characters"][share][name] for name in wanted} for share in SHARES}
    row = {"title": title, "chosen_by": judged["chosen_by"], "characters": characters}
    tags = judged.get("tags")
    if tags is None:
        return row
    target = {name: tags["target"].get(name) for name in (*KINDS, "changed_right")}
    return {
        **row,
        "tags": {**target, "clean_by_tags": tags["clean_by_tags"], "clean_by_all": tags["clean_by_all"]},
        "thresholds": tags["thresholds"],
    }


def page(found: Mapping[str, Any]) -> str:
    return "\n".join(part.rstrip() + "\n" for part in _parts(found))


def _parts(found: Mapping[str, Any]) -> Iterator[str]:
    yield HEAD
    rows: Sequence[Mapping[str, Any]] = found["rows"]
    head = ["", "macro", *SETS, "SIGHAN", "ECSpell", "own clean changed", "native clean changed"]
    for share in SHARES:
        lines = []
        for row in rows:
            figure = row["characters"][share]
            lines.append(
                [
                    row["title"],
                    *(f"{figure[name]:.1f}" for name in ("macro", *SETS, "sighan", "ecspell")),
                    *(f"{figure[name]:.1f} %" for name in CHANGED),
                ]
            )
        yield CHARACTERS.format(share=share.replace("%", " %")) + "\n" + table(head, lines)
    counted = ", ".join(f"{found['kinds'][kind]:,} {kind}" for kind in KINDS)
    tagged = [
        [
            row["title"],
            *(_percent(row["tags"][name], 1) for name in (*KINDS, "changed_right")),
            *(_percent(row["tags"][name], 2) for name in ("clean_by_tags", "clean_by_all")),
            f"{row['chosen_by']:.2f}",
        ]
        for row in rows
        if "tags" in row
    ]
    head = ["", *KINDS, "changed and right", "clean changed by tags", "by all", "chosen by"]
    yield TAGS.format(counted=counted) + "\n" + table(head, tagged)
    if "second" in found:
        yield _second(found["second"])
    if "network" in found:
        yield _network(found["network"])
    if "third" in found:
        yield _third(found["third"])


def _third(found: Mapping[str, Any]) -> str:
    names = ("macro", "native", "revisions", "sighan", "ecspell")
    head = ["", *(f"{name} at {share}" for share in ("0.4 %", "0.8 %", "1.5 %") for name in names)]
    means = [
        [name, *(f"{figures[share][each]:.1f}" for share in figures for each in names)]
        for name, figures in found["means"].items()
    ]
    networks = [
        [
            f"`{name}`",
            f"{network['training']['tokens'] / 1e6:,.0f} M",
            *(" / ".join(str(count) for count in network["found"][kind].values()) for kind in TAGGED),
        ]
        for name, network in found["networks"].items()
    ]
    training = found["training"]
    text = THIRD.format(
        **{**training, "tokens": training["tokens"] / 1e6},
        means=table(head, means).rstrip(),
        kinds=", ".join(f"{count} {kind}" for kind, count in found["kinds"].items()),
        clean=found["clean"],
        networks=table(
            ["", "tokens", *(f"{kind}, n = {' / '.join(map(str, PLACES))}" for kind in TAGGED)], networks
        ).rstrip(),
        read=found["clean_sentences"],
    )
    return text + "\n" + _through_the_runtime(found)


def _second(found: Mapping[str, Any]) -> str:
    training, characters = found["training"], ("macro", "native", "revisions", "sighan", "ecspell")
    best = max(found["rows"], key=lambda name: found["rows"][name]["chosen_by"])
    rows = [
        [
            f"**{name}**, chosen" if name == best else name,
            *(f"{row[each]:.1f}" for each in characters),
            *(_percent(row["target"][each], 1) for each in (*KINDS, "changed_right")),
            *(_percent(row[each], 2) for each in ("clean_by_tags", "clean_by_all")),
            f"{row['chosen_by']:.2f}",
        ]
        for name, row in found["rows"].items()
    ]
    head = ["", "macro", "native", "revisions", "SIGHAN", "ECSpell", *KINDS, "changed and right",
            "clean changed by tags", "by all", "chosen by"]  # fmt: skip
    text = SECOND.format(**{**training, "tokens": training["tokens"] / 1e6})
    return text + "\n" + table(head, rows)


def _network(found: Mapping[str, Any]) -> str:
    chosen = found["trainings"][0]
    names = list(chosen["dev"])
    trainings = [
        [
            ", ".join(
                [f"{training['rows'][name]:,} {name}" for name in SYNTHETIC if name in training["rows"]]
                + ["chosen"] * (training is chosen)
            ),
            f"{(training.get('start', 0) + training['tokens']) / 1e6:.1f} M",
            f"{training['seconds'] / 60:.0f}",
            *(f"{training['dev'][name]:.1f}" if name in training["dev"] else "–" for name in names),
        ]
        for training in found["trainings"]
    ]
    real = (f"{count:,} {name}" for name, count in chosen["rows"].items() if name not in SYNTHETIC)
    text = NETWORK.format(
        parameters=found["parameters"],
        rows=", ".join(real),
        trainings=table(["synthetic rows", "tokens seen", "minutes", *names], trainings).rstrip(),
        clean=found["clean_sentences"],
    )
    return text + "\n" + _through_the_runtime(found)


def _through_the_runtime(found: Mapping[str, Any]) -> str:
    rows = [
        [
            f"`{level}`",
            *(_percent(figures[kind], 1) for kind in (*KINDS, "changed_right")),
            _percent(figures["clean_changed"], 2),
            *(_threshold(found["thresholds"][level][kind]) for kind in TAGGED),
        ]
        for level, figures in found["tags"]["levels"].items()
    ]
    head = ["", *KINDS, "changed and right", "clean changed", *(f"least, {kind}" for kind in TAGGED)]
    return table(head, rows)


def _threshold(least: float) -> str:
    return "never" if least > 1 else f"{least:.3f}"


def _percent(figure: float | None, digits: int) -> str:
    return "–" if figure is None else f"{figure:.{digits}f} %"


if __name__ == "__main__":
    main()
