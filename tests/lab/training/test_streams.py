"""Batches: functions of seed and step, complete, and of the configured shape."""

from collections import Counter

import numpy as np
import pytest
from torch.utils.data import DataLoader

from nmspeller.lab.models.batch import NO_TARGET
from nmspeller.lab.training.batches import Batches, Layout
from nmspeller.lab.training.corruption import NoiseConfig
from nmspeller.lab.training.streams import CorpusStream, PairStream


def pair_stream(prepared, masked=0.3, **changes):
    options = {
        "copies": {"sighan15_train": 3, "wang": 1},
        "synthetic": 50,
        "epochs": 2,
        "batch_sentences": None,
        "batch_tokens": 200,
        "seed": 5,
    }
    return PairStream(prepared, NoiseConfig(masked=masked), **{**options, **changes})


def same(one, other):
    return len(one) == len(other) and all(
        (a == b).all()
        for left, right in zip(one, other, strict=True)
        for a, b in zip(left, right, strict=True)
    )


def test_a_step_is_a_function_of_its_number(little_prepared):
    one, again = pair_stream(little_prepared), pair_stream(little_prepared)
    again.rows(4)  # earlier calls make no difference
    assert all(same(one.rows(step), again.rows(step)) for step in range(len(one)))
    other = pair_stream(little_prepared, seed=6)
    assert not all(same(one.rows(step), other.rows(step)) for step in range(3))

    def corpus(seed=1):
        return CorpusStream(little_prepared, NoiseConfig(), steps=300, batch_rows=4, length=32, seed=seed)

    assert same(corpus().rows(299), corpus().rows(299))  # passes over the text have begun anew by then
    assert not same(corpus().rows(0), corpus(seed=2).rows(0))


def test_the_number_of_workers_makes_no_difference(little_prepared):
    batches = Batches(pair_stream(little_prepared, epochs=1), Layout(packed=True), pad=0)
    alone, shared = (
        [batch.ids.tolist() for batch, _ in DataLoader(batches, batch_size=None, num_workers=workers)]
        for workers in (0, 2)
    )
    assert alone == shared


@pytest.mark.parametrize("size", [{"batch_tokens": 200}, {"batch_sentences": 7, "batch_tokens": None}])
@pytest.mark.parametrize("sort", [True, False])
def test_every_pair_occurs_once_per_copy_and_epoch(little_prepared, size, sort):
    stream = pair_stream(little_prepared, synthetic=0, sort=sort, **size)
    seen = Counter((int(a), int(b)) for batch in stream.batches for a, b in batch.T)
    sizes = {
        number: len(little_prepared.pairs(name)) for number, name in enumerate(("sighan15_train", "wang"))
    }
    wanted = {(number, index): 2 * (3, 1)[number] for number in sizes for index in range(sizes[number])}
    assert seen == wanted
    if "batch_sentences" not in size:
        longest = max(sum(len(ids) for ids, _, _ in stream.rows(step)) for step in range(len(stream)))
        assert longest <= 200 + 128


def test_right_sides_get_fresh_errors_as_often_as_asked(little_prepared):
    stream = pair_stream(little_prepared, masked=0, synthetic=0, copies={}, corrupted={"wang": 2}, epochs=2)
    pairs = little_prepared.pairs("wang")
    wanted = Counter({tuple(pairs[index][1].tolist()): 0 for index in range(len(pairs))})
    for index in range(len(pairs)):
        wanted[tuple(pairs[index][1].tolist())] += 4
    rows = [row for step in range(len(stream)) for row in stream.rows(step)]
    known = {right for right in wanted if little_prepared.vocabulary.unk not in right}
    seen = Counter(tuple(row.targets[1:-1].tolist()) for row in rows)
    assert len(rows) == 4 * len(pairs)
    assert all(seen[right] == wanted[right] for right in known)
    sources = {tuple(row.ids[1:-1].tolist()) for row in rows}
    given = {tuple(pairs[index][0].tolist()) for index in range(len(pairs))}
    assert not sources <= given | set(wanted)  # errors that no pair has


