"""The page on model 3, from records of a training."""

import json
import lzma

import pytest

import model3
from nmspeller.errors import InputError


def judged(chosen_by, macro, tags=True):
    names = (*model3.MEANS, *model3.SETS, *model3.CHANGED)
    shares = {
        share: {**dict.fromkeys(names, 50.0), "macro": macro, "threshold": 0.5} for share in model3.SHARES
    }
    found = {"chosen_by": chosen_by, "characters": {**shares, "0.8%": {}}}
    if tags:
        found["tags"] = {
            "thresholds": {"repeated": 0.4, "foreign": 0.6, "missing": 0.7, "confidence": 0.5},
            "target": {"extra": 71.0, "missing": 42.0, "swap": 33.0, "changed": 60.0, "changed_right": 92.5},
            "clean_by_tags": 0.08,
            "clean_by_all": 0.45,
            "kinds": {"extra": 1344, "missing": 86, "swap": 47},
            "edits": [{"text": "句"}],
        }
    return found


def training(recipe, tokens, seconds):
    return {"recipe": recipe, "seconds": seconds, "tokens": tokens}


RECORDS = {
    "model2.json": judged(60.0, 71.2, tags=False),
    "judged.json": judged(64.0, 74.4),
    "runs/mean/mix.json": {
        "0 A + 1 B": judged(63.0, 73.1),
        "0.35 A + 0.65 B": judged(63.5, 73.2),
        "0.5 A + 0.5 B": judged(64.5, 74.6),
        "1 A + 0 B": judged(62.0, 73.3),
    },
    "runs/a/train.json": training("model3_a", 210_400_000, 832),
    "runs/b/train.json": training("model3_b", 99_000_000, 1401),
    "runs/qat/train.json": training("model3_qat", 50_000_000, 300),
}


def test_every_training_is_a_row_in_order_and_the_best_mean_is_marked():
    page = model3.page(model3.figures(RECORDS))
    section = page.split("## ")[1]
    rows = [line.split(" | ")[:2] for line in section.splitlines() if line.startswith("| ")][2:]
    assert rows == [
        ["| model 2, in floats", "71.2"],
        ["| A: `model3_a` (210 M tokens, 832 s)", "73.3"],
        ["| B: `model3_b` (99 M tokens, 1,401 s)", "73.1"],
        ["| 0.35 A + 0.65 B", "73.2"],
        ["| **0.5 A + 0.5 B**, chosen", "74.6"],
        ["| quantised: `model3_qat` (50 M tokens, 300 s)", "74.4"],
    ]
    assert page.count("at 0.4 % of clean") == page.count("at 1.5 % of clean") == 1


def test_tags_have_a_table_without_the_models_that_have_none():
    page = model3.page(model3.figures(RECORDS))
    section = page.split("## Missing")[1]
    assert "1,344 extra, 86 missing, 47 swap" in section
    assert "| 71.0 % | 42.0 % | 33.0 % | 92.5 % | 0.08 % | 0.45 % | 64.00 |" in section
    assert "model 2" not in section


def test_sentences_of_the_records_are_left_out():
    assert "句" not in json.dumps(model3.figures(RECORDS), ensure_ascii=False)


def test_records_are_read_from_a_folder_or_one_file(tmp_path):
    for name, content in RECORDS.items():
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).write_text(json.dumps(content), "utf-8")
    packed = tmp_path / "records.json.xz"
    packed.write_bytes(lzma.compress(json.dumps({**RECORDS, "stage0.jsonl": []}).encode()))
    assert model3.read_records(tmp_path / "folder") == model3.read_records(packed) == RECORDS
    (tmp_path / "folder" / "judged.json").unlink()
    with pytest.raises(InputError, match=r"has no judged\.json"):
        model3.read_records(tmp_path / "folder")


