"""Own sentences, a vocabulary of their characters, a tiny encoder to train, a tiny random model to export.

Nothing of the package is imported before a test asks for it.
"""

import gc
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from nmspeller import Speller
    from nmspeller.lab.data.prepared import Prepared

# How long an example takes depends on what else the machine does.
settings.register_profile("nmspeller", deadline=None)
settings.load_profile("nmspeller")

ASSETS = Path(__file__).parent / "assets"
PARAGRAPHS = (
    "小猫在院子里追着蝴蝶跑来跑去。邻居家的孩子看见了，笑得很开心！他们一起在树下坐了一会儿。",
    "今天早上下了一场大雨，路上到处是水。我们只好坐公共汽车去学校。",
    "老师说明天要考试，大家都在认真地复习。你准备好了吗？我还有两课没有看完。",
    "爷爷种的西瓜又大又甜，每年夏天我们都回去吃。他总是说，种地要有耐心。",
    "图书馆里非常安静，只听得见翻书的声音。她找了很久，终于找到了那本旧书。",
    "火车经过一座长长的桥，桥下是宽阔的大江。远处的山上还有白色的雪。",
    "妈妈在厨房里做饭，香味一直飘到门口。弟弟跑过来问，晚饭什么时候能吃？",
    "公司决定从下个月开始，每个星期五下午可以在家工作。大家听到这个消息都很高兴。",
)
MISSPELT = (
    ("我门明天去公园玩。", "我们明天去公园玩。"),
    ("他在也不想回家了。", "他再也不想回家了。"),
    ("这个问题以经解决了。", "这个问题已经解决了。"),
    ("请做下来喝一杯茶。", "请坐下来喝一杯茶。"),
    ("他跑的很快，我追不上。", "他跑得很快，我追不上。"),
    ("今天的天汽真好。", "今天的天气真好。"),
    ("我坐天看了一部电影。", "我昨天看了一部电影。"),
    ("她的声音很好听。", "她的声音很好听。"),
)
EVALUATED = (("那只小狗很可受。", "那只小狗很可爱。"), ("我们都喜欢唱歌。", "我们都喜欢唱歌。"))
SIZES = {
    "hidden": 32,
    "layers": 2,
    "heads": 4,
    "intermediate": 64,
    "positions": 160,
    "dropout": 0.1,
    "attention_dropout": 0.1,
}


# What tests need beside Python and the core, by folder or file, and by the fixtures that they ask for.
PLACES = {
    "apps/batch": "server",
    "apps/check/test_check_hostile_places.py": "server",
    "apps/check/test_check_interrupted.py": "server",
    "apps/check/test_check_long_texts.py": "server",
    "apps/check/test_check_on_a_terminal.py": "server",
    "apps/check/test_check_review.py": "server",
    "apps/check/test_check_with_the_shipped_model.py": "server",
    "apps/documents/test_hostile_text.py": "slow",
    "apps/documents/test_mutations.py": "slow",
    "apps/documents/test_round_trip.py": "slow",
    "apps/http/test_clients.py": "server",
    "apps/http/test_connections.py": "server",
    "apps/http/test_files.py": "server",
    "apps/http/test_fuzz.py": "slow",
    "apps/http/test_parts.py": "slow",
    "apps/http/test_process.py": "server",
    "apps/http/test_processes.py": "server",
    "apps/http/test_real.py": "server",
    "apps/http/test_stopping.py": "server",
    "apps/lsp": "server",
    "apps/test_doors.py": "server",
    "apps/web": "browser",
    "benchmarks/test_dev_tags.py": "train",
    "benchmarks/test_model3.py": "train",
    "benchmarks/test_packing.py": "train",
    "benchmarks/test_paper_setting.py": "train",
    "benchmarks/test_torch_fitting.py": "train",
    "benchmarks/test_train_tags.py": "train",
    "benchmarks/test_tune_prefilter.py": "train",
    "lab/cli": "train",
    "lab/export": "train",
    "lab/models": "train",
    "lab/test_your_own.py": "train",
    "lab/training": "train",
    "runtime/test_names.py": "slow",
    "runtime/test_prefilter.py": "train",
    "runtime/test_torch_engine.py": "train",
    "test_offline.py": "server",
}
FIXTURES = {
    "browser": "browser",
    "fakes": "server",
    "libreoffice": "office",
    "little_prepared": "train",
    "real_server": "server",
}

