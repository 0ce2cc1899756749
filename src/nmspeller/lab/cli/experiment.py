"""`nmspeller lab experiment`: the paper's experiments, which need the `train` extra."""

from functools import partial
from pathlib import Path

import typer

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.cli.extra import need_training
from nmspeller.lab.cli.training import MODALITIES, START, draw_losses


def experiment(
    name: str = typer.Argument(
        ...,
        metavar="NAME",
        help="table1, table2 (the paper's Tables 2 and 3), ngrams, identity (its masking layer starts as the"
        " identity), seeds, leak, paper_setting (the settings of its appendix).",
    ),
    out: Path = typer.Option(..., help="The folder of the runs; those already there are not repeated."),
    data: Path | None = typer.Option(None, help="The folder that `nmspeller lab data prepare` wrote."),
    start: Path | None = START,
    modalities: Path | None = MODALITIES,
    seeds: str = typer.Option("0,1,2", help="One training each."),
    recipe: str | None = typer.Option(
        None, help="A recipe's name or file, instead of the one that each row of the paper's tables names."
    ),
    all_models: bool = typer.Option(False, help="For ngrams: all six spellers (Table 5), not BERT alone."),
    side_by_side: int = typer.Option(
        1,
        min=1,
        help="How many trainings share the device: as processes; for paper_setting, as stacked weights.",
    ),
    results: Path | None = typer.Option(
        None, help="The folder of results.json and cases.json; OUT/results if not given."
    ),
) -> None:
    """Run one of the paper's experiments and add its runs to the results.

    benchmarks/paper_pages.py of the repository writes the pages.
    """
    results = results or out / "results"
    need_training()
    from nmspeller.lab.evaluation import experiments
    from nmspeller.lab.training.recipes import read_recipe
    from nmspeller.lab.training.side_by_side import run_side_by_side

    jobs = experiments.jobs(name, _numbers(seeds, "--seeds"), recipe=recipe, all_models=all_models)
    # A mistake is reported before anything starts.
    plans = [read_recipe(name) for name in dict.fromkeys(job.recipe for job in jobs)]
    if data is None:
        raise InputError("give --data, a folder that `nmspeller lab data prepare` wrote.")
    out.mkdir(parents=True, exist_ok=True)
    for job in jobs:
        (out / f"{job.name}.failure.txt").unlink(missing_ok=True)
    if all(stage.loop.on_device for plan in plans for stage in plan.stages):
        for first in range(0, len(jobs), side_by_side):
            experiments.run_jobs_together(jobs[first : first + side_by_side], data=data, start=start, out=out)
        _add_results(out, results)
        return
    work = partial(experiments.run_job, data=data, start=start, out=out, modalities=modalities)
    failures = run_side_by_side(work, jobs, side_by_side)
    for number, reason in failures.items():
        typer.echo(f"{jobs[number].name} failed: {reason.strip().splitlines()[-1]}", err=True)
        write_whole(out / f"{jobs[number].name}.failure.txt", reason.encode())
    if len(failures) < len(jobs):
        _add_results(out, results)
    if failures:
        raise InputError(f"{len(failures)} of {len(jobs)} trainings failed; see *.failure.txt in {out}.")


def _add_results(out: Path, results: Path) -> None:
    """Add the runs of a folder to the results."""
    from nmspeller.lab.evaluation.results_file import add_cases, add_results, read_runs

    add_results(results / "results.json", read_runs(out))
    add_cases(results / "cases.json", out)
    typer.echo(results)
    draw_losses(out)


def _numbers(given: str, option: str) -> list[int]:
    try:
        return [int(number) for number in given.split(",")]
    except ValueError:
        raise InputError(f"{option} is {given!r}; give numbers with commas between, such as 0,1,2.") from None
