"""The user's own file of correct words: where it is, and how a word is added to it."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nmspeller.apps.project.config import Config
from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.dictionary import read_words

WORDS_FILE = ".nmspeller-words.txt"


def with_my_words(project: Config, path: Path) -> Config:
    """The settings of a document, with the words that its user added, if there are any."""
    beside = _beside(path, project)
    # Not `Path.exists`, which raises for names that are too long and folders without permission.
    return replace(project, words=(*project.words, beside)) if os.path.exists(beside) else project


def words_file(path: Path, project: Config, asked: Sequence[Path] = ()) -> Path:
    """Where new words of a document are added: the file that the user asked for, or else the project's.

    A project from elsewhere must not choose which file is written: its own file, and a link in its folder,
    are used only if they resolve to a path inside the project.
    """
    if asked:
        return asked[0]
    if project.words and resolves_inside(project.words[0], project.folder):
        return project.words[0]
    beside = _beside(path, project)
    if not resolves_inside(beside, beside.parent):
        raise InputError(_("{file} points outside its folder; give a file with --words.").format(file=beside))
    return beside


def resolves_inside(file: Path, folder: Path) -> bool:
    """Whether the file, all links followed, is in the folder or below."""
    try:
        return file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link to itself
        return False


def checked_word(word: str) -> str:
    """The word without white space around it, which must be one that can be a line of the file."""
    word = word.strip()
    if not word or word.startswith("#") or len(word.splitlines()) > 1:
        raise InputError(
            _("{word} cannot be a line of a file of words; select a word.").format(word=repr(word))
        )
    return word


def add_word(file: Path, word: str) -> None:
    """Append a word to the file, which is created if it does not exist."""
    word = checked_word(word)
    try:
        line = f"{word}\n".encode()
        before = file.read_bytes() if file.exists() else b""
        if before and word in read_words(file):
            return
        with file.open("ab") as out:
            out.write(line if not before or before.endswith(b"\n") else b"\n" + line)
    except (OSError, UnicodeEncodeError) as error:
        raise InputError(
            _("“{word}” could not be added to {file} ({wrong}).").format(word=word, file=file, wrong=error)
        ) from error


def _beside(path: Path, project: Config) -> Path:
    """The file of words beside the project's settings, or beside the document if there are none."""
    return (path.parent if project == Config() else project.folder) / WORDS_FILE