def test_targets_are_the_corrected_sentences(little_prepared):
    stream = pair_stream(little_prepared, masked=0, synthetic=0, copies={"sighan15_train": 1}, epochs=1)
    vocabulary, pairs = little_prepared.vocabulary, little_prepared.pairs("sighan15_train")
    rows = [row for step in range(len(stream)) for row in stream.rows(step)]
    found = {(tuple(ids[1:-1]), tuple(targets[1:-1])) for ids, targets, _ in rows}
    assert found == {(tuple(pairs[n][0]), tuple(pairs[n][1])) for n in range(len(pairs))}
    assert all(ids[0] == vocabulary.cls and ids[-1] == vocabulary.sep for ids, _, _ in rows)
    assert all(targets[0] == targets[-1] == NO_TARGET for _, targets, _ in rows)


def test_real_pairs_are_masked_only_where_they_are_correct(little_prepared):
    plain, masked = (
        pair_stream(little_prepared, masked=share, synthetic=0, epochs=1) for share in (0.0, 1.0)
    )
    hidden = 0
    for step in range(len(plain)):
        for (ids, targets, _), (seen, same_targets, _) in zip(
            plain.rows(step), masked.rows(step), strict=True
        ):
            assert (targets == same_targets).all()
            behind = seen == little_prepared.vocabulary.mask
            assert (seen[~behind] == ids[~behind]).all()
            assert (ids[behind] == targets[behind]).all()
            hidden += int(behind.sum())
    assert hidden


def test_few_pairs_need_little_text(little_prepared):
    stream = pair_stream(little_prepared, copies={}, synthetic=3, epochs=1)
    assert sum(batch.shape[1] for batch in stream.batches) == 3
    first, part = stream._some_text(3, np.random.default_rng(0))
    assert (part == stream.text[first : first + len(part)]).all()
    assert len(part) == min(len(stream.text), stream.limit * 101)


def test_a_fixed_shape_is_always_the_same(little_prepared):
    stream, layout = pair_stream(little_prepared), Layout(packed=True, tokens=512)
    for step in range(len(stream)):
        rows = stream.rows(step)
        batch = layout(rows, pad=0)
        assert batch.ids.shape == batch.targets.shape == (512,)
        assert batch.cumulative.shape == (512 // layout.typical + 1,)
        assert int(batch.cumulative[-1]) == 512
        kept = int((batch.targets != NO_TARGET).sum())
        assert 0 < kept <= sum(int((targets != NO_TARGET).sum()) for _, targets, _ in rows)


def test_processes_share_the_rows_of_a_batch(little_prepared):
    stream = pair_stream(little_prepared)
    parts = [Batches(stream, Layout(packed=True), pad=0, rank=rank, world=2)[0] for rank in (0, 1)]
    assert parts[0][1] == parts[1][1]
    assert sum(batch.ids.numel() for batch, _ in parts) == sum(len(ids) for ids, _, _ in stream.rows(0))


def test_masks_and_errors_are_at_different_positions(little_prepared):
    stream = CorpusStream(
        little_prepared, NoiseConfig(masked=1.0, mask_rate=0.3), steps=1, batch_rows=200, length=64, seed=0
    )
    ids, targets, _ = (np.stack(part) for part in zip(*stream.rows(0), strict=True))
    hidden = ids == little_prepared.vocabulary.mask
    assert 0.2 < hidden[:, 1:-1].mean() < 0.4
    assert ((ids != targets) & ~hidden & (targets != NO_TARGET)).any()


def test_berts_own_task_has_only_hidden_characters_as_targets(little_prepared):
    vocabulary = little_prepared.vocabulary
    noise = NoiseConfig(clean=1.0, masked=1.0, mask_rate=0.3, masked_targets=True)
    stream = CorpusStream(little_prepared, noise, steps=20, batch_rows=8, length=40, seed=0)
    asked = kept = replaced = 0
    for step in range(len(stream)):
        for ids, targets, _ in stream.rows(step):
            seen, wanted = ids[targets != NO_TARGET], targets[targets != NO_TARGET]
            asked += len(wanted)
            kept += int((seen == wanted).sum())
            replaced += int(((seen != wanted) & (seen != vocabulary.mask)).sum())
    assert asked > 500
    assert 0.04 < kept / asked < 0.2
    assert 0.04 < replaced / asked < 0.2
