"""The quality of a pretrained encoder: three figures on held-out text, always on the same rows."""

from contextlib import nullcontext

import numpy as np
import torch
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.data.corpus import BLOCK_LINES, HELD_OUT_EVERY
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.models.batch import collate
from nmspeller.lab.models.speller import SpellerModel

CHARACTERS = 126


def probe(
    model: SpellerModel, prepared: Prepared, *, rows: int = 4096, batch_rows: int = 256
) -> dict[str, float]:
    """Percentages on held-out rows of 126 characters.

    masked: of the 15 % of characters replaced by [MASK], how many are predicted.
    restored: of the 4 % of characters replaced by a confusable one, how many are restored.
    disturbed: of the correct characters of those rows, how many are changed.
    """
    vocabulary, random = prepared.vocabulary, np.random.default_rng(20_230_503)
    text = held_out(prepared)
    starts = random.choice(
        len(text) // CHARACTERS - 1, size=min(rows, len(text) // CHARACTERS - 1), replace=False
    )
    right = text[starts[:, None] * CHARACTERS + np.arange(CHARACTERS)].astype(np.int32)
    hanzi = vocabulary.is_hanzi()[right]

    hidden = hanzi & (random.random(right.shape) < 0.15)
    guesses = _predict(
        model, np.where(hidden, vocabulary.mask, right), vocabulary.cls, vocabulary.sep, batch_rows
    )

    noise = prepared.noise
    profiles = np.array([number for number, name in enumerate(noise.names) if name != "wang2018"])
    errors = np.full(len(right), 0.04 * CHARACTERS)
    profile = profiles[random.integers(len(profiles), size=len(right))]
    wrong = noise.corrupt(right, profile, errors, random)
    answers = _predict(model, wrong, vocabulary.cls, vocabulary.sep, batch_rows)
    misspelt = wrong != right
    return {
        "masked": 100 * float((guesses == right)[hidden].mean()),
        "restored": 100 * float((answers == right)[misspelt].mean()),
        "disturbed": 100 * float((answers != right)[hanzi & ~misspelt].mean()),
    }


def held_out(prepared: Prepared) -> NDArray[np.uint16]:
    """The text that pretraining is evaluated on.

    Raises:
        InputError: there is not enough of it for two rows.
    """
    text = prepared.corpus("heldout")
    if len(text) < 2 * CHARACTERS:
        raise InputError(
            f"{prepared.folder} has too little held-out text; prepare a corpus with files of "
            f"more than {BLOCK_LINES * HELD_OUT_EVERY:,} lines."
        )
    return text


def _predict(
    model: SpellerModel, ids: NDArray[np.int32], cls: int, sep: int, batch_rows: int
) -> NDArray[np.int64]:
    model.eval()
    device = next(model.parameters()).device
    half = torch.autocast("cuda", dtype=torch.bfloat16) if device.type == "cuda" else nullcontext()
    answers = []
    for first in range(0, len(ids), batch_rows):
        batch = collate([np.concatenate(([cls], row, [sep])) for row in ids[first : first + batch_rows]])
        with half:
            answers.append(model.predict(batch.to(device))[0][:, 1 : ids.shape[1] + 1].cpu().numpy())
    return np.concatenate(answers)
