"""A little world to train in: own sentences, a vocabulary of their characters, a tiny encoder.

Nothing of the package is imported before a test asks for it.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from nmspeller.data.prepared import Prepared

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


def make_data(folder: Path, repeats: int = 12) -> Path:
    """A data folder with every set that preparation asks for."""
    from nmspeller.data.pair_sets import TRAINING_SETS
    from nmspeller.data.pairs import write_pairs

    for place in (file for wanted in TRAINING_SETS.values() for file in wanted.files):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        write_pairs(folder / place, MISSPELT)
    for place in (
        *(
            f"sighan/{script}/test{year}.tsv"
            for script in ("simplified", "traditional")
            for year in (13, 14, 15)
        ),
        "sighan/sighan14_multierror.tsv",
        "sighan/sighan15_multierror.tsv",
        *(f"ecspell/{field}_test.tsv" for field in ("law", "med", "odw")),
        "cscd_ns/dev.tsv",
    ):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        write_pairs(folder / place, EVALUATED)
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
    patch.setattr("nmspeller.data.noise_fitting.jieba_words", lambda: words)


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
    from nmspeller.data.prepare import prepare
    from nmspeller.data.prepared import Prepared
    from nmspeller.models.tables import CharacterTables

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
    from nmspeller.models import checkpoint
    from nmspeller.training.start import start_model

    folder = tmp_path_factory.mktemp("start")
    vocabulary = little_prepared.vocabulary
    sizes = {**SIZES, "vocabulary": len(vocabulary), "mask_id": vocabulary.mask}
    checkpoint.save(folder, start_model({"speller": "bert", "encoder": sizes}, None), vocabulary.tokens)
    return folder
