"""The Spark recipe of the docs, run on a local Spark where there is one."""

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
EXAMPLES = str(Path(__file__).parents[3] / "docs" / "examples")


@pytest.mark.slow
def test_spark_corrects_one_column_and_keeps_the_rest(monkeypatch):
    from pyspark.sql import SparkSession
    from stand_in_speller import StandIn

    monkeypatch.syspath_prepend(EXAMPLES)
    # The workers find the example and the stand-in by name.
    monkeypatch.setenv("PYTHONPATH", EXAMPLES, prepend=os.pathsep)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    from spark_batch import corrected

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "512m")
        .getOrCreate()
    )
    try:
        rows = [(1, "我己经来了。"), (2, None), (3, "好"), (4, "在见")]
        table = spark.createDataFrame(rows, "id int, text string").repartition(2)
        answers = corrected(table, make=StandIn).orderBy("id").collect()
    finally:
        spark.stop()
    assert [tuple(row) for row in answers] == [(1, "我已经来了。"), (2, None), (3, "好"), (4, "再见")]
