"""The order in which clients are served, and what each of them may have in the queue."""

from dataclasses import dataclass

import pytest

from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.fair_queue import SHORT_TOKENS, FairQueue, QueueFull

SPEED = 100.0  # tokens a second


@dataclass
class Job:
    client: str
    cost: int
    given_up: bool = False


def make(most_tokens=10_000, longest_wait=2.0):
    return FairQueue(most_tokens=most_tokens, longest_wait=longest_wait)


def fill(queue, client, cost, count=1, always=True):
    for _ in range(count):
        queue.admit([Job(client, cost)], SPEED, always=always)


def served(queue, express_only=False, budget=1):
    """All that waits, in the order of service: (client, cost)."""
    order = []
    while batch := queue.take(budget, express_only=express_only):
        order += [(job.client, job.cost) for job in batch]
        queue.finish(batch)
    return order


def test_clients_take_turns():
    queue = make()
    fill(queue, "busy", 300, 6)
    fill(queue, "other", 300, 2)
    assert [client for client, _ in served(queue)] == ["busy", "other", "busy", "other"] + 4 * ["busy"]


def test_short_request_overtakes_long_ones_of_any_client():
    queue = make()
    fill(queue, "writer", 2_000, 3)
    fill(queue, "other", 1_000, 3)
    fill(queue, "writer", 30)
    assert served(queue)[0] == ("writer", 30)


def test_long_request_is_not_overtaken_for_ever():
    queue = make()
    fill(queue, "long", 2_000)
    fill(queue, "short", 100, 2)
    order = []
    for _ in range(50):
        [job] = queue.take(1, express_only=False)
        order.append(job.client)
        queue.finish([job])
        fill(queue, "short", 100)
    assert "long" in order[:25]


def test_express_lane_takes_only_the_short_request_of_a_client_without_others():
    queue = make()
    fill(queue, "busy", 30, 3)
    fill(queue, "paste", 2_000)
    fill(queue, "writer", 30)
    assert served(queue, express_only=True) == [("busy", 30), ("writer", 30)]
    assert not queue.has_express
    assert queue.has_regular


def test_client_whose_request_is_in_hand_does_not_use_the_express_lane():
    queue = make()
    fill(queue, "busy", 30)
    batch = queue.take(1, express_only=True)
    fill(queue, "busy", 30)
    assert not queue.has_express
    queue.finish([*batch, *queue.take(1, express_only=False)])
    fill(queue, "busy", 30)
    assert queue.has_express


def test_regular_lane_helps_with_express_requests_when_it_has_nothing_else():
    queue = make()
    fill(queue, "writer", 30)
    assert served(queue) == [("writer", 30)]


def test_busy_client_meets_a_full_queue_and_another_does_not():
    queue = make(longest_wait=2)
    with pytest.raises(QueueFull) as full:
        fill(queue, "busy", 30, 100, always=False)
    assert full.value.retry_after == 3  # a little over two seconds of its own work wait
    queue.admit([Job("writer", 30)], SPEED)
    queue.admit([Job("writer", 30)], SPEED)


def test_queue_is_full_by_the_waiting_time_of_the_request_itself():
    queue = make(longest_wait=5)
    for number in range(10):
        fill(queue, f"paste {number}", 2_000)
    queue.admit([Job("writer", 30)], SPEED)  # waits for 30 tokens of each of the ten
    with pytest.raises(QueueFull) as full:
        queue.admit([Job("another paste", 2_000)], SPEED)
    assert full.value.retry_after == 60


def test_client_may_fill_no_more_than_its_share_of_the_queue():
    queue = make(most_tokens=1_000, longest_wait=1_000)
    fill(queue, "busy", 100, 6, always=False)
    fill(queue, "other", 300, 1, always=False)
    with pytest.raises(QueueFull):
        fill(queue, "busy", 100, always=False)
    fill(queue, "other", SHORT_TOKENS, always=False)


def test_the_rest_of_an_admitted_request_never_meets_a_full_queue():
    queue = make(most_tokens=10, longest_wait=0.01)
    fill(queue, "paste", 2_000, 5, always=True)
    assert queue.waiting_tokens == 10_000


def test_given_up_jobs_are_passed_over_and_forgotten():
    queue = make()
    queue.admit([Job("gone", 30, given_up=True)], SPEED)
    queue.admit([Job("writer", 30)], SPEED)
    assert served(queue) == [("writer", 30)]
    assert queue.waiting_tokens == 0


def test_urgent_job_goes_first():
    queue = make()
    fill(queue, "writer", 30)
    queue.admit_urgent([Job("probe", 10)])
    assert served(queue)[0] == ("probe", 10)


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
