"""The queue before the engine: turns, the express lane, bounds, and clear errors when the engine fails."""

import asyncio

import pytest
from fakes import FakeChecker

from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.engine_queue import EngineFailed, EngineQueue
from nmspeller.apps.http.errors import ApiError
from nmspeller.runtime.reading import Part

LONG = "长" * 300


@pytest.fixture
def held():
    """A checker that waits until it is released, so that a queue builds up."""
    checker = FakeChecker()
    checker.hold.clear()
    yield checker
    checker.hold.set()


def parts(*texts):
    return [Part(text, 0, len(text)) for text in texts]


def targets(changes):
    return [change.target for change in changes]


def make(checker, call_tokens=1_000, queue_tokens=10_000, longest_wait=60):
    return EngineQueue(checker, call_tokens=call_tokens, queue_tokens=queue_tokens, longest_wait=longest_wait)


async def start(queue, *requests):
    """Send (client, text) one after the other, without waiting for answers."""
    tasks = []
    for client, text in requests:
        tasks.append(asyncio.ensure_future(queue.read(parts(text), client=client)))
        await asyncio.sleep(0)
    return tasks


async def occupy(queue, checker, *texts):
    """Give the lanes of the engine something to do, so that what comes next has to wait."""
    tasks = []
    for number, text in enumerate(texts or ("占", "占"), start=1):
        tasks += await start(queue, (f"first {number}", text))
        while len(checker.batches) < number:
            await asyncio.sleep(0.01)
    return tasks


def order(checker):
    return [text for texts, _ in checker.batches for text in texts]


async def test_every_part_gets_its_own_answer(held):
    texts = [f"第{number}个，" + ("高心" if number % 3 else "己是") for number in range(50)]
    queue = make(held)
    tasks = await start(queue, *((f"client {number % 5}", text) for number, text in enumerate(texts)))
    held.hold.set()
    assert [targets(answer) for [answer] in await asyncio.gather(*tasks)] == [
        ["兴"] if number % 3 else ["已"] for number in range(50)
    ]


async def test_parts_of_a_request_share_calls_of_a_limited_size(held):
    held.hold.set()
    texts = [*(one * 40 for one in "甲乙丙丁戊己庚辛壬癸"), "长" * 500, *(one * 40 for one in "子丑寅")]
    answers = await make(held, call_tokens=200).read(parts(*texts))
    assert len(answers) == len(texts)
    assert sorted(order(held)) == sorted(texts)
    assert all(sum(map(len, batch)) <= 200 or len(batch) == 1 for batch, _ in held.batches)
    assert len(held.batches) < len(texts)


async def test_what_a_request_repeats_is_read_once(held):
    held.hold.set()
    texts = ["高心", "好", "高心", "高心", "好"]
    for afresh in (False, True):
        held.batches.clear()
        answers = await make(held).read(parts(*texts), afresh=afresh)
        assert order(held) == ["高心", "好"]
        assert [targets(answer) for answer in answers] == [["兴"], [], ["兴"], ["兴"], []]


async def test_level_and_locked_ranges_reach_the_engine(held):
    held.hold.set()
    queue = make(held)
    locked = Part("平果高心", 0, 4, ((2, 4),))
    found = [await queue.read([locked], level) for level in ("careful", "thorough", None)]
    assert [targets(changes) for [changes] in found] == [[], ["苹"], ["苹"]]
    assert [level for _, level in held.batches] == ["careful", "thorough", "balanced"]


async def test_the_client_that_has_had_least_goes_next(held):
    queue = make(held)
    first = await occupy(queue, held, LONG, "占")
    tasks = await start(queue, *[("busy", f"{number}{LONG}") for number in range(4)])
    tasks += await start(queue, *[("other", f"{number}他{LONG}") for number in range(2)])
    held.hold.set()
    await asyncio.gather(*first, *tasks)
    assert [text[:2] for text in order(held)[2:]] == ["0长", "0他", "1长", "1他", "2长", "3长"]


