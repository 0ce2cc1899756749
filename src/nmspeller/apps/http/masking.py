"""`POST /v1/masking`: how the model reads each character of a sentence, with and without its n-gram masked.

Masking here is literal, the paper's ideal: for each position the sentence is read once with the characters of
its window replaced by [MASK]. The attention of the model's masking layer is shown beside it.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from nmspeller.apps.http.access import require_key
from nmspeller.apps.http.answers import Json
from nmspeller.apps.http.native import REFUSALS
from nmspeller.apps.http.refusals import Refusal
from nmspeller.apps.http.service import Service
from nmspeller.errors import InputError
from nmspeller.runtime.engine import Engine, Floats, Ids
from nmspeller.runtime.masking import FILE, MaskingLayer
from nmspeller.runtime.reader import SHIPPED
from nmspeller.text.script import simplify
from nmspeller.text.vocabulary import Vocabulary

Bounds = Sequence[tuple[int, int]]

_LONGEST_SENTENCE = 40
_WINDOWS = {"character": (0, 0), "left": (1, 0), "right": (0, 1), "both": (1, 1)}

router = APIRouter(prefix="/v1", tags=["native"], dependencies=[Depends(require_key)])


class MaskingRequest(BaseModel):
    """Which sentence, and how much of it is masked at each position."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "我很高心。", "window": "both"}]}
    )
    text: str = Field(min_length=1, max_length=_LONGEST_SENTENCE)
    window: Literal["character", "left", "right", "both"] = Field(
        "both", description="The character alone, or with its left, right or both neighbours."
    )


class Candidate(BaseModel):
    """What the model would write."""

    character: str
    probability: float = Field(ge=0, le=1)


class Position(BaseModel):
    """A character of the sentence and the model's five likeliest for its place."""

    character: str
    window: tuple[int, int] = Field(description="Where the masked characters start and stop.")
    as_is: list[Candidate] = Field(description="When the whole sentence is read.")
    masked: list[Candidate] = Field(description="When the window is masked.")


class MaskingAnswer(BaseModel):
    """`attention[i][j]`: how much the masking layer looks at character j to predict character i."""

    positions: list[Position]
    attention: list[list[float]] | None = Field(description="Null where the model's folder has no layer.")
    trained: bool = Field(
        description="Whether the model was trained with the layer; else it is shown as training would begin."
    )


@router.post(
    "/masking",
    summary="See a sentence through n-gram masking",
    response_model=MaskingAnswer,
    responses={404: {**REFUSALS[422], "description": "This model cannot be shown"}, **REFUSALS},
)
async def show_masking(asked: MaskingRequest, request: Request) -> Response:
    """What the model would write at each position, with the sentence as it is and with its n-gram masked."""
    service: Service = request.app.state.service

    def read() -> dict[str, Any]:
        reader = _reader_of(service.settings.model, service.checker.model_hash)
        return reader.read(asked.text, asked.window)

    try:
        answer = await service.aside(read)
    except InputError as wrong:
        raise Refusal(404, f"This server's model cannot be shown: {wrong}") from None
    return Json(answer)


@lru_cache(maxsize=1)
def _reader_of(model: str | None, _hash: str) -> "MaskedReader":
    """The reader of a server's model, loaded when it is first asked for: most servers never need it.

    After a reload the folder may hold another model, which the hash tells.
    """
    return MaskedReader(Path(model) if model else SHIPPED)


class MaskedReader:
    """Reads a sentence once as it is and once for each position with that position's window masked."""

    def __init__(self, folder: Path) -> None:
        self._vocabulary = Vocabulary.from_file(folder / "vocab.txt")
        self._engine = Engine(folder / "model.onnx", self._vocabulary)
        stored = folder / FILE
        self._layer = MaskingLayer.read(stored) if stored.is_file() else None

    def read(self, text: str, window: str) -> dict[str, Any]:
        """The answer to a request."""
        ids = self._vocabulary.encode(simplify(text).text)
        left, right = _WINDOWS[window]
        length = len(ids)
        bounds = [(max(0, at - left), min(length, at + right + 1)) for at in range(length)]
        rows = np.tile(ids, (length + 1, 1))
        for at, (start, stop) in enumerate(bounds):
            rows[at + 1, start:stop] = self._vocabulary.mask
        best, probabilities = self._score(rows)
        return {
            "positions": [
                {
                    "character": character,
                    "window": bounds[at],
                    "as_is": self._candidates(best[0, at], probabilities[0, at]),
                    "masked": self._candidates(best[at + 1, at], probabilities[at + 1, at]),
                }
                for at, character in enumerate(text)
            ],
            "attention": self._attention(ids, bounds),
            "trained": self._layer is not None and self._layer.trained,
        }

    def _score(self, rows: Ids) -> tuple[Ids, Floats]:
        """The five best of every position of every row, (rows, length, 5) each."""
        count, length = rows.shape
        starts = np.arange(count) * length
        best = np.zeros((rows.size, 5), np.int32)
        probabilities = np.zeros((rows.size, 5), np.float32)
        for scores in self._engine.scores(rows.reshape(-1), starts, starts + length):
            best[scores.positions] = scores.best
            probabilities[scores.positions] = scores.probabilities
        return best.reshape(count, length, 5), probabilities.reshape(count, length, 5)

    def _candidates(self, best: Ids, probabilities: Floats) -> list[dict[str, Any]]:
        tokens = self._vocabulary.tokens
        return [
            {"character": tokens[token], "probability": round(min(1.0, float(probability)), 4)}
            for token, probability in zip(best, probabilities, strict=True)
        ]

    def _attention(self, ids: Ids, bounds: Bounds) -> list[list[float]] | None:
        if self._layer is None:
            return None
        weights = self._layer.attention(self._engine.embedded(ids), bounds)
        return [[round(float(weight), 4) for weight in row] for row in weights]
