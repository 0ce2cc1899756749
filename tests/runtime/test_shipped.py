"""What the shipped model must do whatever weights it has: few sentences that any good speller gets right."""

import subprocess
import sys
from itertools import pairwise

import pytest

from nmspeller import Speller
from nmspeller.lab.export.prefilter_calibration import prefilter_scores
from nmspeller.runtime.pipeline import SHIPPED, Pipeline
from nmspeller.runtime.policy import Level, Policy
from nmspeller.runtime.prefilter import THRESHOLDS, PrefilterThresholds
from nmspeller.runtime.rules import RULES


@pytest.fixture(scope="module")
def speller() -> Speller:
    return Speller(threads=1)  # tests run side by side


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("我门明天一起去学校。", "我们明天一起去学校。"),
        ("他每天早上六点起床去上斑。", "他每天早上六点起床去上班。"),
        ("我們一起去看電影，他門也去。", "我們一起去看電影，他們也去。"),
    ],
)
def test_plain_mistakes_are_corrected(speller: Speller, wrong: str, right: str) -> None:
    assert speller.correct(wrong) == right


@pytest.mark.parametrize(
    "text",
    [
        "今天天气很好，我们去公园散步。",
        "请运行 `pip install nmspeller`，然后打开 https://example.com/a?q=1 😀。",
        "The quick brown fox, 2024-01-01, 3.14%",
        "",
    ],
)
def test_what_is_right_stays(speller: Speller, text: str) -> None:
    assert speller.correct(text) == text


def test_nothing_but_its_rule_finds_something_in_an_example(speller: Speller) -> None:
    for name, rule in RULES.items():
        result = speller.check(rule.example.wrong, rules=[name])
        assert {edit.rule for edit in result.edits} | {hint.rule for hint in result.hints} == {name}
        assert result.text == (rule.example.right or rule.example.wrong)


def test_an_edit_is_the_same_at_every_level_and_as_confident_as_the_level_asks(speller: Speller) -> None:
    texts = ["助你开兴！", "大学生在工读期间便赚钱便读书。", "邻居们摆脱我写了这封信，帮我们假借这个问题。"]
    of_level = [
        [{(edit.offset, edit.target): edit for edit in correction.edits} for correction in corrections]
        for corrections in (speller.check_many(texts, level=level) for level in Level)
    ]
    for edits in zip(*of_level, strict=True):
        assert edits[-1]
        for some, more in pairwise(edits):
            assert all(some[place].reason == more[place].reason for place in some.keys() & more.keys())
    for level, results in zip(Policy.read(SHIPPED / "policy.json").levels.values(), of_level, strict=True):
        assert all(edit.confidence >= level.explained for edits in results for edit in edits.values())


def test_no_torch_is_loaded() -> None:
    program = (
        "import sys\nfrom nmspeller import Speller\nSpeller().check('我门')\n"
        "assert not {'torch', 'onnx', 'safetensors', 'transformers'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_each_model_file_is_small_enough_for_code_hosts() -> None:
    assert max(path.stat().st_size for path in SHIPPED.glob("*.onnx")) <= 100_000_000


def test_with_the_prefilter_plain_errors_are_still_corrected(speller: Speller) -> None:
    prefiltered = Speller(prefilter=True)
    for text in ("我门明天一起去学校。", "他每天早上六点起床去上斑。", "我們一起去看電影，他門也去。"):
        assert prefiltered.check(text) == speller.check(text)
        assert prefiltered.check(text).edits


def test_the_prefilter_skips_what_looks_right() -> None:
    pipeline, thresholds = Pipeline(SHIPPED, prefilter=True), PrefilterThresholds.read(SHIPPED / THRESHOLDS)
    texts = ["会议将于下周一上午九点在三楼会议室举行。", "会议将于下周一上午九点再三楼会议室举行。"]
    right, wrong = prefilter_scores(pipeline, texts).error_score.tolist()
    assert right < min(thresholds.levels.values()) <= max(thresholds.levels.values()) < wrong
