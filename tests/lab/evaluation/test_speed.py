"""What the benchmark reads: a file as often as it takes, or sentences that are the same every time."""

from pathlib import Path

from nmspeller.lab.evaluation.speed import sentences_to_read


def test_a_short_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "texts"
    file.write_text("甲\n乙\t丙\n", "utf-8")
    assert sentences_to_read(5, file) == ["甲", "乙", "甲2", "乙2", "甲3"]


def test_synthetic_sentences_are_the_same_every_time_and_differ_from_each_other() -> None:
    made = sentences_to_read(1000, None)
    assert len(set(made)) == 1000
    assert {len(sentence.rstrip("0123456789")) for sentence in made} == set(range(27, 34))
    assert made[0] == "跑步半个小时以后才去公司上斑，公司决定在年底之前完成这个项目。"
    assert made[999] == "我最喜欢的是她做的红绕肉，我门去外国可以认识很多的人。4"
