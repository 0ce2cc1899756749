"""What a change gains: the runs of one speller against those of another, over the seeds that both have."""

from collections.abc import Sequence
from functools import cache

from nmspeller.lab.evaluation.results_file import RunGroup
from significance import (
    Comparison,
    Counts,
    compare_f1,
    correction_counts,
    f1_difference,
)


@cache  # resampling takes most of the time of a page, which shows a comparison more than once
def compare_groups(plain: RunGroup, other: RunGroup, *names: str) -> Comparison | None:
    """The gain in correction F1, or in its mean over several sets; none where a set has no common seed."""
    counts = [_common_counts(plain, other, name) for name in names]
    measured = [each for each in counts if each is not None]
    return compare_f1(*measured) if len(measured) == len(names) else None


def common_seeds(plain: RunGroup, other: RunGroup, name: str) -> list[int]:
    """The seeds with which both were measured on a set."""
    first, second = ({run.seed for run in group.runs if name in run.outcomes} for group in (plain, other))
    return sorted(first & second)


def gain_on(plain: RunGroup, other: RunGroup, name: str) -> float | None:
    """The gain on one set in points alone, which takes no resampling."""
    counts = _common_counts(plain, other, name)
    return f1_difference(*counts) if counts else None


def unmasked(groups: Sequence[RunGroup], group: RunGroup) -> RunGroup | None:
    """The same speller under the same protocol without masking, for a masked one."""
    key = (group.model, "none", group.protocol)
    return next((g for g in groups if group.ngram != "none" and (g.model, g.ngram, g.protocol) == key), None)


def masked_variants(groups: Sequence[RunGroup], plain: RunGroup) -> list[RunGroup]:
    """The same speller under the same protocol with each n-gram, its layer on or off in prediction."""
    return [group for group in groups if unmasked(groups, group) is plain]


def best(plain: RunGroup, masked: Sequence[RunGroup], name: str) -> RunGroup | None:
    """The masked variant with the largest gain on a set, if they were measured on it."""
    gains = {group: gain_on(plain, group, name) for group in masked}
    found = {group: gain for group, gain in gains.items() if gain is not None}
    return max(found, key=lambda group: found[group]) if found else None


def _common_counts(plain: RunGroup, other: RunGroup, name: str) -> tuple[Counts, Counts] | None:
    seeds = common_seeds(plain, other, name)
    if not seeds:
        return None
    first, second = (
        correction_counts(run.outcomes[name] for run in group.runs if run.seed in seeds)
        for group in (plain, other)
    )
    return first, second
