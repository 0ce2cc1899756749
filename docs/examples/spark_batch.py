"""Correct a column of a Spark table with nmspeller.

    spark-submit docs/examples/spark_batch.py INPUT.parquet OUTPUT.parquet [COLUMN]

nmspeller must be installed on every executor. Spark distributes the rows and repeats failed tasks; the model
is loaded once per partition, on one thread, because Spark runs one worker per core. For a collection that is
not in Spark already, `nmspeller batch` does more: it keeps the order, sets bad rows aside and can be resumed.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession


def make_speller() -> Any:
    """The speller of one partition."""
    from nmspeller import Speller

    return Speller(threads=1)


def corrected(table: DataFrame, column: str = "text", make: Callable[[], Any] = make_speller) -> DataFrame:
    """The table with one column corrected; rows without a text, other columns and the schema stay."""

    def correct(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        speller = make()
        for batch in batches:
            present = batch[column].notna()
            answers = speller.check_many(batch.loc[present, column].tolist())
            batch.loc[present, column] = [answer.text for answer in answers]
            yield batch

    return table.mapInPandas(correct, table.schema)


def main() -> None:
    source, target, *column = sys.argv[1:]
    spark = (
        SparkSession.builder.appName("nmspeller")
        # Small batches keep a worker's memory small.
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 1024)
        .getOrCreate()
    )
    corrected(spark.read.parquet(source), *column).write.parquet(target)
    spark.stop()


if __name__ == "__main__":
    main()
