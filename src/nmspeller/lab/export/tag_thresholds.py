"""Choosing the thresholds of tags on dev pairs of unequal length, through the runtime that users have.

What is found at very low thresholds proposes some; what is found in pairs where characters are replaced only
counts, too. The pairs are then corrected with each proposal, replacements included, and a level takes the one
with the best F-score: of the sentences of each kind that are right, and the right ones among those changed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nmspeller.errors import InputError
from nmspeller.lab.data.alignment import brings_nearer
from nmspeller.lab.data.edit_sets import EditPair
from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.export.tag_proposals import (
    BETA,
    LEAST_SURE,
    MOST_CLEAN,
    NEVER,
    TARGETS,
    FoundEdits,
    ScoredEdit,
    f_score,
)
from nmspeller.runtime.analysis import Analyzer
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.findings import Edit, Reason
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import TAGGED, Level, Policy, Thresholds
from nmspeller.runtime.tag_decoder import repeats_neighbours

_LEAST = 0.1  # from here on, what is found proposes thresholds
_TAG_REASONS = (Reason.MISSING, Reason.EXTRA, Reason.SWAPPED)


def target_pairs(pipeline: Pipeline, dev: Mapping[str, Sequence[EditPair]]) -> list[EditPair]:
    """The pairs of TARGETS.

    Raises:
        InputError: the model has no tags, or there are no such pairs.
    """
    if not pipeline.has_tags:
        raise InputError("the model does not tag extra, missing and swapped characters; leave out --edits.")
    pairs = [pair for name in TARGETS for pair in dev.get(name, ())]
    if not pairs:
        raise InputError(f"--edits has no pairs of {' or '.join(TARGETS)}; write it with `lab data prepare`.")
    return pairs


def calibrate_tags(
    pipeline: Pipeline,
    policy: Policy,
    pairs: Sequence[EditPair],
    clean: Sequence[str],
    replaced: Sequence[Pair] = (),
) -> Policy:
    """The policy with thresholds of tags, chosen for the replacements that each of its levels makes.

    replaced: pairs with replaced characters alone; about as many as writers make beside the others.
    """
    judged = [*((pair.source, pair.target) for pair in pairs), *replaced]
    edits, alarms = _find(pipeline, judged, clean, policy.levels[Level.BALANCED])
    found = FoundEdits(edits, alarms, len(clean), Counter(pair.kind for pair in pairs))
    chosen = {
        level: _best(pipeline, pairs, policy.levels[level], found.proposals(MOST_CLEAN[level]), beta)
        for level, beta in BETA.items()
    }
    balanced = chosen[Level.BALANCED]
    for level, pick in ((Level.CAREFUL, max), (Level.THOROUGH, min)):
        chosen[level] = {kind: pick(chosen[level][kind], balanced[kind]) for kind in TAGGED}
    for level, least in LEAST_SURE.items():
        chosen[level] = {kind: max(threshold, least) for kind, threshold in chosen[level].items()}
    levels = {level: replace(policy.levels[level], **chosen[level]) for level in Level}
    report = {
        "pairs": len(pairs),
        "levels": {
            level.value: {
                **measure(pipeline, pairs, thresholds),
                "clean_changed": _changed(pipeline, clean, _tags_alone(chosen[level])),
            }
            for level, thresholds in levels.items()
        },
    }
    return replace(policy, levels=levels, calibration={**policy.calibration, "tags": report})


def measure(pipeline: Pipeline, pairs: Sequence[EditPair], thresholds: Thresholds) -> dict[str, float]:
    """In percent: sentences of each kind wholly right, and the right ones among those that are changed."""
    found = corrections(pipeline, [pair.source for pair in pairs], thresholds)
    right = [each.text == pair.target for each, pair in zip(found, pairs, strict=True)]
    figures = {
        kind: _percent(is_right for is_right, pair in zip(right, pairs, strict=True) if pair.kind == kind)
        for kind in dict.fromkeys(pair.kind for pair in pairs)
    }
    changed = [is_right for is_right, each in zip(right, found, strict=True) if each.text != each.source]
    return {**figures, "changed_right": _percent(changed)}


def corrections(pipeline: Pipeline, texts: Sequence[str], thresholds: Thresholds) -> list[Correction]:
    """The texts as a user gets them who has no rules or words of their own, each a document by itself."""
    analyzer = Analyzer(window=pipeline.window)
    checks = [analyzer.analyze([text]) for text in texts]
    changes = iter(pipeline.changes([part for check in checks for part in check.parts], thresholds))
    return [check.corrections([next(changes) for _ in check.parts])[0] for check in checks]


def _find(
    pipeline: Pipeline, pairs: Sequence[tuple[str, str]], clean: Sequence[str], thresholds: Thresholds
) -> tuple[list[ScoredEdit], list[ScoredEdit]]:
    """Every insertion, deletion and swap worth a look, each judged by itself.

    pairs: sources and targets; thresholds: of the replacements beside which they are found.
    """
    thresholds = replace(thresholds, **dict.fromkeys(TAGGED, _LEAST))
    found_in_pairs, found_in_clean = (
        [
            ScoredEdit(number, kind_of(found.source, edit), edit.confidence, _is_right(found, edit, target))
            for number, (found, target) in enumerate(
                zip(corrections(pipeline, sources, thresholds), targets, strict=True)
            )
            for edit in found.edits
            if edit.reason in _TAG_REASONS
        ]
        for sources, targets in (
            ([source for source, _ in pairs], [target for _, target in pairs]),
            (clean, clean),
        )
    )
    return found_in_pairs, found_in_clean


def kind_of(source: str, edit: Edit) -> str:
    """Which of TAGGED an edit is: what repeats its neighbours needs less to be deleted."""
    if edit.reason in (Reason.MISSING, Reason.SWAPPED):
        return str(edit.reason.value)
    return "repeated" if repeats_neighbours(source, edit.offset, edit.stop) else "foreign"


def _is_right(found: Correction, edit: Edit, target: str) -> bool:
    alone = found.source[: edit.offset] + edit.target + found.source[edit.stop :]
    return brings_nearer(found.source, alone, target)


def _best(
    pipeline: Pipeline,
    pairs: Sequence[EditPair],
    thresholds: Thresholds,
    proposals: Sequence[dict[str, float]],
    beta: float,
) -> dict[str, float]:
    """The proposal with the best F-score; of several, the strictest. They come from lax to strict."""
    return max(
        reversed(proposals),
        key=lambda proposal: f_score(measure(pipeline, pairs, replace(thresholds, **proposal)), beta),
    )


def _tags_alone(tags: Mapping[str, float]) -> Thresholds:
    """Thresholds that replace nothing."""
    return Thresholds(NEVER, NEVER, NEVER, **tags)


def _changed(pipeline: Pipeline, texts: Sequence[str], thresholds: Thresholds) -> float:
    """The share of texts that are changed, in percent."""
    return _percent(bool(each.edits) for each in corrections(pipeline, texts, thresholds))


def _percent(marks: Iterable[bool]) -> float:
    values = list(marks)
    return round(100 * sum(values) / max(len(values), 1), 2)
