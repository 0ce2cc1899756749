import json
from pathlib import Path

from nmspeller.runtime.policy import Level, Policy, Thresholds

LEVELS = {
    Level.CAREFUL: Thresholds(0.9, 0.99),
    Level.BALANCED: Thresholds(0.6, 0.8),
    Level.THOROUGH: Thresholds(0.05, 0.1),
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    policy = Policy(LEVELS, 100, 2, {"pairs": 7})
    policy.write(tmp_path / "policy.json")
    assert Policy.read(tmp_path / "policy.json") == policy


def test_a_policy_does_not_contain_the_prefilter_threshold(tmp_path: Path) -> None:
    levels = dict.fromkeys(Level, Thresholds(0.6, 0.8, 0.98, prefilter=0.3, repeated=0.4, foreign=0.7))
    Policy(levels).write(tmp_path / "policy.json")
    content = json.loads((tmp_path / "policy.json").read_text("utf-8"))
    replaced = {"explained": 0.6, "unexplained": 0.8, "unknown": 0.98}
    tagged = {"repeated": 0.4, "foreign": 0.7, "missing": 2.0}
    assert content["levels"]["careful"] == {**replaced, **tagged}
