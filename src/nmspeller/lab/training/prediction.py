"""A trained model on plain sentences, in large batches: the laboratory's counterpart of the engine."""

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
import torch

from nmspeller.lab.models.batch import collate
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.text.vocabulary import Vocabulary

LONGEST = 510  # characters that fit BERT's 512 positions


def correct_sentences(
    model: SpellerModel, vocabulary: Vocabulary, sentences: Sequence[str], *, batch_tokens: int = 32_768
) -> list[str]:
    """Each sentence with the model's best character at each place; only Hanzi are replaced, and by Hanzi.

    What lies beyond 510 characters stays as it is.
    """
    model.eval()
    device = next(model.parameters()).device
    hanzi = vocabulary.is_hanzi()
    order = sorted(range(len(sentences)), key=lambda index: len(sentences[index]))
    corrected = list(sentences)
    half = torch.autocast("cuda", dtype=torch.bfloat16) if device.type == "cuda" else nullcontext()
    first = 0
    while first < len(order):
        last = first
        while (
            last < len(order)
            and (last - first + 1) * (min(len(sentences[order[last]]), LONGEST) + 2) <= batch_tokens
        ):
            last += 1
        last = max(last, first + 1)
        chosen = order[first:last]
        ids = [vocabulary.encode(sentences[index][:LONGEST]) for index in chosen]
        batch = collate(
            [np.concatenate(([vocabulary.cls], row, [vocabulary.sep])) for row in ids], pad=vocabulary.pad
        )
        with half:
            best, _ = model.predict(batch.to(device))
        predicted = best.cpu().numpy()
        for number, (index, row) in enumerate(zip(chosen, ids, strict=True)):
            answer = predicted[number, 1 : len(row) + 1]
            characters = list(sentences[index])
            for place in np.flatnonzero((answer != row) & hanzi[answer] & hanzi[row]):
                characters[place] = vocabulary.tokens[answer[place]]
            corrected[index] = "".join(characters)
        first = last
    return corrected
