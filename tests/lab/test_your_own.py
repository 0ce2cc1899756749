"""What docs/your-own.md says is tried out: a data set and a speller that learns from it are added."""

import re
from pathlib import Path

import pytest

from nmspeller.__main__ import run
from nmspeller.lab.data.encode import prepare
from nmspeller.lab.data.pairs import Pair, write_pairs
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.evaluation import suites
from nmspeller.lab.models import checkpoint, registry

PAGE = Path(__file__).parents[2] / "docs" / "your-own.md"
ROWS, SPELLER, CONFIG = re.findall(
    r"```(?:yaml|python)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)
SECRET = Pair("这一句话只有测试的时后才看得到", "这一句话只有测试的时候才看得到")
LETTERS = [Pair(f"第{number}天我门都很忙。", f"第{number}天我们都很忙。") for number in range(60)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that has nothing but the new sets; one training pair is of the test set."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "letters").mkdir()
    write_pairs(folder / "letters/train.tsv", [*LETTERS, SECRET])
    write_pairs(folder / "letters/test.tsv", [SECRET])
    (folder / "datasets.yaml").write_text(ROWS, encoding="utf-8")
    return folder


@pytest.fixture
def data(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NMSPELLER_DATA", str(folder))
    return folder


@pytest.fixture(scope="module")
def prepared(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    out = tmp_path_factory.mktemp("prepared")
    characters = sorted({*"".join(side for pair in (*LETTERS, SECRET) for side in pair)})
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]
    (out / "characters.txt").write_text("\n".join(tokens), encoding="utf-8")
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nmspeller.lab.data.noise_fitting.jieba_words", lambda: [("我们", 50), ("时候", 50)])
        prepare(folder, out / "characters.txt", out, say=said.append)
    # All that is missing is said once, before anything else.
    assert said[0] == f"not in {folder}, and left out:"
    assert sum("sighan/simplified/train13.tsv" in line for line in said) == 1
    assert not any("letters/" in line for line in said)
    return Prepared(out)


def test_a_set_that_is_added_is_learnt_from_and_measured_on(data: Path, prepared: Prepared) -> None:
    learnt, held_out = prepared.pair_texts("letters"), prepared.pair_texts("letters_dev")
    assert {*learnt, *held_out} == {*LETTERS}
    assert held_out
    assert prepared.manifest["pairs"]["letters"]["left out as leaks"] == 1
    assert suites.names() == prepared.manifest["evaluation_sets"] == ["letters_test"]


def test_a_speller_that_is_added_is_trained_on_it(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: dict[str, object] = {}
    exec(SPELLER, module)
    entry = eval(
        re.search(r"`\"deeper\": (Entry\(.*?\))`", PAGE.read_text("utf-8"))[1], {**vars(registry), **module}
    )
    monkeypatch.setitem(registry.SPELLERS, "deeper", entry)
    (tmp_path / "deeper.yaml").write_text(CONFIG, encoding="utf-8")
    out = str(tmp_path / "out")
    assert (
        run(["lab", "train", str(tmp_path / "deeper.yaml"), "--data", str(prepared.folder), "--out", out])
        == 0
    )
    model, _ = checkpoint.load(out)
    assert isinstance(model, module["DeeperSpeller"])


def test_a_recipe_goes_without_the_sets_that_nobody_has(
    prepared: Prepared, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = "encoder: {hidden: 32, layers: 1, heads: 2, intermediate: 32, positions: 160}"
    stage = "copies: {letters: 1, wang: 1}, synthetic: 9, batch_sentences: 16, loop: {precision: fp32}"
    (tmp_path / "bert.yaml").write_text(
        f"model: {{speller: bert, {sizes}}}\nrecipe: {{stages: [{{{stage}}}]}}\n", encoding="utf-8"
    )
    arguments = ["lab", "train", str(tmp_path / "bert.yaml"), "--data", str(prepared.folder)]
    assert run([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert f"{prepared.folder} lacks wang, corpus; training goes without." in capsys.readouterr().err
    assert run([*arguments, "--recipe", "fast", "--out", str(tmp_path / "other")]) == 2
    assert "choose another recipe" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("mine: {files: a.tsv, role: exam, licence: ours}", "mine.role is 'exam'"),
        ("mine: {files: a.tsv, role: test}", "mine has no licence; add it"),
        ("mine: {file: a.tsv, role: test, licence: ours}", "mine.file is unknown"),
        ("mine: {files: a.tsv, role: train, noise: loud, licence: ours}", "mine.noise is 'loud'"),
    ],
)
def test_a_mistake_in_the_table_is_reported_in_one_sentence(
    tmp_path: Path, row: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "datasets.yaml").write_text(row, encoding="utf-8")
    assert run(["lab", "data", "sets", "--data", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert str(tmp_path / "datasets.yaml") in error


def test_the_sets_are_listed_with_what_is_missing(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "data", "sets"]) == 0
    listed = capsys.readouterr().out
    assert "letters_test" in listed
    assert "letters/test.tsv" not in listed
    assert "cscd_ns/dev.tsv" in listed
