"""What benchmarks/accuracy.py measured, as Markdown: docs/results/shipped.md and a model card's figures."""

from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.lab.evaluation import paper
from page import table

TEMPLATE = Path(__file__).parent / "card_template.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
LEVELS = ("careful", "balanced", "thorough")
DEFAULT = "balanced"

# What the model was asked to reach, in percent: sentence-level correction F1 and names kept, at least;
# changed clean sentences, at most.
WANTED_F1 = {
    "sighan13": 79.0,
    "sighan14": 66.0,
    "sighan15": 76.0,
    "ecspell_law": 84.0,
    "ecspell_med": 74.0,
    "ecspell_odw": 92.0,
    "cscd_ns_dev": 69.0,
}
WANTED_CLEAN = 0.8
WANTED_NAMES = 99.5

TITLES = {
    "sighan13": "SIGHAN13",
    "sighan14": "SIGHAN14",
    "sighan15": "SIGHAN15",
    "sighan14_multierror": "SIGHAN14, several errors",
    "sighan15_multierror": "SIGHAN15, several errors",
    "ecspell_law": "ECSpell, law",
    "ecspell_med": "ECSpell, medicine",
    "ecspell_odw": "ECSpell, official documents",
    "cscd_ns_dev": "CSCD-NS dev (native speakers)",
}
RULES = {"both": "地/得 rule", "prediction": "地/得 rule, as the paper counts", "none": "no rule"}

PROTOCOL = """\
Written by `benchmarks/accuracy.py`; no figure is typed by hand. The model has {megabytes:.1f} MB;
SHA-256 of model, vocabulary and policy: `{hash}…`; {engine}. Every sentence goes through
`Speller.check_many`, without a word list, as a user's text does.

All figures are percent. Sentence level: a sentence is detected when exactly its wrong characters were
changed, corrected when they also became the right ones; precision is over the sentences that were
changed, recall over those with an error. Loose: a sentence with an error that was changed
wrongly is no false positive (pycorrector's convention); these are higher and not to be compared with the
others. SIGHAN13 leaves most misuses of 的地得 unmarked. 地/得 rule: edits to 地 and 得 are dropped from
reference and prediction; as the paper counts: from the prediction alone; no rule: all edits count.
CSCD-NS was not trained on.

Decoding: in {passes}, with windows of {window} characters, the most probable other character is taken
where its confidence is at least the level's threshold (`runtime/decoder.py`: p⁴ / (p⁴ + k), p the other
character's probability and k that of the source character); a character outside the vocabulary is
replaced where the probability is at least the last threshold:"""
CLEAN = """\
Sentences of news, articles and essays in the corpus, held out from training and from the choice of the
thresholds, chosen by the look of their paragraphs (`benchmarks/clean_text.py`). They are taken to be right as
they are, but for {with_mistakes} in which reading found a mistake: those were looked for among the sentences
that the model would change from a confidence of 0.05 on, and are counted apart. The checkpoint that training
started from was trained on text of the same kind earlier and may have read some of these sentences."""
PUBLISHED = """\
Correction at `{level}`; in parentheses the distance from the plain BERT of {citation}, which was trained on
all of Wang271K and from another checkpoint."""
NAMES = """\
{total} correct sentences, each with a personal name, place, company, product or term (`tests/assets/{file}`).
Kept: the name or term stays as it is; when listed: with all of them as the user's word list."""

UNUSUAL = """\
Own sentences that look wrong and are right, the test half of `tests/assets/clean`: terms kept / sentences
left as they are."""
SLIPS = """\
Common slips of native writers, own sentences, too (`tests/assets/native_slips.tsv`), that are corrected
exactly:"""


def page(result: dict[str, Any]) -> str:
    """The whole page of results."""
    return "# What the shipped model reaches\n\n" + figures(result, heading="##") + "\n"


