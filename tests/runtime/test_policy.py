import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from nmspeller import InputError
from nmspeller.runtime.policy import Level, Policy, Thresholds

LEVELS = {
    Level.CAREFUL: Thresholds(0.9, 0.99),
    Level.BALANCED: Thresholds(0.6, 0.8),
    Level.THOROUGH: Thresholds(0.05, 0.1),
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    policy = Policy(LEVELS, 100, 2, {"pairs": 7}, {"model.onnx": "0123"})
    policy.write(tmp_path / "policy.json")
    assert Policy.read(tmp_path / "policy.json") == policy


def test_a_policy_does_not_contain_the_prefilter_threshold(tmp_path: Path) -> None:
    levels = dict.fromkeys(Level, Thresholds(0.6, 0.8, 0.98, prefilter=0.3, repeated=0.4, foreign=0.7))
    Policy(levels).write(tmp_path / "policy.json")
    content = json.loads((tmp_path / "policy.json").read_text("utf-8"))
    replaced = {"explained": 0.6, "unexplained": 0.8, "unknown": 0.98}
    tagged = {"repeated": 0.4, "foreign": 0.7, "missing": 2.0, "swapped": 2.0}
    assert content["levels"]["careful"] == {**replaced, **tagged}


def written(path: Path, **values: Any) -> Path:
    """A policy.json with other thresholds at `balanced`."""
    Policy(LEVELS).write(path)
    content = json.loads(path.read_text("utf-8"))
    content["levels"]["balanced"] |= values
    path.write_text(json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize("name", [one.name for one in fields(Thresholds) if one.name != "prefilter"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, True, "0.5", None])
def test_a_threshold_that_is_no_confidence_is_an_error(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"policy\.json is not a policy \({name} is "):
        Policy.read(written(tmp_path / "policy.json", **{name: value}))


@pytest.mark.parametrize(
    ("name", "value"), [("explained", 0.91), ("explained", 0.04), ("unexplained", 1.5), ("unknown", 0.3)]
)
def test_levels_out_of_order_are_an_error(tmp_path: Path, name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"{name} is lower at a stricter level"):
        Policy.read(written(tmp_path / "policy.json", **{name: value}))


def test_levels_may_be_equal_and_a_threshold_may_be_out_of_reach(tmp_path: Path) -> None:
    levels = dict.fromkeys(Level, replace(LEVELS[Level.CAREFUL], unexplained=2))
    Policy(levels).write(tmp_path / "policy.json")
    assert Policy.read(tmp_path / "policy.json").levels == levels


@pytest.mark.parametrize("hashes", [[], "digits", {"model.onnx": 5}, None])
def test_hashes_that_are_none_are_an_error(tmp_path: Path, hashes: Any) -> None:
    path = written(tmp_path / "policy.json")
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "sha256": hashes}), "utf-8")
    with pytest.raises(InputError, match=r"policy\.json is not a policy"):
        Policy.read(path)
