"""Thresholds of tags, chosen by what the runtime makes of dev pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.data.edit_sets import EditPair, read_dev
from nmspeller.lab.export.tag_proposals import FoundEdits, ScoredEdit, f_score
from nmspeller.lab.export.tag_thresholds import calibrate_tags, target_pairs
from nmspeller.runtime.edits import Change
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import TAGGED, Level, Policy, Thresholds
from nmspeller.runtime.reading import Part

POLICY = Policy({level: Thresholds(2.0, 2.0) for level in Level})


@dataclass(frozen=True)
class Scripted:
    """Makes the change that is written down for a text, from the threshold of its kind on."""

    script: dict[str, tuple[str, Change]]
    has_tags: bool = True
    window: int = 40

    def changes(self, parts: Sequence[Part], thresholds: Thresholds) -> list[tuple[Change, ...]]:
        written = (self.script.get(part.text) for part in parts)
        return [
            (found[1],) if found and found[1].confidence >= getattr(thresholds, found[0]) else ()
            for found in written
        ]


def scripted(script: dict[str, tuple[str, Change]], *, has_tags: bool = True) -> Pipeline:
    return cast(Pipeline, Scripted(script, has_tags))


def inserted(place: int, text: str, score: float) -> tuple[str, Change]:
    return "missing", Change(place, text, score, score, length=0)


def deleted(place: int, score: float, kind: str) -> tuple[str, Change]:
    return kind, Change(place, "", score, score, length=1)


NUMBERS = "一二三四五六七八九十"
# Of ten insertions the seventh is wrong; of deletions all are right.
SCRIPT = {
    **{f"第{n}次我觉很好": inserted(5, "得的"[n == "七"], 0.999 - 0.01 * i) for i, n in enumerate(NUMBERS)},
    **{f"第{n}次在在北京": deleted(3, 0.95, "repeated") for n in NUMBERS},
    **{f"第{n}次在很北京": deleted(4, 0.92, "foreign") for n in NUMBERS},
}
PAIRS = [
    *(EditPair(f"第{n}次我觉很好", f"第{n}次我觉得很好", "missing") for n in NUMBERS),
    *(EditPair(f"第{n}次在在北京", f"第{n}次在北京", "extra") for n in NUMBERS),
    *(EditPair(f"第{n}次在很北京", f"第{n}次在北京", "extra") for n in NUMBERS),
]


def test_each_level_makes_as_many_edits_as_its_share_of_right_ones_allows() -> None:
    policy = calibrate_tags(scripted(SCRIPT), POLICY, PAIRS, [])
    careful, balanced, thorough = (policy.levels[level] for level in Level)
    # 29 of 30 changed sentences are right with all ten insertions: too few for careful.
    assert careful.missing == pytest.approx(0.949, abs=1e-3)
    assert balanced.missing == thorough.missing == pytest.approx(0.909, abs=1e-3)
    for thresholds in (careful, balanced, thorough):
        assert thresholds.repeated == 0.95
        assert thresholds.foreign == 0.92
    report = policy.calibration["tags"]["levels"]["careful"]
    assert report == {"missing": 60.0, "extra": 100.0, "changed_right": 100.0, "clean_changed": 0.0}


def test_stricter_levels_are_stricter() -> None:
    levels = calibrate_tags(scripted(SCRIPT), POLICY, PAIRS, []).levels
    for kind in TAGGED:
        careful, balanced, thorough = (getattr(levels[level], kind) for level in Level)
        assert careful >= balanced >= thorough


def test_no_level_makes_edits_that_it_is_not_sure_enough_of() -> None:
    script = {f"第{n}次在在北京": deleted(3, 0.3, "repeated") for n in NUMBERS}
    pairs = [EditPair(f"第{n}次在在北京", f"第{n}次在北京", "extra") for n in NUMBERS]
    policy = calibrate_tags(scripted(script), POLICY, pairs, [])
    assert [policy.levels[level].repeated for level in Level] == [0.9, 0.7, 0.5]
    assert policy.calibration["tags"]["levels"]["thorough"]["extra"] == 0


def test_clean_sentences_raise_the_threshold_of_the_kind_that_changes_them() -> None:
    clean = ["他在很南京", "这里没有错误"]
    script = {**SCRIPT, clean[0]: deleted(2, 0.93, "foreign")}
    policy = calibrate_tags(scripted(script), POLICY, PAIRS, clean)
    assert policy.levels[Level.THOROUGH].foreign > 0.93
    assert policy.levels[Level.THOROUGH].repeated == 0.95
    assert policy.calibration["tags"]["levels"]["thorough"]["clean_changed"] == 0


def test_few_clean_sentences_may_be_changed() -> None:
    edits = [ScoredEdit(number, "missing", 0.8, True) for number in range(5)]
    alarms = [ScoredEdit(7, "missing", 0.95, False), ScoredEdit(7, "missing", 0.9, False)]
    for sentences, lowest in ((499, 2.0), (500, 0.8)):
        found = FoundEdits(edits, alarms, sentences, {"missing": 5})
        assert {each["missing"] for each in found.proposals(0.002)} == {lowest}


def test_the_kind_that_mends_most_of_its_errors_may_change_clean_sentences() -> None:
    edits = [ScoredEdit(number, "missing", 0.8 if number < 5 else 0.3, True) for number in range(9)]
    edits += [ScoredEdit(number, "swapped", 0.8, True) for number in range(9, 11)]
    alarms = [
        ScoredEdit(number, kind, score, False)
        for number, (kind, score) in enumerate([("missing", 0.9), ("missing", 0.5), ("swapped", 0.9)])
    ]
    [proposed] = FoundEdits(edits, alarms, 1_000, {"missing": 9, "swap": 2}).proposals(0.001)
    assert proposed == {"repeated": 2.0, "foreign": 2.0, "missing": 2.0, "swapped": 0.8}


def test_the_f_score_is_of_the_mean_over_the_kinds() -> None:
    figures = {"extra": 60.0, "missing": 30.0, "changed_right": 90.0}
    assert f_score(figures, 1.0) == pytest.approx(45.0)
    assert f_score(figures, 0.5) == pytest.approx(1.25 * 90 * 30 / (0.25 * 90 + 30))
    assert f_score({"changed_right": 0.0}, 0.5) == 0


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leave out --edits"):
        target_pairs(scripted({}, has_tags=False), {"edits_revisions": PAIRS})
    with pytest.raises(InputError, match="edits_native_word or edits_revisions"):
        target_pairs(scripted({}), {"edits_learners": PAIRS})
    path = tmp_path / "edits_dev.json"
    with pytest.raises(InputError, match="cannot be read"):
        read_dev(path)
    for content in ("[]", "{", '{"edits_revisions": [["短"]]}'):
        path.write_text(content, "utf-8")
        with pytest.raises(InputError, match="lab data prepare"):
            read_dev(path)