def write_card(card: Path, result: dict[str, Any]) -> None:
    """Put the figures between a card's markers; a card that has none is written from the template."""
    text = card.read_text("utf-8") if card.is_file() else ""
    if not (BEGIN in text and END in text):
        text = TEMPLATE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise InputError(f"{card}: the markers are out of order; put {BEGIN} before {END}.")
    body = figures(result, heading="###")
    card.write_text(f"{before}{BEGIN}\n{body}\n{END}{after}", "utf-8")


def figures(result: dict[str, Any], *, heading: str) -> str:
    """Protocol and tables, under headings that start with `heading`."""
    parts = [_protocol(result), f"{heading} Asked and reached", _targets(result)]
    parts += [f"{heading} Beside a published BERT", _published(result)]
    for level in LEVELS:
        parts += [f"{heading} Level `{level}`", _sets(result, level)]
    parts += [f"{heading} Correct text", _clean(result), f"{heading} Names and terms", _names(result)]
    parts += [f"{heading} Unusual but correct text", _unusual(result)]
    parts += [f"{heading} The paper's sentences", _cases(result)]
    return "\n\n".join(parts)


def _protocol(result: dict[str, Any]) -> str:
    model = result["model"]
    text = PROTOCOL.format(
        megabytes=model["bytes"] / 1e6,
        hash=model["hash"][:16],
        engine=model["engine"],
        passes="one pass" if model["passes"] == 1 else f"at most {model['passes']} passes",
        window=model["window"],
    )
    thresholds = table(
        ["level", "similar sound or shape", "other edits", "character outside the vocabulary"],
        [
            [f"`{level}`", *(_threshold(least[kind]) for kind in ("explained", "unexplained", "unknown"))]
            for level, least in model["thresholds"].items()
        ],
    )
    trial = (
        f"**A sample: at most {result['limit']} sentences of each set, spread evenly over it.**\n\n"
        if result["limit"]
        else ""
    )
    return f"{trial}{text}\n\n{thresholds}"


def _threshold(value: float) -> str:
    return "never" if value > 1 else f"{value:.3g}"


def _targets(result: dict[str, Any]) -> str:
    rows = []
    for name, wanted in WANTED_F1.items():
        reached = [_main(result, name, level)["sentence"]["correction"]["f1"] for level in LEVELS]
        verdict = _verdict(reached[LEVELS.index(DEFAULT)] - wanted)
        rows.append([f"correction F1, {_title(name)}", f"≥ {wanted:g}", *map(_number, reached), verdict])
    if result["clean"]:
        reached = [result["clean"]["levels"][level]["percent"] for level in LEVELS]
        verdict = _verdict(WANTED_CLEAN - reached[LEVELS.index(DEFAULT)])
        rows.append(["correct sentences changed", f"≤ {WANTED_CLEAN:g}", *map(_number, reached), verdict])
    names = result["names"]
    reached = [100 - 100 * len(names["levels"][level]["edited"]) / names["sentences"] for level in LEVELS]
    verdict = _verdict(round(reached[LEVELS.index(DEFAULT)], 1) - WANTED_NAMES)
    rows.append(["names and terms kept", f"≥ {WANTED_NAMES:g}", *map(_number, reached), verdict])
    return table(["", "asked", *LEVELS, f"at `{DEFAULT}`"], rows)


def _verdict(margin: float) -> str:
    return "reached" if margin >= 0 else f"missed by {-margin:.2f}"


def _published(result: dict[str, Any]) -> str:
    rows = []
    for name, rule in (("sighan13", "prediction"), ("sighan14", "none"), ("sighan15", "none")):
        ours = result["sets"][name][DEFAULT][rule]["sentence"]["correction"]
        theirs = paper.figures("bert", "none", name)[3:]
        mine = (ours["precision"], ours["recall"], ours["f1"])
        gaps = [f"{own:.2f} ({own - other:+.2f})" for own, other in zip(mine, theirs, strict=True)]
        rows.append([_title(name, rule), *gaps])
    text = PUBLISHED.format(level=DEFAULT, citation=paper.CITATION)
    return text + "\n\n" + table(["", "precision", "recall", "F1"], rows)


