"""The paper's experiments: which spellers are trained, how they are measured, and the file of each run.

One training gives two runs of a masked speller: with the masking layer off in prediction (the paper's star),
and on.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.evaluation import metrics, outcomes, paper, suites
from nmspeller.lab.evaluation.epoch_log import EpochLog
from nmspeller.lab.evaluation.example_sentences import CASES
from nmspeller.lab.evaluation.outcomes import PAPER_SETS
from nmspeller.lab.models.config import MaskingConfig
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.training.device_trainer import Trainee
from nmspeller.lab.training.finetune import finetune, finetune_together
from nmspeller.lab.training.prediction import correct_sentences
from nmspeller.lab.training.recipes import Recipe, read_recipe, without_absent
from nmspeller.lab.training.start import start_model
from nmspeller.lab.training.trainer import Report

EXPERIMENTS = ("table1", "table2", "ngrams", "identity", "seeds", "leak", "paper_setting")
DEV_SETS = ("sighan13_train_dev", "sighan14_train_dev", "sighan15_train_dev")


@dataclass(frozen=True)
class Job:
    """One training: a model as its config describes it, a recipe by name or file, and a seed."""

    model: Mapping[str, Any]
    recipe: str
    seed: int

    @property
    def speller(self) -> str:
        return str(self.model["speller"])

    @property
    def ngram(self) -> str:
        """The masked n-gram: trigram, or trigram-identity where the masking layer starts as the identity."""
        if "masking" not in self.model:
            return "none"
        masking = self.model["masking"]
        init = masking.get("init", MaskingConfig.init)
        return str(masking["ngram"]) if init == MaskingConfig.init else f"{masking['ngram']}-{init}"

    @property
    def variants(self) -> tuple[str, ...]:
        """When the masking layer is active in what is measured; one empty string without masking."""
        return ("",) if self.ngram == "none" else ("always", "training")

    @property
    def name(self) -> str:
        settings = [str(value) for value in paper.settings(self.model).values()]
        return "-".join([self.speller, *settings, self.ngram, Path(self.recipe).stem, str(self.seed)])


def jobs(
    experiment: str, seeds: Sequence[int], *, recipe: str | None = None, all_models: bool = False
) -> list[Job]:
    """The trainings of an experiment, each once, seed after seed.

    recipe: instead of the one that each of the paper's rows names.
    all_models: for `ngrams`, all six spellers (the paper's Table 5) instead of BERT alone (its Table 4).

    Raises:
        InputError: the experiment is unknown.
    """
    if experiment not in EXPERIMENTS:
        raise InputError(f"unknown experiment {experiment!r}; choose {', '.join(EXPERIMENTS)}.")
    if experiment == "ngrams":
        models = list(_with_every_ngram(paper.all_rows() if all_models else _bert_rows()))
    elif experiment == "identity":
        models = list(_with_every_ngram(_bert_rows(), init="identity"))
    elif experiment == "seeds":
        models = [(row.model, row.recipe) for row in _bert_rows()]
    elif experiment == "leak":
        models = [({"speller": "bert"}, name) for name in ([recipe] if recipe else paper.LEAK_RECIPES)]
    elif experiment == "paper_setting":
        models = [({**row.model, "head": "linear"}, experiment) for row in _bert_rows()]
    else:
        models = [(row.model, row.recipe) for row in paper.rows(experiment)]
    found = [Job(_trained(model), recipe or own, seed) for seed in seeds for model, own in models]
    return list({job.name: job for job in found}.values())


def run_job(
    job: Job,
    *,
    data: Path,
    start: Path | None,
    out: Path,
    modalities: Path | None = None,
    sets: Sequence[str] | None = None,
    report: Report | None = None,
) -> None:
    """Train one speller, measure it with its masking layer off and on, and write a JSON for each.

    modalities: a checkpoint of pretrained phonetic and graphic encoders, for the models that have them.
    sets: the evaluation sets to measure on; all of the data folder if not given.
    """
    if (out / f"{job.name}.json").exists():
        return
    prepared = Prepared(data)
    plan, _ = without_absent(read_recipe(job.recipe), prepared)
    started = time.perf_counter()
    training = _Training(job, plan, prepared, start=start, out=out, modalities=modalities, sets=sets)
    finetune(
        training.model,
        plan,
        prepared,
        out=training.folder,
        seed=job.seed,
        report=report,
        after_epoch=training.measure_epoch,
    )
    training.write_records(time.perf_counter() - started)


def run_jobs_together(
    jobs: Sequence[Job],
    *,
    data: Path,
    start: Path | None,
    out: Path,
    sets: Sequence[str] | None = None,
    reports: Callable[[Job], Report] | None = None,
) -> None:
    """The same for several jobs of one recipe that is `on_device`: they are trained at once.

    Raises:
        InputError: the recipe is not, or there is more than one.
    """
    jobs = [job for job in jobs if not (out / f"{job.name}.json").exists()]
    if not jobs:
        return
    if len({job.recipe for job in jobs}) > 1:
        raise InputError("trainings that run together have one recipe; start one experiment for each.")
    prepared = Prepared(data)
    plan, _ = without_absent(read_recipe(jobs[0].recipe), prepared)
    started = time.perf_counter()
    trainings = [_Training(job, plan, prepared, start=start, out=out, sets=sets) for job in jobs]
    trainees = [
        Trainee(
            each.model, each.job.seed, each.folder, reports(each.job) if reports else None, each.measure_epoch
        )
        for each in trainings
    ]
    finetune_together(trainees, plan, prepared)
    seconds = time.perf_counter() - started
    for training in trainings:
        training.write_records(seconds)


class _Training:
    """A job while it is trained: its model, and what is measured of it and written."""

    def __init__(
        self,
        job: Job,
        plan: Recipe,
        prepared: Prepared,
        *,
        start: Path | None,
        out: Path,
        modalities: Path | None = None,
        sets: Sequence[str] | None = None,
    ) -> None:
        self.job, self.prepared, self.out, self.folder = job, prepared, out, out / job.name
        self.model = start_model(
            job.model,
            start,
            vocabulary=prepared.vocabulary,
            tables=prepared.folder / "characters.npz",
            modalities=modalities,
            dropout=plan.dropout,
            seed=job.seed,
        )
        self.sets = _safe_sets(prepared) if sets is None else sets
        self.epochs = EpochLog(self.folder)
        self.inputs = {
            "recipe": Path(job.recipe).stem,
            "start": start.name if start else None,
            "modalities": modalities.name if modalities else None,
            "settings": paper.settings(job.model),
            **asdict(plan),
        }

    def measure_epoch(self, epoch: int) -> None:
        counts = {
            active: count_outcomes(self.model, self.prepared, active, self.sets)
            for active in self.job.variants
        }
        self.epochs.add(epoch, counts)

    def write_records(self, seconds: float) -> None:
        """Measure each variant of the speller, whose training took so long, and write what was found."""
        name = self.job.name
        for active in self.job.variants:
            # The starred file is written last: its presence means that the job is done.
            target = self.out / (f"{name}-always.json" if active == "always" else f"{name}.json")
            record = measure(
                self.model, self.prepared, self.job, active=active, seconds=seconds, sets=self.sets
            )
            record["config"] = self.inputs
            record["epochs"] = self.epochs.read(active)
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
    """The scores, outcomes and edits of a trained speller on the sets, as plain values."""
    correct = _corrector(model, prepared, active)
    predictions = suites.predict(correct, sets)
    found = outcomes.summary(predictions)
    found["outcomes"][outcomes.DEV] = _dev_letters(prepared, correct)
    return {
        "name": f"{job.name}-{active}" if active else job.name,
        "model": job.speller,
        "ngram": job.ngram,
        "active": active,
        "seed": job.seed,
        "description": dict(job.model),
        "data_hashes": prepared.manifest["sources"],
        "seconds": seconds,
        "metrics": {name: scores.as_dict() for name, scores in suites.score(predictions).items()},
        **found,
        "edits": {name: suites.edits_of(name, answers) for name, answers in predictions.items()},
        "cases": [
            {"input": wrong, "wanted": right, "answer": answer}
            for (wrong, right), answer in zip(CASES, correct([wrong for wrong, _ in CASES]), strict=True)
        ],
    }


def count_outcomes(
    model: SpellerModel, prepared: Prepared, active: str, sets: Sequence[str]
) -> dict[str, dict[str, int]]:
    """What a speller does with SIGHAN's dev parts and the paper's sets: how often each letter occurs."""
    correct = _corrector(model, prepared, active)
    found = {outcomes.DEV: _dev_letters(prepared, correct)}
    for name, answers in suites.predict(correct, [name for name in sets if name in PAPER_SETS]).items():
        found[name] = outcomes.letters(suites.outcomes(name, answers))
    return {name: dict(Counter(letters)) for name, letters in found.items()}


def _corrector(model: SpellerModel, prepared: Prepared, active: str) -> Callable[[list[str]], list[str]]:
    """The speller on plain sentences, with its masking layer active as asked."""
    if model.semantic.masking is not None:
        model.semantic.masking.config = replace(model.semantic.masking.config, active=active)
    return lambda sentences: correct_sentences(model, prepared.vocabulary, sentences)


def _safe_sets(prepared: Prepared) -> list[str]:
    """The evaluation sets of which the prepared data is known to contain nothing.

    Raises:
        InputError: the data folder has another one, which a training on this data may have seen.
    """
    filtered = prepared.manifest.get("evaluation_sets", [])
    if unsafe := [name for name in suites.names() if name not in filtered]:
        raise InputError(
            f"{prepared.folder} was prepared without {', '.join(unsafe)} and may contain sentences of them; "
            "prepare it again."
        )
    return suites.names()


def _dev_letters(prepared: Prepared, correct: Callable[[list[str]], list[str]]) -> str:
    """What happened to each sentence of SIGHAN's dev parts."""
    names = [name for name in DEV_SETS if name.removesuffix("_dev") not in prepared.absent]
    pairs = [pair for name in names for pair in prepared.pair_texts(name)]
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    return outcomes.letters(metrics.compare(sources, targets, correct(sources)))


def _bert_rows() -> list[paper.ExperimentRow]:
    return [row for row in paper.rows("table1") if row.speller == "bert"]


def _with_every_ngram(
    rows: Iterable[paper.ExperimentRow], **masking_options: str
) -> Iterable[tuple[Mapping[str, Any], str]]:
    for row in rows:
        if row.ngram == "none":
            for ngram in paper.NGRAMS:
                masking = {} if ngram == "none" else {"masking": {"ngram": ngram, **masking_options}}
                yield {**row.model, **masking}, row.recipe


def _trained(model: Mapping[str, Any]) -> dict[str, Any]:
    """A row's model as it is trained, whether or not masking stays active in prediction."""
    if "masking" not in model:
        return dict(model)
    return {**model, "masking": {**model["masking"], "active": "training"}}
