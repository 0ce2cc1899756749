"""Which pairs are learnt from, which are measured on, and which are left out."""

import shutil

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.data import splits
from nmspeller.lab.data.datasets import DataSet, DataTable, Groups
from nmspeller.lab.data.invented_names import SURNAMES, sentences_with_names
from nmspeller.lab.data.leak_filter import LeakFilter
from nmspeller.lab.data.pairs import Pair, write_pairs
from nmspeller.lab.data.splits import is_dev, read_sets
from nmspeller.lab.data.subsampling import sample_down


def numbered(count: int) -> list[Pair]:
    return [Pair(f"这是第{number}句话麻。", f"这是第{number}句话吗。") for number in range(count)]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data folder with one set, its clean sentences, and nothing of our own."""
    (tmp_path / "pairs").mkdir()
    write_pairs(tmp_path / "pairs" / "some.tsv", numbered(200))
    monkeypatch.setattr(splits, "PLAIN", tmp_path / "plain")
    return tmp_path


def table(data, **sets):
    """A table of these sets alone; `some` if none are given."""
    return DataTable(data, sets or {"some": pair_set("some")})


def pair_set(name, **columns):
    return DataSet(files=(f"pairs/{name}.tsv",), role="train", licence="ours", **columns)


def test_clean_lines_are_pairs_without_an_error(data):
    lines = [f"第{number}句没有错。" for number in range(100)]
    (data / "pairs" / "some.clean.txt").write_text("\n".join(lines), encoding="utf-8")
    found = read_sets(table(data), LeakFilter([lines[0]]))
    clean = found["some_clean"]
    assert {*clean.training, *clean.dev} == {Pair(line, line) for line in lines[1:]}
    assert clean.dev
    assert clean.left_out["left out as leaks"] == 1


def test_our_own_sentences_are_the_set_plain(data):
    (data / "plain").mkdir()
    (data / "plain" / "slang.txt").write_text("冲鸭，打工人！\n", encoding="utf-8")
    plain = read_sets(table(data), LeakFilter([]))["plain"]
    assert [*plain.training, *plain.dev] == [Pair("冲鸭，打工人！", "冲鸭，打工人！")]


def test_no_sentence_of_a_dev_set_is_learnt_from_in_another(data):
    shutil.copy(data / "pairs" / "some.tsv", data / "pairs" / "other.tsv")
    sets = {"some": pair_set("some", dev=5), "other": pair_set("other", dev=7)}
    found = read_sets(table(data, **sets), LeakFilter([]))
    measured = {pair.target for split in found.values() for pair in split.dev}
    assert measured
    for split in found.values():
        assert measured.isdisjoint(pair.target for pair in split.training)
        assert split.left_out["in a dev set"]


def test_what_belongs_together_is_on_one_side(data):
    projects = [f"project{number // 10}" for number in range(200)]
    (data / "meta.tsv").write_text("".join(f"kind\t{name}\n" for name in projects), encoding="utf-8")
    grouped = table(data, some=pair_set("some", dev=5, groups=Groups("meta.tsv", 2)))
    split = read_sets(grouped, LeakFilter([]))["some"]
    assert {*split.dev} == {
        pair for pair, name in zip(numbered(200), projects, strict=True) if is_dev(name, 5)
    }
    (data / "meta.tsv").write_text("kind\tproject\n", encoding="utf-8")
    with pytest.raises(InputError, match="copy both again"):
        read_sets(grouped, LeakFilter([]))


def test_pronouns_and_particles_are_sampled_down():
    pronouns = [Pair(f"她是第{number}个。", f"他是第{number}个。") for number in range(300)]
    particles = [Pair(f"第{number}个的跑。", f"第{number}个地跑。") for number in range(300)]
    others = numbered(50)
    keep = {"pronouns": 0.0, "particles": 0.1}
    assert sample_down([*pronouns, *others], keep) == others
    assert 10 < len(sample_down(particles, keep)) < 60
    assert sample_down([*pronouns, *particles], {}) == [*pronouns, *particles]
    with pytest.raises(InputError, match="'nouns', which is unknown; use pronouns"):
        sample_down(others, {"nouns": 0.5})


def test_queries_with_names_are_sampled_down(monkeypatch):
    monkeypatch.setattr("nmspeller.lab.data.subsampling._words", lambda: frozenset(["电影"]))
    words = [Pair(f"店影第{number}集", f"电影第{number}集") for number in range(50)]
    named = [Pair(f"李茗第{number}集", f"李铭第{number}集") for number in range(300)]
    assert sample_down(words, {"outside_words": 0.15}) == words
    assert 15 < len(sample_down(named, {"outside_words": 0.15})) < 90


def test_names_are_replaced_throughout_their_sentence():
    line = "记者王建国报道，昨天下午会议在北京举行。王建国说他们的工作很顺利。天气很好很好很好很好很好。"
    made = list(sentences_with_names([line], seed=0))
    assert len(made) == 2
    assert all("王建国" not in sentence for sentence in made)
    assert made[0].endswith("报道，昨天下午会议在北京举行。")
    assert made[0][2] in SURNAMES
    assert made == list(sentences_with_names([line], seed=0))
    [rare] = sentences_with_names(["记者王㛃𬀩报道，昨天下午会议在北京举行。"], seed=0)
    assert "㛃" not in rare
    assert not list(sentences_with_names(["他们都高兴地说今天的天气真是非常好。"], seed=0))