def _sets(result: dict[str, Any], level: str) -> str:
    rows = []
    for name, levels in result["sets"].items():
        for rule, scores in levels[level].items():
            strict, loose = scores["sentence"], scores["sentence_loose"]
            rows.append(
                [_title(name, rule if len(levels[level]) > 1 else None)]
                + [f"{scores['sentences']:,} ({scores['erroneous']:,})"]
                + [
                    _number(strict[task][figure])
                    for task in ("detection", "correction")
                    for figure in ("precision", "recall", "f1")
                ]
                + [_number(loose[task]["f1"]) for task in ("detection", "correction")]
                + [_changed_clean(scores)]
            )
    columns = ["set", "sentences (with errors)", "D-P", "D-R", "D-F1", "C-P", "C-R", "C-F1"]
    return "D: detection, C: correction.\n\n" + table(
        [*columns, "loose D-F1", "loose C-F1", "clean changed"], rows
    )


def _changed_clean(scores: dict[str, Any]) -> str:
    return "–" if scores["sentences"] == scores["erroneous"] else _number(scores["changed_clean"])


def _clean(result: dict[str, Any]) -> str:
    clean = result["clean"]
    if not clean:
        return "Not measured in this run."
    rows = [
        [
            f"`{level}`",
            f"{found['changed']:,} of {clean['sentences']:,}",
            _number(found["percent"]),
            f"{found['changed_with_mistakes']} of {clean['with_mistakes']}",
        ]
        for level, found in clean["levels"].items()
    ]
    head = ["level", "correct sentences changed", "%", "sentences with a mistake changed"]
    return CLEAN.format(**clean) + "\n\n" + table(head, rows)


def _names(result: dict[str, Any]) -> str:
    names = result["names"]
    total = names["sentences"]
    rows, lost = [], []
    for level, found in names["levels"].items():
        kept, kept_when_listed = (total - len(found[key]) for key in ("edited", "edited_though_listed"))
        share = f"{kept} ({100 * kept / total:.1f} %)"
        rows.append([f"`{level}`", share, str(kept_when_listed), str(found["changed_sentences"])])
        edited = "，".join(f"{name}→{became}" for name, became in found["edited"]) or "none"
        lost.append(f"Edited at `{level}`: {edited}.")
    header = ["level", "kept", "kept when listed", "sentences changed anywhere, not listed"]
    parts = [NAMES.format(total=total, file=names["file"]), table(header, rows), *lost]
    return "\n\n".join(parts)


def _unusual(result: dict[str, Any]) -> str:
    rows = []
    for kind, found in result["unusual"].items():
        cells = [
            f"{found['sentences'] - len(level['edited'])} / {found['sentences'] - level['changed_sentences']}"
            for level in found["levels"].values()
        ]
        rows.append([kind, str(found["sentences"]), *cells])
    slips = [
        [f"characters {kind}", str(found["sentences"]), *(str(found["corrected"][level]) for level in LEVELS)]
        for kind, found in result["slips"].items()
    ]
    counted = table(["slips corrected", "sentences", *LEVELS], slips)
    return "\n\n".join([UNUSUAL, table(["", "sentences", *LEVELS], rows), SLIPS, counted])


def _cases(result: dict[str, Any]) -> str:
    rows = []
    for case in result["cases"]:
        levels = [level for level in LEVELS if case["answers"][level] == case["wanted"]]
        rows.append(
            [case["input"], case["wanted"], case["answers"][DEFAULT], ", ".join(levels) or "at no level"]
        )
    return table(["sentence", "wanted", f"answer at `{DEFAULT}`", "right at"], rows)


def _main(result: dict[str, Any], name: str, level: str) -> dict[str, Any]:
    """The scores of a set by the rule that its target is stated in, which is the first one measured."""
    scores: dict[str, Any] = next(iter(result["sets"][name][level].values()))
    return scores


def _title(name: str, rule: str | None = None) -> str:
    shown = rule or ("both" if name == "sighan13" else "none")
    return f"{TITLES[name]}, {RULES[shown]}" if name == "sighan13" else TITLES[name]


def _number(value: float) -> str:
    return f"{value:.2f}"
