"""The queue before the engine: together as alone, bounded, and honest when the engine fails."""

import asyncio

import pytest
from fakes import FakeChecker

from nmspeller.apps.http.batching import Batcher, CheckOptions, EngineFailed, QueueFull


@pytest.fixture
def held():
    """A checker that waits until it is let go, so that a queue can gather behind it."""
    checker = FakeChecker()
    checker.hold.clear()
    yield checker
    checker.hold.set()


def make(checker, batch_tokens=1_000, queue_tokens=10_000, longest_wait=60):
    return Batcher(checker, batch_tokens=batch_tokens, queue_tokens=queue_tokens, longest_wait=longest_wait)


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
    answers = await gather_behind(make(held), held, [([text], CheckOptions()) for text in texts])
    alone = FakeChecker()
    assert [answer for [answer] in answers] == [alone.check_many([text])[0] for text in texts]
    assert len(held.batches) <= 2


async def test_batches_keep_to_the_budget_and_long_texts_go_alone(held):
    texts = ["一" * 40] * 10 + ["二" * 500] + ["三" * 40] * 3
    await gather_behind(make(held, batch_tokens=200), held, [([text], CheckOptions()) for text in texts])
    sizes = [sum(len(text) for text in batch) for batch, _, _ in held.batches]
    assert sum(sizes) == sum(map(len, texts))
    assert all(
        size <= 200 or len(batch) == 1 for size, (batch, _, _) in zip(sizes, held.batches, strict=True)
    )
    assert len(held.batches) < len(texts)


async def test_words_cost_what_they_take_to_be_made_ready(held):
    batcher = make(held, queue_tokens=1_000)
    costly = CheckOptions(words=tuple(f"{number:05}".ljust(64, "字") for number in range(2_000)))
    in_hand = asyncio.ensure_future(batcher.check(["短"], costly))
    while not held.batches:
        await asyncio.sleep(0.01)
    waiting = asyncio.ensure_future(batcher.check(["短"], costly))
    await asyncio.sleep(0)
    with pytest.raises(QueueFull):
        await batcher.check(["短"], costly)
    held.hold.set()
    await asyncio.gather(in_hand, waiting)
    assert batcher.waiting_tokens == 0


async def test_only_texts_of_one_manner_share_a_call(held):
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


async def test_full_queue_refuses_at_once_and_lets_in_again(held):
    batcher = make(held, queue_tokens=100)
    first = asyncio.ensure_future(batcher.check(["一"], CheckOptions()))
    while not held.batches:
        await asyncio.sleep(0.01)
    second = asyncio.ensure_future(batcher.check(["二" * 90], CheckOptions()))
    await asyncio.sleep(0)
    with pytest.raises(QueueFull) as full:
        await batcher.check(["三" * 20], CheckOptions())
    assert 1 <= full.value.retry_after <= 30
    held.hold.set()
    await asyncio.gather(first, second)
    assert await batcher.check(["三" * 20], CheckOptions())


async def test_refuses_what_would_wait_too_long(held):
    batcher = make(held, longest_wait=0.01)
    first = asyncio.ensure_future(batcher.check(["一"], CheckOptions()))
    while not held.batches:
        await asyncio.sleep(0.01)
    second = asyncio.ensure_future(batcher.check(["二" * 90], CheckOptions()))
    await asyncio.sleep(0)
    with pytest.raises(QueueFull):
        await batcher.check(["三"], CheckOptions())
    held.hold.set()
    await asyncio.gather(first, second)


async def test_what_nobody_waits_for_is_not_begun(held):
    batcher = make(held)
    first = asyncio.ensure_future(batcher.check(["一"], CheckOptions()))
    while not held.batches:
        await asyncio.sleep(0.01)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(batcher.check(["二"], CheckOptions()), 0.05)
    held.hold.set()
    await first
    await batcher.check(["三"], CheckOptions())
    assert [batch for batch, _, _ in held.batches] == [["一"], ["三"]]
    assert batcher.waiting_tokens == 0


async def test_one_bad_text_spoils_only_its_own_answer(held):
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


async def test_dead_engine_is_known_to_be_dead(held):
    batcher = make(held)
    tasks = [asyncio.ensure_future(batcher.check([text], CheckOptions())) for text in ("退出", "高心")]
    await asyncio.sleep(0.05)
    held.hold.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(answer, EngineFailed) for answer in answers)
    batcher.close(5)
    assert not batcher.alive
    with pytest.raises(EngineFailed):
        await batcher.check(["高心"], CheckOptions())


async def test_closing_finishes_what_was_taken_in(held):
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