# These begin, longest first, then the others with a marker: with a long file at the end, all workers but one
# would have nothing to do.
LONGEST = (
    "apps/http/test_process.py",
    "apps/http/test_stopping.py",
    "apps/web/test_page.py",
    "apps/check/test_check_review.py",
    "test_offline.py",
    "benchmarks/test_paper_pages.py",
    "lab/training/test_trainer.py",
    "apps/documents/test_hostile_text.py",
    "apps/http/test_processes.py",
    "apps/lsp/test_robustness.py",
    "apps/check/test_check_on_a_terminal.py",
    "apps/web/test_documents.py",
    "apps/check/test_check_hostile_places.py",
    "lab/cli/test_training.py",
    "apps/web/test_rules.py",
    "runtime/test_torch_engine.py",
    "apps/documents/test_mutations.py",
    "apps/test_doors.py",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import tests that `-m` excludes by their place: torch alone takes five seconds."""
    place = collection_path.relative_to(Path(__file__).parent).as_posix()
    if (marker := PLACES.get(place)) is None or not config.option.markexpr:
        return None
    others = {name.partition(":")[0]: False for name in config.getini("markers")}
    return None if eval(config.option.markexpr, {**others, marker: True}) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        file = item.path.relative_to(here)
        places = (file.as_posix(), *(folder.as_posix() for folder in file.parents))
        fixtures = getattr(item, "fixturenames", ())
        for marker in {*map(PLACES.get, places), *map(FIXTURES.get, fixtures)} - {None}:
            item.add_marker(marker)
    ranks = {here / name: rank for rank, name in enumerate(LONGEST)}
    names = {*PLACES.values(), *FIXTURES.values()}
    marked = {item.path for item in items if any(mark.name in names for mark in item.iter_markers())}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks) + (item.path not in marked)))


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the modules that are loaded now: it would look through all of torch
    whenever a server starts.
    """
    gc.freeze()


def pytest_configure() -> None:
    """Texts are tested in English, whatever the locale of the person who runs the tests."""
    for name in ("LC_ALL", "LC_MESSAGES"):
        os.environ.pop(name, None)
    os.environ["LANG"] = "C.UTF-8"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line how many tests a clone without the corpora cannot run."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    absent = sum("data folder" in reason or "no backbone" in reason for reason in reasons)
    if absent:
        tests = "1 test" if absent == 1 else f"{absent} tests"
        terminalreporter.write_line(f"{tests} skipped: they need the corpora, see docs/training.md")


def make_data(folder: Path, repeats: int = 12) -> Path:
    """A data folder with every set that preparation asks for."""
    from nmspeller.lab.data.datasets import DataTable
    from nmspeller.lab.data.pairs import write_pairs

    for one in DataTable.read(folder).values():
        for place in (*one.files, *one.same_text) if one.format == "pairs" else ():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            write_pairs(folder / place, EVALUATED if one.is_measured else MISSPELT)
    (folder / "confusion").mkdir()
    (folder / "confusion" / "wang2018.txt").write_text("学:雪\n明:名\n", encoding="utf-8")
    (folder / "corpus").mkdir()
    lines = [PARAGRAPHS[number % len(PARAGRAPHS)] for number in range(1500 + 30 * repeats)]
    (folder / "corpus" / "part.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def make_vocabulary(path: Path) -> Path:
    sentences = [*PARAGRAPHS, *(text for pair in (*MISSPELT, *EVALUATED) for text in pair)]
    characters = sorted(set("".join(sentences)))
    path.write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]) + "\n", encoding="utf-8"
    )
    return path


def use_few_words(patch: pytest.MonkeyPatch) -> None:
    """Spare the noise model the hundred thousand words of the dictionary."""
    words = [("学校", 50), ("雪桥", 5), ("明天", 50), ("一起", 40), ("一气", 4), ("大家", 30), ("答家", 3)]
    patch.setattr("nmspeller.lab.data.noise_fitting.jieba_words", lambda *_: words)


@pytest.fixture
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    use_few_words(monkeypatch)


@pytest.fixture(scope="session")
def little_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder of own sentences."""
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def little_prepared(little_data: Path, tmp_path_factory: pytest.TempPathFactory) -> "Prepared":
    """What `data prepare` makes of it, with meaningless character tables."""
    from nmspeller.lab.data.encode import prepare
    from nmspeller.lab.data.prepared import Prepared
    from nmspeller.lab.models.tables import CharacterTables

    folder = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        use_few_words(patch)
        prepare(little_data, make_vocabulary(folder / "characters.txt"), folder)
    made = Prepared(folder)
    CharacterTables.random(len(made.vocabulary)).save(folder / "characters.npz")
    return made


@pytest.fixture(scope="session")
def little_start(little_prepared: "Prepared", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of a tiny untrained BERT."""
    from nmspeller.lab.models import checkpoint
    from nmspeller.lab.training.start import start_model

    folder = tmp_path_factory.mktemp("start")
    vocabulary = little_prepared.vocabulary
    sizes = {**SIZES, "vocabulary": len(vocabulary), "mask_id": vocabulary.mask}
    checkpoint.save(folder, start_model({"speller": "bert", "encoder": sizes}, None), vocabulary.tokens)
    return folder


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """What integers are fitted to."""
    return [
        "我们去外国可以认识很多的人。",
        "他在这里，她不在那里。",
        "对不起，再也不会了！",
        "以后可以介绍。",
    ] * 8


@pytest.fixture(scope="session")
def source_folder() -> Path:
    """A model as transformers writes it."""
    return ASSETS / "tiny_bert"


@pytest.fixture(scope="session")
def small_source() -> Path:
    """Another speller of the same vocabulary, to prefilter with; it reads less at once."""
    return ASSETS / "smaller_bert"


@pytest.fixture(scope="session")
def model_folder(source_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exported in single precision, with thresholds so low that it proposes many edits."""
    from nmspeller.lab.export.export import export_model
    from nmspeller.runtime.policy import Level, Policy, Thresholds

    folder = export_model(source_folder, tmp_path_factory.mktemp("model"))
    policy = Policy.read(folder / "policy.json")
    levels = {level: Thresholds(0.002, 0.002) for level in Level}
    replace(policy, levels=levels, window=40, passes=2).write(folder / "policy.json")
    return folder


@pytest.fixture(scope="session")
def eager(model_folder: Path) -> "Speller":
    from nmspeller import Speller

    return Speller(model_folder, threads=1)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A file of pairs, for the commands that read one."""
    path = tmp_path / "pairs.tsv"
    path.write_text("我门去外国\t我们去外国\n他在国外\t他在国外\n可以借少\t可以介绍\n", "utf-8")
    return path