def test_the_network_of_tags_stands_beside_the_trainings_that_were_not_chosen():
    dev = {"extra at 0.2%": 62.1, "missing, average precision": 32.6}
    other = {"rows": {"edits_native": 843, "synthetic": 56233}, "tokens": 7e6, "seconds": 937, "dev": dev}
    rows = {"edits_native": 843, "swapped": 24000, "synthetic": 112858}
    one = {**other, "start": 7e6, "rows": rows, "dev": {**dev, "swapped at 0.2%": 35.1}}
    level = {"extra": 58.14, "missing": 4.65, "swap": 0.0, "changed_right": 87.93, "clean_changed": 0.12}
    thresholds = {"repeated": 0.9037, "foreign": 0.8769, "missing": 0.9577, "swapped": 2.0}
    found = {
        "trainings": [one, other],
        "parameters": 1478786,
        "tags": {"levels": {"balanced": level}},
        "clean_sentences": 2538,
        "thresholds": {"balanced": thresholds},
    }
    page = model3._network(found)
    assert "843 edits_native, and\nsynthetic ones" in page
    assert "| 112,858 synthetic, 24,000 swapped, chosen | 14.0 M | 16 | 62.1 | 32.6 | 35.1 |" in page
    assert "| 56,233 synthetic | 7.0 M | 16 | 62.1 | 32.6 | – |" in page
    wanted = "| `balanced` | 58.1 % | 4.7 % | 0.0 % | 87.9 % | 0.12 % | 0.904 | 0.877 | 0.958 | never |"
    assert wanted in page


def edit(kind, score, sentence, *, right=False, still=0.1, filled=0.9):
    return {"kind": kind, "score": score, "sentence": sentence, "right": right, "still": still,
            "filled": filled, "start": 1, "stop": 1, "text": "得"}  # fmt: skip


def test_edits_are_counted_that_are_surer_than_clean_ones(tmp_path):
    clean = [edit("missing", score, number) for number, score in enumerate((0.9, 0.8, 0.7, 0.6, 0.5))]
    right = [edit("missing", score, number, right=True) for number, score in enumerate((0.95, 0.75, 0.55))]
    unsure = [
        edit("missing", 0.99, 7, right=True, still=0.8),
        edit("missing", 0.99, 8, right=True, filled=0.1),
    ]
    judged = {"tags": {"edits": [*right, *unsure, edit("missing", 0.97, 9)], "clean_edits": clean,
                       "kinds": {"missing": 3}}}  # fmt: skip
    for name in ("joint", "mean_50"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "judged.json").write_text(json.dumps(judged))
        (tmp_path / name / "train.json").write_text(json.dumps(training(f"of_{name}", 195_000_000, 177)))
    names = (*model3.MEANS, "native", "revisions")
    shares = {share: dict.fromkeys(names, 61.5) for share in ("0.4%", "0.8%", "1.5%")}
    (tmp_path / "mix.json").write_text(json.dumps({"0.5 A + 0.5 B": {"characters": shares}}))
    (tmp_path / "clean0.txt").write_text("一\n二\n")
    levels = {"balanced": dict.fromkeys(model3.TAGGED, 0.5)}
    figures = {"extra": 1.0, "missing": 2.0, "swap": 3.0, "changed_right": 91.5, "clean_changed": 0.12}
    calibration = {"tags": {"levels": {"balanced": figures}}, "clean_sentences": 2529}
    policy = {"levels": levels, "calibration": calibration}
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    found = model3.third(tmp_path, tmp_path)
    assert found["networks"]["mean_50"]["found"]["missing"] == {"2": 2, "4": 3, "8": 3, "25": 3}
    page = model3.page({**model3.figures(RECORDS), "third": found})
    assert "| 0.5 J + 0.5 model 2 | 61.5 |" in page
    assert "| `mean_50` | 195 M | 0 / 0 / 0 / 0 | 0 / 0 / 0 / 0 | 2 / 3 / 3 / 3 | 0 / 0 / 0 / 0 |" in page
    assert "2,529 are left" in page
