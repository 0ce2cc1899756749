"""The page of what training cost is what its logs say."""

import shutil
from pathlib import Path

from nmspeller.evaluation.training_page import LOGS, steady_speed, write_training_page

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def test_compilation_does_not_count_as_speed():
    entries = [{"tokens": 10 * n, "seconds": 100 + 2.0 * n} for n in range(1, 6)]
    assert steady_speed(entries) == 5.0


def test_the_published_page_is_up_to_date(tmp_path):
    others = (
        "shipped_variants",
        "averages",
        "bf16_peak",
        "bench_train",
        "mixes",
        "rounding",
        "narrowing",
        "third",
        "glances",
    )
    for name in (*LOGS.values(), *others):
        for path in RESULTS.glob(f"{name}.json*"):
            shutil.copy(path, tmp_path)
    page = write_training_page(tmp_path)
    assert page.read_text(encoding="utf-8") == (RESULTS / "training.md").read_text(encoding="utf-8")