async def test_turns_are_shared_by_length_and_not_by_number(held):
    queue = make(held)
    first = await occupy(queue, held, LONG, "占")
    tasks = await start(queue, *[("long", f"{number}{LONG}") for number in range(3)])
    tasks += await start(queue, *[("short", f"{number}短" + "短" * 90) for number in range(6)])
    held.hold.set()
    await asyncio.gather(*first, *tasks)
    served = [text[1] for text in order(held)[2:]]
    assert served.index("短") <= 1
    assert served[2:5].count("短") >= 2  # three of them are as much as a long one
    assert served[-1] == "长"


async def test_a_client_that_returns_has_not_saved_up_turns_but_still_owes_them(held):
    queue = make(held)
    first = await occupy(queue, held, LONG, "占")
    paste = await start(queue, ("paste", LONG), ("other", LONG), ("other", LONG), ("other", LONG))
    queue._served["paste"] = 10_000  # it has had much more
    late = await start(queue, ("new", "新" + LONG))
    held.hold.set()
    await asyncio.gather(*first, *paste, *late)
    assert order(held)[-1] == LONG
    assert [text[0] for text in order(held)[2:4]].count("新") == 1


async def test_express_lane_takes_the_short_request_of_a_client_without_others(held):
    queue = make(held)
    [long] = await occupy(queue, held, LONG)
    tasks = await start(queue, ("paste", LONG), ("first 1", "短"))
    await asyncio.sleep(0.05)
    assert order(held) == [LONG]  # the one is long, and the other's client has a request in hand
    tasks += await start(queue, ("writer", "写"))
    while len(held.batches) < 2:
        await asyncio.sleep(0.01)
    assert order(held) == [LONG, "写"]
    held.hold.set()
    await asyncio.gather(long, *tasks)


async def test_express_lane_does_not_take_the_short_rest_of_a_long_request(held):
    queue = make(held)
    first = await occupy(queue, held, LONG)
    rest = asyncio.ensure_future(queue.read(parts("余"), client="paste", admitted=True))
    await asyncio.sleep(0.05)
    assert order(held) == [LONG]
    held.hold.set()
    await asyncio.gather(*first, rest)


async def test_full_queue_is_an_error_at_once_and_admits_again_later(held):
    queue = make(held, queue_tokens=100)
    first = await occupy(queue, held)
    second = await start(queue, ("busy", "二" * 90))
    with pytest.raises(ApiError, match="busy") as full:
        await queue.read(parts("三" * 20), client="busy")
    assert 1 <= int(full.value.headers["Retry-After"]) <= 30
    third = await start(queue, ("other", "四" * 20))
    admitted = asyncio.ensure_future(queue.read(parts("五" * 20), client="busy", admitted=True))
    await asyncio.sleep(0)
    held.hold.set()
    await asyncio.gather(*first, *second, *third, admitted)
    assert await queue.read(parts("三" * 20), client="busy")


async def test_what_would_wait_too_long_is_an_error(held):
    queue = make(held, longest_wait=0.01)
    first = await occupy(queue, held)
    second = await start(queue, ("one", "二" * 90))
    with pytest.raises(ApiError, match="busy"):
        await queue.read(parts("三" * 90), client="another")
    held.hold.set()
    await asyncio.gather(*first, *second)


async def test_who_has_too_much_waiting_is_refused_before_a_text_is_analyzed(held):
    queue = make(held, longest_wait=0.01)
    queue.raise_if_full("one")
    first = await occupy(queue, held)
    second = await start(queue, ("one", "二" * 90))
    with pytest.raises(ApiError, match="busy"):
        queue.raise_if_full("one")
    queue.raise_if_full("another")
    held.hold.set()
    await asyncio.gather(*first, *second)


async def test_abandoned_work_is_not_started(held):
    queue = make(held)
    first = await occupy(queue, held)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(queue.read(parts("二")), 0.05)
    held.hold.set()
    await asyncio.gather(*first)
    await queue.read(parts("三"))
    assert order(held) == ["占", "占", "三"]
    assert queue.waiting_tokens == 0


