"""By which rules a document is checked: its format, and the level and words of its project and its editor."""

from dataclasses import dataclass
from pathlib import Path

from nmspeller.apps.documents.prose import format_of, passages
from nmspeller.apps.lsp.settings import Settings
from nmspeller.errors import InputError

WORDS_FILE = ".nmspeller-words.txt"
WATCHED_FILES = (".nmspeller.toml", WORDS_FILE)

# Prose that some editor calls by a name of its own; the first ones have comments, but are prose besides them.
_EDITORS_NAMES = {
    **dict.fromkeys(("asciidoc", "gitcommit", "jjdescription", "mail", "org", "textile", "typst"), "text"),
    **dict.fromkeys(("mdx", "pandoc", "quarto", "rmd", "rmarkdown", "vimwiki"), "markdown"),
    **dict.fromkeys(("context", "plaintex"), "latex"),
}


@dataclass(frozen=True)
class Rules:
    """All that an answer of the speller depends on, beside the text."""

    format: str
    level: str | None = None
    words: tuple[str, ...] = ()
    model: str | None = None


def rules_for(
    language: str, path: Path | None, root: Path | None, settings: Settings
) -> tuple[Rules, list[str]]:
    """The rules for a document, and a sentence on each thing of the project that cannot be used."""
    complaints: list[str] = []
    words: tuple[str, ...] = ()
    file = words_file(path, root, settings)
    if file is not None:
        try:
            words = tuple(read_words(file))
        except InputError as wrong:
            complaints.append(str(wrong))
    return Rules(format_for(language, path), settings.level, words, settings.model), complaints


def format_for(language: str, path: Path | None) -> str:
    """The format of a document by the editor's name for its language, or else by the file's name."""
    format = _EDITORS_NAMES.get(language.lower(), language.lower())
    if format:
        try:
            passages("", format)
            return format
        except InputError:
            pass
    return format_of(path) if path else "text"


def words_file(path: Path | None, root: Path | None, settings: Settings) -> Path | None:
    if settings.words:
        return (root or Path.cwd()) / Path(settings.words).expanduser()
    folder = root or (path.parent if path else None)
    return folder / WORDS_FILE if folder else None


def read_words(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8").split()
    except FileNotFoundError:
        return []


def add_word(word: str, path: Path | None, root: Path | None, settings: Settings) -> None:
    file = words_file(path, root, settings)
    if file is None:
        raise InputError("Open a folder or set `nmspeller.words` to a file, so that your words have a place.")
    with file.open("a", encoding="utf-8") as out:
        out.write(word + "\n")
