"""Write docs/results/gpu_speed.md from docs/results/data/gpu_speed.json.

    python -m nmspeller.lab.evaluation.speed FOLDER --device cuda --texts FILE --sentences N -o json

prints one object on a machine with a GPU; the file holds a list of such objects, each with the name of its
texts as `texts`.
"""

from typing import Any

from page import read_figures, write_page


def page(runs: list[dict[str, Any]]) -> str:
    rows = [
        f"| {run['device']} | {run['texts']} | {run['characters'] / run['sentences']:.1f} "
        f"| {run['sentences']:,} | {run['model']['sentences_per_second']:,.0f} "
        f"| {run['model']['sentences_per_second'] * run['characters'] / run['sentences']:,.0f} "
        f"| {_yes(run['rules'])} | {_yes(run['prefilter'])} | {_pipelines(run)} |"
        for run in runs
    ]
    return "\n".join(
        [
            "# Speed on a GPU",
            "",
            "Written by `python benchmarks/gpu_report.py` from gpu_speed.json, which holds what",
            "`python -m nmspeller.lab.evaluation.speed` printed: the shipped model as a checkpoint, in",
            "half precision and packed batches. Model: from ids to best ids. Pipeline: from strings to",
            "edits, with tags and second readings as by default, in so many processes that share the GPU.",
            "Sets with fewer sentences are read again and again.",
            "",
            "| device | texts | characters a sentence | sentences | model, sentences/s | model, characters/s "
            "| rules | prefilter | pipeline, sentences/s |",
            "|---|---|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _yes(used: bool) -> str:
    return "yes" if used else "no"


def _pipelines(run: dict[str, Any]) -> str:
    found = [f"{each['sentences_per_second']:,.0f} ({each['workers']})" for each in run["pipeline"]]
    return ", ".join(found) or "not measured"


if __name__ == "__main__":
    text = page(read_figures("gpu_speed"))
    write_page("gpu_speed", text)
    print(text)
