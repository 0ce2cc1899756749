"""Batch correction of whole collections, on one machine or on a Ray cluster.

A job is planned in one pass over its input, which splits it into numbered shards. Workers correct the shards
in any order; each is written to a temporary file and renamed. Finished shards are joined in input order.
"""

from nmspeller.apps.batch.job import BatchJob, SpellerSettings, Write
from nmspeller.apps.batch.run import Interrupted, run

__all__ = ["BatchJob", "Interrupted", "SpellerSettings", "Write", "run"]
