"""Pairs whose sides differ in length or order, missing, extra and swapped characters, and their dev parts.

Which pairs no training sees: those whose target's CRC-32 is a multiple of the set's `dev`; of revisions,
those whose repository's is. Exam questions about style are left out, and of what learners' correctors add or
drop beyond words, a quarter is kept: about half of it is no certain error.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nmspeller.errors import InputError
from nmspeller.lab.data.alignment import align
from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.leak_filter import LeakFilter
from nmspeller.lab.data.prepared import PairArrays
from nmspeller.lab.data.splits import Split, is_dev
from nmspeller.text.vocabulary import Vocabulary

DEV_FILE = "edits_dev.json"
NATIVE = frozenset(("nasgec_media", "nasgec_thesis", "midu2022", "ctc2021", "qspell250k"))
_LEFT_OUT = frozenset(("nacgec", "nasgec_exam", "fcgec", "fcgec_train_part"))
_DEV = {"edits_learners": 40, "edits_learners_word": 20}
_SPARINGLY = 4  # one in so many


class EditPair(NamedTuple):
    """A sentence, how it should be, and what is wrong in it: missing, extra, swap or mixed."""

    source: str
    target: str
    kind: str


class EditSplit(NamedTuple):
    """What is learnt from and what is measured on."""

    training: list[EditPair]
    dev: list[EditPair]


def read_edit_sets(table: DataTable, leaks: LeakFilter) -> dict[str, EditSplit]:
    """`edits_revisions`, `edits_native(_word)`, `edits_learners(_word)` and two sets `…_clean`."""
    splits: dict[str, EditSplit] = {}
    for line in _lines(table, "edits_revisions"):
        source, target, kind, repository, _ = line.split("\t")
        dev = is_dev(repository, table["edits_revisions"].dev)
        _add(splits, "edits_revisions", EditPair(source, target, kind), dev)
    for line in _lines(table, "edits_gec"):
        source, target, kind, group, origin = line.split("\t")
        name = ("edits_native" if origin in NATIVE else "edits_learners") + "_word" * (group == "word")
        if origin in _LEFT_OUT or (name == "edits_learners" and _number(source) % _SPARINGLY):
            continue
        dev = is_dev(target, _DEV.get(name, table["edits_gec"].dev))
        _add(splits, name, EditPair(source, target, kind), dev)
    for name in ("edits_revisions", "edits_gec"):
        one = table[name]
        for line in dict.fromkeys(_lines(table, name, clean=True)):
            dev = is_dev(line, one.clean_dev or one.dev)
            _add(splits, f"{name}_clean", EditPair(line, line, "clean"), dev)
    return {
        name: EditSplit(*([pair for pair in part if not _leaks(pair, leaks)] for part in split))
        for name, split in splits.items()
    }


def keep_apart(
    pairs: Mapping[str, Split], edits: Mapping[str, EditSplit]
) -> tuple[dict[str, Split], dict[str, EditSplit]]:
    """Both without training pairs that have a sentence of any dev set: the same essays are in several."""
    measured = {side for split in pairs.values() for pair in split.dev for side in pair}
    measured |= {side for split in edits.values() for pair in split.dev for side in pair[:2]}
    kept_pairs = {
        name: split._replace(training=[pair for pair in split.training if measured.isdisjoint(pair)])
        for name, split in pairs.items()
    }
    kept_edits = {
        name: split._replace(training=[pair for pair in split.training if measured.isdisjoint(pair[:2])])
        for name, split in edits.items()
    }
    return kept_pairs, kept_edits


def edit_arrays(pairs: Sequence[EditPair], vocabulary: Vocabulary) -> PairArrays:
    """Sources with the labels and tags of their alignment."""
    aligned = [align(pair.source, pair.target) for pair in pairs]
    lengths = [len(pair.source) for pair in pairs]
    return PairArrays(
        vocabulary.encode("".join(pair.source for pair in pairs)).astype(np.uint16),
        vocabulary.encode("".join(labels for labels, _ in aligned)).astype(np.uint16),
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.array([tag for _, tags in aligned for tag in tags], np.uint8),
    )


def write_dev(splits: Mapping[str, EditSplit], folder: Path) -> None:
    """The dev parts as text, since targets have lengths of their own."""
    text = json.dumps({name: split.dev for name, split in splits.items()}, ensure_ascii=False)
    (folder / DEV_FILE).write_text(text + "\n", encoding="utf-8")


def read_dev(path: Path) -> dict[str, list[EditPair]]:
    """The sets of the file that `write_dev` wrote.

    Raises:
        InputError: the file cannot be read, or was not written by it.
    """
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {name: [EditPair(*pair) for pair in pairs] for name, pairs in stored.items()}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is no {DEV_FILE}; `lab data prepare` writes one.") from error


def _add(splits: dict[str, EditSplit], name: str, pair: EditPair, dev: bool) -> None:
    split = splits.setdefault(name, EditSplit([], []))
    (split.dev if dev else split.training).append(pair)


def _leaks(pair: EditPair, leaks: LeakFilter) -> bool:
    return leaks.leaks(pair.source) or leaks.leaks(pair.target)


def _lines(table: DataTable, name: str, *, clean: bool = False) -> list[str]:
    """The lines of a set, or of its clean sentences; none where the files are absent."""
    files = table[name].clean_files if clean else table[name].files
    paths = [table.folder / file for file in files]
    return [line for path in paths if path.is_file() for line in path.read_text("utf-8").splitlines()]


def _number(text: str) -> int:
    return zlib.crc32(f"{text}\t".encode("utf-8", "surrogatepass"))
