"""Write docs/results/gpu_speed.md from docs/results/gpu_speed.json.

    python -m nmspeller.lab.evaluation.speed FOLDER --device cuda --texts FILE --sentences N --json

prints one object on a machine with a GPU; the file holds a list of such objects, each with the name of its
texts as `texts`.
"""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def page(runs: list[dict[str, Any]]) -> str:
    rows = [
        f"| {run['device']} | {run['texts']} | {run['characters'] / run['sentences']:.1f} "
        f"| {run['sentences']:,} | {run['model']['sentences_per_second']:,.0f} "
        f"| {run['model']['sentences_per_second'] * run['characters'] / run['sentences']:,.0f} "
        f"| {_pipelines(run)} |"
        for run in runs
    ]
    return "\n".join(
        [
            "# Speed on a GPU",
            "",
            "Written by `python benchmarks/gpu_report.py` from gpu_speed.json, which holds what",
            "`python -m nmspeller.lab.evaluation.speed` printed: checkpoints of the shipped model's size",
            "(weights do not matter for speed), in half precision and packed batches. Model: from ids to",
            "best ids. Pipeline: from strings to edits, in so many processes that share the GPU. Sets with",
            "fewer sentences are read again and again.",
            "",
            "| device | texts | characters a sentence | sentences | model, sentences/s | model, characters/s "
            "| pipeline, sentences/s |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _pipelines(run: dict[str, Any]) -> str:
    found = [f"{each['sentences_per_second']:,.0f} ({each['workers']})" for each in run["pipeline"]]
    return ", ".join(found) or "not measured"


if __name__ == "__main__":
    runs = json.loads((RESULTS / "gpu_speed.json").read_text("utf-8"))
    (RESULTS / "gpu_speed.md").write_text(page(runs), "utf-8")
    print(page(runs))
