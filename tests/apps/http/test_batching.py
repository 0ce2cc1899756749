"""Batches: the same answers together as alone, bounded, and clear errors when the engine fails."""

import asyncio
import time

import pytest
from fakes import FakeChecker

from nmspeller.apps.http.batching import Batcher, CheckOptions, EngineFailed
from nmspeller.apps.http.fair_queue import QueueFull


@pytest.fixture
def held():
    """A checker that waits until it is released, so that a queue builds up."""
    checker = FakeChecker()
    checker.hold.clear()
    yield checker
    checker.hold.set()


def make(checker, batch_tokens=1_000, queue_tokens=10_000, longest_wait=60):
    return Batcher(checker, batch_tokens=batch_tokens, queue_tokens=queue_tokens, longest_wait=longest_wait)


async def occupy(batcher, checker):
    """Give both lanes of the engine something to do, so that what comes next has to wait."""
    tasks = []
    for number in (1, 2):
        tasks.append(asyncio.ensure_future(batcher.check(["占"], CheckOptions())))
        while len(checker.batches) < number:
            await asyncio.sleep(0.01)
    return asyncio.gather(*tasks)


async def gather_behind(batcher, checker, requests):
    """Start requests one after another while the engine is busy with the first."""
    tasks = [asyncio.ensure_future(batcher.check(*request)) for request in requests]
    while not checker.batches:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    checker.hold.set()
    return await asyncio.gather(*tasks)


async def test_requests_share_batches_and_get_their_own_answers(held):
    texts = [f"第{number}个，" + ("高心" if number % 3 else "己经") for number in range(50)]
    batcher = make(held)
    in_hand = await occupy(batcher, held)
    tasks = [asyncio.ensure_future(batcher.check([text], CheckOptions())) for text in texts]
    await asyncio.sleep(0)
    held.hold.set()
    answers = await asyncio.gather(*tasks)
    await in_hand
    alone = FakeChecker()
    assert [answer for [answer] in answers] == [alone.check_many([text])[0] for text in texts]
    # Two calls for what occupied the lanes; an engine that seems slow gets the fifty in three.
    assert len(held.batches) <= 2 + 3


async def test_batches_stay_within_the_budget_and_long_texts_are_checked_alone(held):
    texts = ["一" * 40] * 10 + ["二" * 500] + ["三" * 40] * 3
    await gather_behind(make(held, batch_tokens=200), held, [([text], CheckOptions()) for text in texts])
    sizes = [sum(len(text) for text in batch) for batch, _, _ in held.batches]
    assert sum(sizes) == sum(map(len, texts))
    assert all(
        size <= 200 or len(batch) == 1 for size, (batch, _, _) in zip(sizes, held.batches, strict=True)
    )
    assert len(held.batches) < len(texts)


async def test_words_cost_what_they_take_to_prepare(held):
    batcher = make(held, queue_tokens=1_000)
    costly = CheckOptions(words=tuple(f"{number:05}".ljust(64, "字") for number in range(2_000)))
    in_hand = await occupy(batcher, held)
    waiting = asyncio.ensure_future(batcher.check(["短"], costly))
    await asyncio.sleep(0)
    with pytest.raises(QueueFull):
        await batcher.check(["短"], costly)
    held.hold.set()
    await asyncio.gather(in_hand, waiting)
    assert batcher.waiting_tokens == 0


async def test_only_texts_with_the_same_options_share_a_call(held):
    options = [
        CheckOptions(),
        CheckOptions("thorough"),
        CheckOptions(words=("高心",)),
        CheckOptions("thorough"),
    ]
    answers = await gather_behind(make(held), held, [(["高心"], options) for options in options])
    assert [answer.text for [answer] in answers] == ["高兴", "高兴", "高心", "高兴"]
    assert {(level, words) for _, level, words in held.batches} == {
        (None, None),
        ("thorough", None),
        (None, ("高心",)),
    }


async def test_full_queue_is_an_error_at_once_and_admits_again_later(held):
    batcher = make(held, queue_tokens=100)
    first = await occupy(batcher, held)
    second = asyncio.ensure_future(batcher.check(["二" * 90], CheckOptions()))
    await asyncio.sleep(0)
    with pytest.raises(QueueFull) as full:
        await batcher.check(["三" * 20], CheckOptions())
    assert 1 <= full.value.retry_after <= 30
    held.hold.set()
    await asyncio.gather(first, second)
    assert await batcher.check(["三" * 20], CheckOptions())


async def test_what_would_wait_too_long_is_an_error(held):
    batcher = make(held, longest_wait=0.01)
    first = await occupy(batcher, held)
    second = asyncio.ensure_future(batcher.check(["二" * 90], CheckOptions()))
    await asyncio.sleep(0)
    with pytest.raises(QueueFull):
        await batcher.check(["三"], CheckOptions())
    held.hold.set()
    await asyncio.gather(first, second)


async def test_abandoned_work_is_not_started(held):
    batcher = make(held)
    first = await occupy(batcher, held)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(batcher.check(["二"], CheckOptions()), 0.05)
    held.hold.set()
    await first
    await batcher.check(["三"], CheckOptions())
    assert [batch for batch, _, _ in held.batches] == [["占"], ["占"], ["三"]]
    assert batcher.waiting_tokens == 0


async def test_one_bad_text_fails_alone(held):
    requests = [
        (["高心"], CheckOptions()),
        (["平果"], CheckOptions()),
        (["故障"], CheckOptions()),
        (["己经"], CheckOptions()),
    ]
    batcher = make(held)
    tasks = [asyncio.ensure_future(batcher.check(*request)) for request in requests]
    await asyncio.sleep(0.05)
    held.hold.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers.pop(2), EngineFailed)
    assert [answer.text for [answer] in answers] == ["高兴", "苹果", "已经"]


async def test_dead_engine_is_reported(held):
    batcher = make(held)
    tasks = [
        asyncio.ensure_future(batcher.check([text], CheckOptions())) for text in ("退出", "高心", "己经")
    ]
    await asyncio.sleep(0.05)
    held.hold.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers[0], EngineFailed)
    assert all(isinstance(answer, EngineFailed | list) for answer in answers)
    batcher.close(5)
    assert not batcher.alive
    with pytest.raises(EngineFailed):
        await batcher.check(["高心"], CheckOptions())


async def test_closing_finishes_what_was_admitted(held):
    batcher = make(held)
    tasks = [
        asyncio.ensure_future(batcher.check([text], CheckOptions())) for text in ("高心", "平果", "己经")
    ]
    await asyncio.sleep(0.05)
    held.hold.set()
    await asyncio.to_thread(batcher.close, 5)
    assert [answer.text for [answer] in await asyncio.gather(*tasks)] == ["高兴", "苹果", "已经"]
    with pytest.raises(EngineFailed):
        await batcher.check(["高心"], CheckOptions())


class SlowChecker(FakeChecker):
    def check_many(self, texts, **options):
        time.sleep(0.6)
        return super().check_many(texts, **options)


async def test_a_slow_engine_is_noticed_even_where_all_batches_are_small():
    batcher = make(SlowChecker(), longest_wait=1)
    for _ in range(4):  # the speed of the last batch may be measured only after its answer is delivered
        await batcher.check(["占"], CheckOptions())
    waiting = [batcher.check(["一" * 20], CheckOptions()) for _ in range(12)]
    with pytest.raises(QueueFull):
        await asyncio.gather(*waiting)
