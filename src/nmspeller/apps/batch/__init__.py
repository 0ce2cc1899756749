"""Batch correction of whole collections, on one machine or on a Ray cluster.

A job is planned in one pass over its input, which cuts it into numbered shards; workers correct the shards in
any order, each written aside and renamed into place; finished shards are put together in input order.
"""

from nmspeller.apps.batch.job import Job, SpellerSettings, Write
from nmspeller.apps.batch.run import Interrupted, run

__all__ = ["Interrupted", "Job", "SpellerSettings", "Write", "run"]
