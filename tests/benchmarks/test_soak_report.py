"""The page of the soak: what was lost and why, and whether memory grows."""

import pytest

from soak_report import ANSWERED, KILLED, LOST, as_markdown, summary


def figures(requests, mib=lambda second: 300.0):
    samples = [
        {
            "second": float(second),
            "survivor_mib": mib(second),
            "all_mib": 700.0,
            "health": "200",
            "health_ms": 5.0,
        }
        for second in range(0, 1_200, 10)
    ]
    return {
        "minutes": 20,
        "cores": 2,
        "load_average": [1.0, 2.0],
        "pauses": {"write": [3, 2], "paste": [1, 20]},
        "kills": 1,
        "swaps": 2,
        "wrong": [],
        "exit_code": 0,
        "survivor_survived": True,
        "processes_left": 0,
        **summary(requests, samples),
    }


ANSWERS = [("write", float(second), 0.1, ANSWERED) for second in range(0, 1_200, 10)]


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (KILLED, "on whose connection they were: 1. Lost for no known reason: 0."),
        (LOST, "on whose connection they were: 0. Lost for no known reason: 1."),
        ("429", "another status or an error: 1 (429: 1)."),
    ],
)
def test_every_request_that_was_not_answered_is_told_with_its_reason(outcome, sentence):
    page = as_markdown(figures([*ANSWERS, ("paste", 7.0, 1.0, outcome)]))
    assert sentence in page
    assert "120 of 121 requests (99.17 %)" in page
    assert page.count("\n| 5–10 |") == 1


def test_growth_is_that_of_the_worker_that_lived():
    page = as_markdown(figures(ANSWERS, mib=lambda second: 300.0 if second < 900 else 330.0))
    assert "had 300 MiB in the second 5 minutes and 330 MiB in the last (+10.0 %; medians)" in page


def test_what_ran_beside_it_is_told():
    assert "Beside it ran" not in as_markdown(figures(ANSWERS))
    page = as_markdown({**figures(ANSWERS), "beside": "a run of the tests"})
    assert "Beside it ran a run of the tests: on a quiet machine, times are shorter." in page
