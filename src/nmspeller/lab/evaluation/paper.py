"""The rows of the paper's tables, read from configs/table1.yaml and table2.yaml: models, recipes and figures.

Haiyun Yang: Block the Label and Noise: An N-Gram Masked Speller for Chinese Spell Checking, arXiv
2305.03314 (2023). table1 is its Table 2, table2 its Table 3; what its Tables 4 and 5 add on n-grams is in the
rows of the masked spellers. Trained on SIGHAN and Wang271K, from BERT-wwm (DCN: RoBERTa-wwm, SpellGCN:
Google's BERT).

The recalls show how many erroneous sentences were counted: those of the simplified sets, with 地 and 得 kept
in the reference of SIGHAN13. SpellGCN and DCN were tested on other copies of the sets, so their rows are not
quite comparable with the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from nmspeller.lab.configs import TABLES, read_table
from nmspeller.lab.configs.parsing import from_mapping
from nmspeller.lab.models import config

CITATION = "arXiv 2305.03314"
SPELLERS = ("bert", "spellgcn", "dcn", "phmospell", "realise", "dgspeller")
NGRAMS = ("none", *config.NGRAMS)

LEAK_RECIPES = ("masked_only_no_wang", "masked_only", "masked_only_wang2018")
"""Without Wang271K, with its pairs, and with the confusion set that was published with it."""

Figures = tuple[float, float, float]


@dataclass(frozen=True)
class PaperRow:
    """What the paper prints for a row: sentence-level precision, recall and F1, in percent.

    title: its name for the speller.
    gaining: n-grams with a better correction F1 than no masking (its Table 5), for a masked speller.
    other_ngrams: correction F1 of the n-grams that are not the row's own (its Table 4).
    """

    title: str
    detection: Figures
    correction: Figures
    gaining: tuple[str, ...] = ()
    other_ngrams: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ExperimentRow:
    """One row: a speller as it is trained for one test set, and the paper's figures."""

    name: str
    recipe: str
    model: Mapping[str, Any]
    paper: PaperRow

    @property
    def speller(self) -> str:
        return str(self.model["speller"])

    @property
    def test_set(self) -> str:
        return self.name.partition("-")[0]

    @property
    def ngram(self) -> str:
        return str(self.model["masking"]["ngram"]) if "masking" in self.model else "none"

    @property
    def settings(self) -> dict[str, Any]:
        return settings(self.model)


def settings(model: Mapping[str, Any]) -> dict[str, Any]:
    """What a model sets besides its speller and masking, such as PHMOSpell's weights."""
    return {name: value for name, value in model.items() if name not in ("speller", "masking")}


@cache
def rows(table: str) -> tuple[ExperimentRow, ...]:
    """The rows of table1 or table2."""
    return tuple(_row(name, values) for name, values in read_table(table).items())


def all_rows() -> list[ExperimentRow]:
    return [row for table in TABLES for row in rows(table)]


def find_row(speller: str, test_set: str, *, masked: bool) -> ExperimentRow | None:
    """The paper's row of a speller on a test set, with or without masking."""
    return next(
        (
            row
            for row in all_rows()
            if (row.speller, row.test_set, row.ngram != "none") == (speller, test_set, masked)
        ),
        None,
    )


def display_name(speller: str, *, masked: bool) -> str:
    """The paper's name of a speller, such as NM-BERT."""
    row = find_row(speller, "sighan15", masked=masked)
    return row.paper.title if row else f"NM-{speller}" if masked else speller


def figures(
    speller: str, ngram: str, test_set: str, model_settings: Mapping[str, Any] | None = None
) -> tuple[float | None, ...]:
    """The paper's six figures of a speller with an n-gram, detection first; None where it has none.

    model_settings: with these, only a row trained with the same ones counts; the paper has one head.
    """
    row = find_row(speller, test_set, masked=ngram != "none")
    # Where no n-gram gains, the paper does not name the one of its row.
    named = row is not None and ngram == row.ngram and ngram in ("none", *row.paper.gaining)
    given = {name: value for name, value in (model_settings or {}).items() if name != "head"}
    if row and named and (not given or row.settings == given):
        return (*row.paper.detection, *row.paper.correction)
    return (*(None,) * 5, row.paper.other_ngrams.get(ngram) if row else None)


def _row(name: str, values: Mapping[str, Any]) -> ExperimentRow:
    printed = {key: value for key, value in values.items() if key not in ("model", "recipe")}
    return ExperimentRow(name, values["recipe"], values["model"], from_mapping(PaperRow, printed, name))