async def test_one_bad_part_fails_alone(held):
    queue = make(held)
    tasks = await start(queue, *enumerate(["高心", "平果", "故障", "己是"]))
    held.hold.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers.pop(2), EngineFailed)
    assert [targets(answer) for [answer] in answers] == [["兴"], ["苹"], ["已"]]


async def test_dead_engine_is_reported(held):
    queue = make(held)
    tasks = await start(queue, *enumerate(["退出", "高心", "己是"]))
    held.hold.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers[0], EngineFailed)
    assert all(isinstance(answer, EngineFailed | list) for answer in answers)
    queue.close(5)
    assert not queue.alive
    with pytest.raises(EngineFailed):
        await queue.read(parts("高心"))


async def test_closing_finishes_what_was_admitted(held):
    queue = make(held)
    tasks = await start(queue, *(("one", text) for text in ("高心", "平果", "己是")))
    held.hold.set()
    await asyncio.to_thread(queue.close, 5)
    assert [targets(answer) for [answer] in await asyncio.gather(*tasks)] == [["兴"], ["苹"], ["已"]]
    with pytest.raises(EngineFailed):
        await queue.read(parts("高心"))


async def test_a_slow_engine_is_noticed_even_where_all_calls_are_short():
    queue = make(FakeChecker(seconds=0.6), longest_wait=1)
    for _ in range(4):  # the speed of the last call may be measured only after its answer is delivered
        await queue.read(parts("占"), afresh=True)
    waiting = [queue.read(parts("一" * 20), afresh=True) for _ in range(12)]
    with pytest.raises(ApiError, match="busy"):
        await asyncio.gather(*waiting)


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        (("10.0.0.1", "a"), ("10.0.0.1", "b"), True),
        (("10.0.0.1", "a"), ("10.0.0.2", "a"), False),
        (("2001:db8::1", "a"), ("2001:db8::ffff:1", "a"), True),
        (("2001:db8::1", "a"), ("2001:db8:0:1::1", "a"), False),
        (("127.0.0.1", "a"), ("::1", "a"), True),
        (("127.0.0.1", "a"), ("127.0.0.1", "b"), False),
        (("fe80::1%eth0", "a"), ("fe80::2", "a"), True),
        (("testclient", "a"), ("testclient", "b"), True),
    ],
)
def test_client_is_an_address_or_on_this_machine_a_program(first, second, is_one):
    clients = {
        client_of({"client": (host, 1), "headers": [(b"user-agent", agent.encode())]})
        for host, agent in (first, second)
    }
    assert (len(clients) == 1) is is_one


async def test_what_a_client_sends_again_is_not_read_again(held):
    held.hold.set()
    queue = make(held)
    for texts in (["我很高心", "己是"], ["我很高心", "平果", "己是"]):
        answers = await queue.read(parts(*texts), client="writer")
    assert [targets(changes) for changes in answers] == [["兴"], ["苹"], ["已"]]
    assert order(held) == ["我很高心", "己是", "平果"]
    await queue.read(parts("平果"), "careful", client="writer")
    await queue.read([Part("平果", 0, 2, ((0, 1),))], client="writer")
    await queue.read(parts("平果"), client="another")
    await queue.read(parts("平果"), client="writer", afresh=True)
    assert order(held)[3:] == ["平果"] * 4


async def test_another_model_reads_everything_anew(held):
    held.hold.set()
    queue = make(held)
    await queue.read(parts("高心"))
    other = FakeChecker()
    queue.replace_checker(other)
    await queue.read(parts("高心"))
    assert order(other) == ["高心"]


async def test_what_was_read_for_a_client_that_went_away_is_remembered(held):
    queue = make(held)
    [asked] = await start(queue, ("writer", "我很高心"))
    while not held.batches:
        await asyncio.sleep(0.01)
    asked.cancel()
    held.hold.set()
    assert [targets(changes) for changes in await queue.read(parts("我很高心"), client="writer")] == [["兴"]]
    await queue.read(parts("我很高心"), client="writer")
    assert len(held.batches) <= 2  # the second, where it asked before the first was done
