import json
from pathlib import Path

from nmspeller.runtime.policy import Level, Policy, Thresholds

LEVELS = {
    Level.CAREFUL: Thresholds(0.9, 0.99, 0.3),
    Level.BALANCED: Thresholds(0.6, 0.8, 0.2),
    Level.THOROUGH: Thresholds(0.05, 0.1, 0.1),
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    policy = Policy(LEVELS, 100, 2, {"glance": {"careful": {"lost": 0.4}}})
    policy.write(tmp_path / "policy.json")
    assert Policy.read(tmp_path / "policy.json") == policy


def test_a_policy_from_before_there_were_glances_has_everything_read(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    Policy(LEVELS).write(path)
    content = json.loads(path.read_text("utf-8"))
    for thresholds in content["levels"].values():
        del thresholds["glance"]
    path.write_text(json.dumps(content), "utf-8")
    levels = Policy.read(path).levels
    assert {level: (each.explained, each.unexplained) for level, each in levels.items()} == {
        level: (each.explained, each.unexplained) for level, each in LEVELS.items()
    }
    assert [each.glance for each in levels.values()] == [0, 0, 0]
