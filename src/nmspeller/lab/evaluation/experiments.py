"""The paper's experiments: which spellers are trained, how they are measured, and the file each run leaves.

One training serves two rows: the masking layer may be off in prediction (the paper's star) or on.
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.evaluation import suites
from nmspeller.lab.evaluation.cases import CASES
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.training.finetune import finetune
from nmspeller.lab.training.prediction import correct_sentences
from nmspeller.lab.training.recipes import read_recipe
from nmspeller.lab.training.start import start_model
from nmspeller.lab.training.trainer import Report

NGRAMS = ("unigram", "left-bigram", "right-bigram", "trigram")

# The n-gram that the paper's Table 4 marks as best on SIGHAN15, where its gains are largest.
BEST_NGRAM = {
    "bert": "trigram",
    "spellgcn": "right-bigram",
    "dcn": "left-bigram",
    "phmospell": "left-bigram",
    "realise": "left-bigram",
    "dgspeller": "trigram",
}


@dataclass(frozen=True)
class Job:
    """One training: a speller, with or without masking, and a seed."""

    speller: str
    ngram: str | None
    seed: int

    @property
    def name(self) -> str:
        return f"{self.speller}-{self.ngram or 'none'}-{self.seed}"

    def description(self) -> dict[str, Any]:
        """The model as the registry reads it; packed batches want no dropout on the attention."""
        masking = {"masking": {"ngram": self.ngram, "active": "training"}} if self.ngram else {}
        return {"speller": self.speller, "encoder": {"attention_dropout": 0.0}, **masking}


def jobs(experiment: str, seeds: Sequence[int]) -> list[Job]:
    """The trainings of an experiment, in the order in which they are worth having."""

    def with_and_without(spellers: Iterable[str]) -> list[Job]:
        return [
            Job(name, ngram, seed)
            for seed in seeds
            for name in spellers
            for ngram in (None, BEST_NGRAM[name])
        ]

    if experiment == "ngrams":
        return [Job("bert", ngram, seed) for seed in seeds for ngram in (None, *NGRAMS)]
    if experiment == "seeds":
        return with_and_without(["bert"])
    if experiment == "table1":
        return with_and_without(["bert", "spellgcn", "dcn"])
    if experiment == "table2":
        return with_and_without(["realise", "phmospell", "dgspeller"])
    raise InputError(f"no experiment {experiment!r}; choose table1, table2, ngrams, seeds or cases.")


def run_job(
    job: Job,
    *,
    recipe: str,
    data: Path,
    start: Path | None,
    out: Path,
    modalities: Path | None = None,
    sets: Sequence[str] = tuple(suites.SETS),
    keep: bool = False,
    report: Report | None = None,
) -> None:
    """Train one speller, measure it with its masking layer off and on, and write a JSON for each.

    modalities: a checkpoint of pretrained phonetic and graphic encoders, for the models that have them.
    keep: keep the trained checkpoint too.
    """
    finished = out / f"{job.name}.json"
    if finished.exists():
        return
    prepared = Prepared(data)
    started = time.perf_counter()
    model = start_model(
        job.description(),
        start,
        vocabulary=prepared.vocabulary,
        tables=data / "characters.npz",
        modalities=modalities,
        seed=job.seed,
    )
    plan = read_recipe(recipe)
    finetune(model, plan, prepared, out=out / job.name, seed=job.seed, report=report)
    trained = time.perf_counter() - started
    if keep:
        checkpoint.save(out / job.name, model, prepared.vocabulary.tokens)
    for active in ("always", "training") if job.ngram else ("",):
        # The starred file is written last: its presence means that the job is done.
        target = finished if active != "always" else out / f"{job.name}-always.json"
        record = measure(model, prepared, job, active=active, seconds=trained, sets=sets)
        record["config"] = {"recipe": recipe, "start": start.name if start else None, **asdict(plan)}
        write_whole(target, (json.dumps(record, ensure_ascii=False) + "\n").encode())


def measure(
    model: SpellerModel,
    prepared: Prepared,
    job: Job,
    *,
    active: str,
    seconds: float,
    sets: Sequence[str],
) -> dict[str, Any]:
    """Everything that a trained speller shows, as plain values."""
    if model.semantic.masking is not None:
        model.semantic.masking.config = replace(model.semantic.masking.config, active=active)

    def correct(sentences: list[str]) -> list[str]:
        return correct_sentences(model, prepared.vocabulary, sentences)

    predictions = suites.predict(correct, sets)
    return {
        "name": f"{job.name}-{active}" if active else job.name,
        "model": job.speller,
        "ngram": job.ngram or "none",
        "active": active,
        "seed": job.seed,
        "data_hashes": prepared.manifest["sources"],
        "seconds": seconds,
        "metrics": {name: scores.as_dict() for name, scores in suites.score(predictions).items()},
        "edits": {name: suites.edits_of(name, answers) for name, answers in predictions.items()},
        "cases": [
            {"input": wrong, "wanted": right, "answer": answer}
            for (wrong, right), answer in zip(CASES, correct([wrong for wrong, _ in CASES]), strict=True)
        ],
    }
