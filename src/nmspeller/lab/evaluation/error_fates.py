"""What happens to each misspelt character: copied, corrected, or replaced by another wrong one.

The two harms that the paper's masking is for can be counted: label leakage, errors that are copied, and
disturbance, errors that stand beside another error.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from nmspeller.lab.evaluation import suites

ALONE, BESIDE = "alone", "beside"
COPIED, CORRECTED, REPLACED = "copied", "corrected", "replaced"


def count_fates(name: str, edits: Iterable[Sequence[int | str]]) -> dict[str, int]:
    """Errors of an evaluation set by neighbourhood and fate, such as {"beside copied": 12}.

    edits: [sentence, position, character], as `suites.edits_of` lists them.
    """
    answered = {(sentence, place): character for sentence, place, character in edits}
    counts: Counter[str] = Counter()
    for number, (source, target) in enumerate(suites.load(name)):
        wrong = {place for place in range(len(source)) if source[place] != target[place]}
        for place in wrong:
            where = BESIDE if {place - 1, place + 1} & wrong else ALONE
            answer = answered.get((number, place), source[place])
            fate = COPIED if answer == source[place] else CORRECTED if answer == target[place] else REPLACED
            counts[f"{where} {fate}"] += 1
    return dict(counts)
