"""Protocols in words: what a run of the paper's experiments starts from, learns from, and how."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nmspeller.lab.evaluation.results_file import RunGroup
from page import table

STARTS = {
    "backbone": "that has read misspelt text",
    "masked_only": "that has read masked text alone, as the paper's",
}

SYNTHETIC = "wang_synthetic"
SETS = {"wang": "Wang271K", SYNTHETIC: "synthetic pairs, the same in each epoch, for those it lacks"}


def number_protocols(groups: Sequence[RunGroup]) -> dict[str, str]:
    """A short name for each protocol: P1, P2, …"""
    protocols = list(dict.fromkeys(group.protocol for group in groups))
    return {protocol: f"P{number}" for number, protocol in enumerate(protocols, start=1)}


def what_protocols_are(letters: Mapping[str, str]) -> str:
    """A sentence for a reader who has not come to their table yet."""
    first, *others = letters.values()
    names = f"{first} to {others[-1]}" if others else first
    return (
        f"A protocol ({names}) says which encoder a training starts from, which pairs it learns from"
        " and how often; [Protocols](#protocols) spells each of them out."
    )


def protocols_table(letters: Mapping[str, str]) -> str:
    """A row for each protocol."""
    rows = []
    for protocol, letter in letters.items():
        config = json.loads(protocol)
        stages = "; then ".join(map(_stage_in_words, config.get("stages", ())))
        rows.append([letter, start_in_words(config), stages or "–", use_of_wang(config)])
    return table(["", "Starts from an encoder", "Learns from", "Wang271K"], rows)


def start_in_words(config: Mapping[str, Any]) -> str:
    """The encoder that training starts from."""
    start = str(config.get("start") or "with random weights")
    words = STARTS.get(start.rpartition("/")[2], start)
    if config.get("modalities"):
        words += ", with phonetic and graphic encoders pretrained too"
    settings = [f"{name.replace('_', ' ')} {value}" for name, value in config.get("settings", {}).items()]
    return f"{words} ({', '.join(settings)})" if settings else words


def use_of_wang(config: Mapping[str, Any]) -> str:
    """What a protocol takes from Wang271K."""
    stages = config.get("stages", ())
    sources = []
    if any(stage["copies"].get("wang") for stage in stages):
        sources.append("its pairs")
    profiles = {name for stage in stages if stage["synthetic"] for name in stage["noise"]["profiles"]}
    if "scanner" in profiles or any(stage["copies"].get(SYNTHETIC) for stage in stages):
        sources.append("synthetic errors as frequent as its errors")
    if "wang2018" in profiles:
        sources.append("synthetic errors of its confusion set, which has errors of the tests")
    return "; ".join(sources) or "not used"


def _stage_in_words(stage: Mapping[str, Any]) -> str:
    copies = {name: count for name, count in stage["copies"].items() if count}
    sighan = {count for name, count in copies.items() if name.startswith("sighan")}
    others = {name: count for name, count in copies.items() if not name.startswith("sighan")}
    sources = [f"SIGHAN's training sets{_times(count)}" for count in sighan]
    sources += [f"{SETS.get(name, name)}{_times(count)}" for name, count in others.items()]
    if stage["synthetic"]:
        sources.append(f"{stage['synthetic']:,} synthetic pairs")
    how = []
    if epochs := stage.get("epochs"):
        how.append("1 epoch" if epochs == 1 else f"{epochs} epochs")
    if size := stage.get("batch_tokens"):
        how.append(f"steps of {size:,} tokens")
    if size := stage.get("batch_sentences"):
        how.append(f"steps of {size} sentences")
    if rate := stage.get("loop", {}).get("optimiser", {}).get("rate"):
        how.append(f"learning rate {rate:g}")
    return ", ".join(sources) + (f": {', '.join(how)}" if how else "")


def _times(count: int) -> str:
    return "" if count == 1 else f" {count} times"
