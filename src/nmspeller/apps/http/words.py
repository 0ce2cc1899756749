"""`POST /v1/words/around`: which word a place in a text belongs to, for whoever keeps a list of words."""

import asyncio

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field, StrictInt
from starlette.responses import Response

from nmspeller.apps.http.access import require_key
from nmspeller.apps.http.answers import Json
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.native import ERRORS
from nmspeller.messages import _
from nmspeller.runtime.word_guess import words_around


class PlaceRequest(BaseModel):
    """A place in a text: an edit, a hint, or where a writer points."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": "我们高心集团的产品", "offset": 3, "length": 1}]},
    )
    text: str = Field(description="The sentence, or more of the text.")
    offset: StrictInt = Field(ge=0, description="In code points, from 0.")
    length: StrictInt = Field(1, ge=0, description="In code points; 0 for the gap before `offset`.")


class WordAnswer(BaseModel):
    """A word of the text."""

    offset: int = Field(description="In code points, from 0.")
    length: int = Field(description="In code points.")
    word: str


class WordsAnswer(BaseModel):
    """What may be the word there, the likeliest first; nothing where there is no word."""

    words: list[WordAnswer]


router = APIRouter(prefix="/v1", tags=["native"], dependencies=[Depends(require_key)])


@router.post(
    "/words/around",
    summary="The word at a place",
    response_model=WordsAnswer,
    responses={status: answer for status, answer in ERRORS.items() if status != 429},
)
async def guess_word(asked: PlaceRequest) -> Response:
    """Guess where the word at a place begins and ends, which Chinese does not show.

    Use it to offer a word where a user wants to add one to a list.
    """
    stop = asked.offset + asked.length
    if stop > len(asked.text):
        raise ApiError(422, _("offset and length must lie in the text."))
    found = await asyncio.to_thread(words_around, asked.text, asked.offset, stop)
    answers = [
        {"offset": start, "length": stop - start, "word": asked.text[start:stop]} for start, stop in found
    ]
    return Json({"words": answers})
