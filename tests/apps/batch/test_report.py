"""The figures in docs/scale.md are those of docs/results/data/batch.json."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def test_the_page_shows_the_figures_of_the_run(monkeypatch):
    results = ROOT / "docs" / "results" / "data" / "batch.json"
    if not results.exists():
        pytest.skip("nothing was measured yet")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "batch_report", raising=False)
    from batch_report import BEGIN, END, figures

    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    shown = page.split(BEGIN)[1].split(END)[0].strip()
    assert shown == figures(json.loads(results.read_text(encoding="utf-8")))
