"""By which rules a document is checked: its format, and what its project and its writer ask for."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from nmspeller.apps.documents import config
from nmspeller.apps.documents.prose import format_of, passages
from nmspeller.apps.lsp.settings import Settings
from nmspeller.errors import InputError
from nmspeller.runtime.dictionary import Watched, read_replacements, read_words
from nmspeller.text.protect import WordMatcher
from nmspeller.text.script import Script, fold, simplify

Result = TypeVar("Result")

WORDS_FILE = ".nmspeller-words.txt"
WATCHED_FILES = (config.FILE_NAME, WORDS_FILE)

# Prose that some editor calls by a name of its own. Pygments knows some of the first line as programs, whose
# comments alone would be read.
_EDITORS_NAMES = {
    **dict.fromkeys(("asciidoc", "gitcommit", "jjdescription", "mail", "org", "textile", "typst"), "text"),
    **dict.fromkeys(("mdx", "pandoc", "quarto", "rmd", "rmarkdown", "vimwiki"), "markdown"),
    **dict.fromkeys(("context", "plaintex"), "latex"),
}


@dataclass(frozen=True)
class Rules:
    """All that the speller's answers depend on, beside the text."""

    format: str
    level: str | None
    words: tuple[str, ...]
    replacements: tuple[tuple[str, str], ...]
    model: str | None
    prefilter: bool
    ignored: bool

    def unchanged_since(self, before: "Rules", texts: Iterable[str]) -> list[str]:
        """The texts of which these rules say what those before said: a word concerns those that hold it."""
        if replace(before, words=self.words) != self:
            return []
        words = WordMatcher(set(before.words) ^ set(self.words))

        def is_concerned(text: str) -> bool:
            # A Simplified word also holds in a Traditional text.
            return bool(
                words.ranges(text)
                or words.folded.ranges(fold(simplify(text, document_script=Script.TRADITIONAL).text))
            )

        return [text for text in texts if not is_concerned(text)]


@dataclass(frozen=True)
class Place:
    """Where a document is and what its editor sets.

    `path` is None for a text that was never saved, `root` for an editor that has no folder open.
    """

    path: Path | None
    root: Path | None
    settings: Settings

    def rules(self, language: str) -> tuple[Rules, list[str]]:
        """The rules for a document, and a sentence on each file that cannot be used and is left out."""
        complaints: list[str] = []

        def attempt(read: Callable[..., Result], *file: Path) -> Result | None:
            try:
                return read(*file)
            except InputError as wrong:
                complaints.append(str(wrong))
                return None

        project = attempt(self._project) or config.Config()
        files = dict.fromkeys((*project.words, *self._my_words(project, existing=True)))
        words = [word for file in files for word in attempt(_words, file) or ()]
        replacements: dict[str, str] = {}
        for file in project.replacements:
            replacements.update(attempt(_replacements, file) or {})
        rules = Rules(
            format=self._format(language, project),
            level=self.settings.level or project.level,
            words=tuple(words),
            replacements=tuple(replacements.items()),
            model=self._model(),
            prefilter=self.settings.prefilter,
            ignored=self.path is not None and project.ignores(self.path),
        )
        return rules, complaints

    def add_word(self, word: str) -> None:
        """Append a word to the writer's file, which is made if it is not there yet."""
        word = word.strip()
        if not word or word.startswith("#") or len(word.splitlines()) > 1:
            raise InputError(f"{word!r} cannot be a line of a file of words; select a word.")
        try:
            files = self._my_words(self._project())
        except InputError:
            files = self._my_words(config.Config())
        if not files:
            raise InputError("Open a folder, or set `nmspeller.words` to a file, so that words have a place.")
        file = files[0]
        try:
            line = f"{word}\n".encode()
            before = file.read_bytes() if file.exists() else b""
            if before and word in read_words(file):
                return
            with file.open("ab") as out:
                out.write(line if not before or before.endswith(b"\n") else b"\n" + line)
        except (OSError, UnicodeEncodeError) as wrong:
            raise InputError(f"“{word}” could not be added to {file} ({wrong}).") from wrong

    def _project(self) -> config.Config:
        # The file may have changed since the last check, and the command line's cache lives as long as we do.
        config.forget()
        anchor = self.path or (self.root / "unsaved" if self.root else None)
        return config.config_for(anchor) if anchor else config.Config()

    def _my_words(self, project: config.Config, *, existing: bool = False) -> list[Path]:
        """The writer's files of words, the one that takes new words first.

        A project that somebody else wrote must not choose what is written to: its own file, and a link in its
        folder, count only if they lead to a place inside the project.
        """
        files: list[Path] = []
        if self.settings.words:
            files.append(self._from_root(self.settings.words))
        files += [file for file in project.words[:1] if _leads_inside(file, project.folder)]
        folder = self.root or (self.path.parent if self.path else None)
        if folder and _leads_inside(folder / WORDS_FILE, folder):
            files.append(folder / WORDS_FILE)
        # Not `Path.exists`, which raises of a name that is too long or a folder that is closed to us.
        return [file for file in files if os.path.exists(file)] if existing else files

    def _model(self) -> str | None:
        return str(self._from_root(self.settings.model)) if self.settings.model else None

    def _from_root(self, name: str) -> Path:
        return (self.root or Path.cwd()) / Path(name).expanduser()

    def _format(self, language: str, project: config.Config) -> str:
        """By the project's word, or else the editor's name for the language, or else the file's name."""
        given = project.format_of(self.path) if self.path else "auto"
        if given not in ("auto", "docx"):
            return given
        name = _EDITORS_NAMES.get(language.lower(), language.lower())
        if name and _is_known(name):
            return name
        named = format_of(self.path) if self.path else "text"
        return named if named != "docx" else "text"


def _leads_inside(file: Path, folder: Path) -> bool:
    try:
        return file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


@lru_cache(maxsize=256)
def _is_known(format: str) -> bool:
    try:
        passages("", format)
    except InputError:
        return False
    return True


@lru_cache(maxsize=64)
def _watched_words(file: Path) -> Watched[list[str]]:
    return Watched(file, read_words)


@lru_cache(maxsize=64)
def _watched_replacements(file: Path) -> Watched[dict[str, str]]:
    return Watched(file, read_replacements)


def _words(file: Path) -> list[str]:
    return _watched_words(file).current()


def _replacements(file: Path) -> dict[str, str]:
    return _watched_replacements(file).current()
