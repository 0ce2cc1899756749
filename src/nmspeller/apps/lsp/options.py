"""How a document is checked: its format, and the settings of its project and its user."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from nmspeller.apps.documents.prose import OFFICE_FORMATS, format_of, passages
from nmspeller.apps.lsp.settings import EditorSettings
from nmspeller.apps.project import config, my_words
from nmspeller.apps.project.my_words import WORDS_FILE, resolves_inside
from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.dictionary import Watched, read_replacements, read_words
from nmspeller.runtime.rule_matches import DEFAULT_RULES

Result = TypeVar("Result")

WATCHED_FILES = (config.FILE_NAME, WORDS_FILE)

# Names that editors use for formats of prose. Pygments treats some of the first line as programs, of which
# only comments would be checked.
_EDITORS_NAMES = {
    **dict.fromkeys(("asciidoc", "jjdescription", "mail", "org", "textile", "typst"), "text"),
    **dict.fromkeys(("mdx", "pandoc", "quarto", "rmd", "rmarkdown", "vimwiki"), "markdown"),
    **dict.fromkeys(("context", "plaintex"), "latex"),
    "gitcommit": "git-commit",
}


@dataclass(frozen=True)
class Options:
    """Everything that the findings in a text depend on, apart from the text."""

    format: str
    level: str | None
    rules: bool | tuple[str, ...]
    words: tuple[str, ...]
    replacements: tuple[tuple[str, str], ...]
    model: str | None
    prefilter: bool
    ignored: bool

    @property
    def reading(self) -> tuple[str | None, str | None, bool]:
        """All that the model's answer to a part depends on, apart from the part."""
        return self.model, self.level, self.prefilter


@dataclass(frozen=True)
class DocumentPlace:
    """The place of a document and the settings of its editor.

    `path` is None for an unsaved document, `root` if the editor has no folder open.
    """

    path: Path | None
    root: Path | None
    settings: EditorSettings

    def options(self, language: str) -> tuple[Options, list[str]]:
        """The options for a document, and a warning for each file that cannot be used and is ignored."""
        warnings: list[str] = []

        def attempt(read: Callable[..., Result], *file: Path) -> Result | None:
            try:
                return read(*file)
            except InputError as error:
                warnings.append(str(error))
                return None

        project = attempt(self._project) or config.Config()
        files = dict.fromkeys((*project.words, *self._my_words(project, existing=True)))
        words = [word for file in files for word in attempt(_words, file) or ()]
        replacements: dict[str, str] = {}
        for file in project.replacements:
            replacements.update(attempt(_replacements, file) or {})
        options = Options(
            format=self._format(language, project),
            level=self.settings.level or project.level,
            rules=self._rules(project),
            words=tuple(words),
            replacements=tuple(replacements.items()),
            model=self._model(),
            prefilter=self.settings.prefilter,
            ignored=self.path is not None and project.ignores(self.path),
        )
        return options, warnings

    def add_word(self, word: str) -> None:
        """Append a word to the user's file, which is created if it does not exist."""
        word = my_words.checked_word(word)
        try:
            files = self._my_words(self._project())
        except InputError:
            files = self._my_words(config.Config())
        if not files:
            raise InputError(
                _("Open a folder, or set `nmspeller.words` to a file, as the place for new words.")
            )
        my_words.add_word(files[0], word)

    def _project(self) -> config.Config:
        # The file may have changed since the last check, and the cache lives as long as the server.
        config.forget()
        anchor = self.path or (self.root / "unsaved" if self.root else None)
        return config.config_for(anchor) if anchor else config.Config()

    def _my_words(self, project: config.Config, *, existing: bool = False) -> list[Path]:
        """The user's files of words; new words are added to the first.

        A project from elsewhere must not choose which file is written: its own file, and a link in its
        folder, are used only if they resolve to a path inside the project.
        """
        files: list[Path] = []
        if self.settings.words:
            files.append(self._from_root(self.settings.words))
        files += [file for file in project.words[:1] if resolves_inside(file, project.folder)]
        folder = self.root or (self.path.parent if self.path else None)
        if folder and resolves_inside(folder / WORDS_FILE, folder):
            files.append(folder / WORDS_FILE)
        # Not `Path.exists`, which raises for names that are too long and folders without permission.
        return [file for file in files if os.path.exists(file)] if existing else files

    def _rules(self, project: config.Config) -> bool | tuple[str, ...]:
        chosen = project.rules if self.settings.rules is None else self.settings.rules
        return DEFAULT_RULES if chosen is None else chosen

    def _model(self) -> str | None:
        return str(self._from_root(self.settings.model)) if self.settings.model else None

    def _from_root(self, name: str) -> Path:
        return (self.root or Path.cwd()) / Path(name).expanduser()

    def _format(self, language: str, project: config.Config) -> str:
        """By the project's settings, or else the editor's name for the language, or else the file's name."""
        given = project.format_of(self.path) if self.path else "auto"
        if given not in ("auto", *OFFICE_FORMATS):
            return given
        name = _EDITORS_NAMES.get(language.lower(), language.lower())
        if name and _is_known(name):
            return name
        named = format_of(self.path) if self.path else "text"
        return named if named not in OFFICE_FORMATS else "text"


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
