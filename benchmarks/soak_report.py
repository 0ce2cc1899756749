# ruff: noqa: E501  (the report is a template)
"""The page of benchmarks/soak.py: latency, memory over time, and every request that was not answered."""

import statistics
from collections import Counter

from page import table

ANSWERED = "answered"
LEFT = "left by the client"
KILLED = "lost with a killed worker"
LOST = "lost for no known reason"
WINDOW_MINUTES = 5
SHORT = "write"
"""The client whose latency is shown over time."""


def summary(requests: list[tuple[str, float, float, str]], samples: list[dict]) -> dict:
    """What is kept of requests (client, beginning, duration, outcome; in seconds) and of samples."""
    outcomes: dict[str, Counter[str]] = {}
    durations: dict[str, list[float]] = {}
    for client, _began, seconds, outcome in requests:
        outcomes.setdefault(client, Counter())[outcome] += 1
        if outcome == ANSWERED:
            durations.setdefault(client, []).append(seconds)
    return {
        "outcomes": {client: dict(counts) for client, counts in outcomes.items()},
        "latency": {client: _percentiles(seconds) for client, seconds in durations.items()},
        "health": dict(Counter(sample["health"] for sample in samples)),
        "windows": _windows(requests, samples),
        "samples": samples,
    }


def _windows(requests: list[tuple[str, float, float, str]], samples: list[dict]) -> list[dict]:
    """One row for each five minutes."""
    length = 60 * WINDOW_MINUTES
    windows = []
    for number in range(int(max(sample["second"] for sample in samples) // length) + 1):
        inside = [sample for sample in samples if sample["second"] // length == number]
        begun = [request for request in requests if request[1] // length == number]
        short = [seconds for client, _, seconds, outcome in begun if (client, outcome) == (SHORT, ANSWERED)]
        if not inside or not short:
            continue
        windows.append(
            {
                "minute": number * WINDOW_MINUTES,
                "requests": len(begun),
                "short": _percentiles(short),
                "health_ms_median": statistics.median(sample["health_ms"] for sample in inside),
                "health_ms_most": max(sample["health_ms"] for sample in inside),
                "survivor_mib_median": statistics.median(sample["survivor_mib"] for sample in inside),
                "survivor_mib_most": max(sample["survivor_mib"] for sample in inside),
                "all_mib_median": statistics.median(sample["all_mib"] for sample in inside),
                "all_mib_most": max(sample["all_mib"] for sample in inside),
            }
        )
    return windows


def _percentiles(seconds: list[float]) -> dict:
    if len(seconds) < 2:
        return {f"p{percent}_ms": 1000 * max(seconds) for percent in (50, 99)}
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {f"p{percent}_ms": 1000 * cuts[percent - 1] for percent in (50, 99)}


def _beside(figures: dict) -> str:
    beside = figures.get("beside")
    return f"\nBeside it ran {beside}: on a quiet machine, times are shorter." if beside else ""


def as_markdown(figures: dict) -> str:
    outcomes = figures["outcomes"]
    total = sum(sum(counts.values()) for counts in outcomes.values())
    served = sum(counts.get(ANSWERED, 0) + counts.get(LEFT, 0) for counts in outcomes.values())
    killed, lost = (sum(counts.get(kind, 0) for counts in outcomes.values()) for kind in (KILLED, LOST))
    others = total - served - killed - lost
    before, after = figures["load_average"]
    return f"""\
# A soak of `nmspeller serve`

Written by `python benchmarks/soak.py`. {figures["minutes"]:g} minutes, two workers, {figures["cores"]} cores that they share with the load
generator (load average {before:.1f} before, {after:.1f} at the end). The word list was swapped {figures["swaps"]} times, each time with
SIGHUP; one of the two workers was killed with SIGKILL {figures["kills"]} times, the other lived {"to the end" if figures["survivor_survived"] else "**not to the end**"}.{_beside(figures)}

- {served} of {total} requests ({100 * served / total:.2f} %) were answered as they should be, or left by their client on purpose.
- Answers that belong to another request: {len(figures["wrong"])}.
- Lost with a killed worker, on whose connection they were: {killed}. Lost for no known reason: {lost}.
- Answered with another status or an error: {others}{_statuses(outcomes)}.
- {_growth(figures["windows"])}
- Health checks by status: {", ".join(f"{status}: {count}" for status, count in sorted(figures["health"].items()))}.
- The server ended with code {figures["exit_code"]}. Processes that a killed worker left behind: {figures["processes_left"]}.

{_clients(figures)}

The hostile upload is a Word document of 200,000 elements, of which the last is not closed; it is answered when it is refused.
Going away means to close the connection 0.3 s after 40 sentences were sent; pasting, to send 30 and read the answer in parts.

{_over_time(figures["windows"])}

Memory counts what processes share once, as the kernel attributes it. All processes include the parent and those that read documents.
"""


def _statuses(outcomes: dict[str, dict[str, int]]) -> str:
    known = {ANSWERED, LEFT, KILLED, LOST}
    counts: Counter[str] = Counter()
    for of_client in outcomes.values():
        counts.update({status: count for status, count in of_client.items() if status not in known})
    return (
        f" ({', '.join(f'{status}: {count}' for status, count in sorted(counts.items()))})" if counts else ""
    )


def _growth(windows: list[dict]) -> str:
    if len(windows) < 3:
        return "The run is too short to say whether memory grows."
    # The first window has the loading of libraries and the first reload.
    first, last = (windows[number]["survivor_mib_median"] for number in (1, -1))
    return (
        f"The worker that lived to the end had {first:.0f} MiB in the second {WINDOW_MINUTES} minutes and {last:.0f} MiB in the last "
        f"({100 * (last / first - 1):+.1f} %; medians)."
    )


def _clients(figures: dict) -> str:
    header = [
        "client",
        "number, pause",
        "answered",
        "p50 ms",
        "p99 ms",
        "left",
        "killed worker",
        "lost",
        "other answers",
    ]
    rows = []
    for client, counts in figures["outcomes"].items():
        number, pause = figures["pauses"][client]
        latency = figures["latency"].get(client, {})
        rows.append(
            [
                client,
                f"{number}, {pause:g} s",
                str(counts.get(ANSWERED, 0)),
                *(f"{latency[name]:.0f}" if latency else "–" for name in ("p50_ms", "p99_ms")),
                *(str(counts.get(outcome, 0)) for outcome in (LEFT, KILLED, LOST)),
                _statuses({client: counts}).strip(" ()") or "–",
            ]
        )
    return table(header, sorted(rows))


def _over_time(windows: list[dict]) -> str:
    header = [
        "minutes", "requests", f"`{SHORT}` p50 / p99 ms", "health check median / most ms",
        "surviving worker median / most MiB", "all processes median / most MiB",
    ]  # fmt: skip
    rows = [
        [
            f"{one['minute']}–{one['minute'] + WINDOW_MINUTES}",
            str(one["requests"]),
            f"{one['short']['p50_ms']:.0f} / {one['short']['p99_ms']:.0f}",
            *(
                f"{one[f'{name}_median']:.0f} / {one[f'{name}_most']:.0f}"
                for name in ("health_ms", "survivor_mib", "all_mib")
            ),
        ]
        for one in windows
    ]
    return table(header, rows)
