from nmspeller.lab.data.pairs import Pair, write_pairs
from nmspeller.lab.evaluation import suites
from nmspeller.lab.evaluation.error_fates import count_fates

PAIRS = [
    Pair("我门去公圆", "我们去公园"),  # two errors apart
    Pair("他借少给我", "他介绍给我"),  # two errors side by side
    Pair("今天很好", "今天很好"),
]


def test_errors_are_counted_by_neighbourhood_and_fate(tmp_path, monkeypatch):
    monkeypatch.setenv("NMSPELLER_DATA", str(tmp_path))
    suites._read.cache_clear()
    path = tmp_path / "sighan/simplified/test15.tsv"
    path.parent.mkdir(parents=True)
    write_pairs(path, PAIRS)
    edits = [[0, 1, "们"], [1, 1, "减"], [2, 0, "昨"]]
    assert count_fates("sighan15", edits) == {
        "alone corrected": 1,
        "alone copied": 1,
        "beside replaced": 1,
        "beside copied": 1,
    }
    suites._read.cache_clear()
