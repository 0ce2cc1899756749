"""Word documents: the text of their runs, in the body, tables, text boxes, headers, footers and notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nmspeller.apps.documents import package
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.office import OfficeDocument, Piece, assembled
from nmspeller.apps.documents.package import references
from nmspeller.apps.documents.xml_events import Event, Source, escaped, events, prefix, root
from nmspeller.errors import InputError
from nmspeller.messages import N_, _

AUTHOR = "nmspeller"
"""The author of tracked changes and of the comments on them, which are not checked."""

BODY = names("officeDocument")
_PARTS_WITH_TEXT = names("header footer footnotes endnotes comments")
_KIND = N_("a Word document")

# Deleted and moved text, and readings above characters.
_SKIPPED = names("del moveFrom rt")
_INSERTIONS = names("ins moveTo")
_BREAKS = names("br cr")


@dataclass
class Run:
    """Where a run and its parts are; `insertion` is the start tag of the insertion that it is directly in."""

    start: int
    content: int  # after its properties
    tag: tuple[int, int]
    prefix: bytes
    insertion: tuple[int, int] | None
    takes_comments: bool
    properties: tuple[int, int] = (0, 0)
    content_stop: int = 0
    stop: int = 0


@dataclass(frozen=True)
class WordText(Piece):
    """A text element; its content is from `content` to `content_stop`."""

    content: int
    content_stop: int
    keeps_blanks: bool
    run: Run = field(compare=False)

    def holding(self, text: str, xml: bytes) -> bytes:
        tag = xml[self.start : self.content]
        if text != text.strip() and not self.keeps_blanks:
            tag = tag[:-1] + b' xml:space="preserve">'
        return tag + escaped(text) + xml[self.content_stop : self.stop]


@dataclass(frozen=True)
class DocxDocument(OfficeDocument):
    """A Word document; `body` is the member of its main part."""

    pieces: Sequence[WordText]
    body: str

    @classmethod
    def parse(cls, raw: bytes, name: str) -> "DocxDocument":
        with package.reading(raw, name, _KIND) as archive:
            bodies = [one.member for one in references(archive, "", BODY)]
            others = [one.member for body in bodies for one in references(archive, body, _PARTS_WITH_TEXT)]
            sources = {member: Source.of(archive.read(member)).xml for member in (*bodies, *others)}
            body = next((member for member in bodies if root(sources[member]) == "document"), None)
            if body is None:
                raise InputError(_("{name} is not a Word document.").format(name=name))
            found = (one for member, xml in sources.items() for one in _texts(member, xml, member == body))
            text, passages, pieces, starts = assembled(found)
        return cls(name, text, passages, raw, pieces, starts, body)


def _texts(member: str, xml: bytes, is_body: bool) -> Iterator[WordText | str]:
    """Each text element that is directly in a run, with line breaks and tabs between them.

    Deleted text and field codes are in elements of other names.
    """
    walk = events(xml)
    namespace = ""  # Word's two dialects, transitional and strict, have the same names in two namespaces
    open_elements: list[tuple[str, Event]] = []
    runs: list[Run] = []
    paragraph_prefix = b""
    for event in walk:
        if event.kind == "end":
            name, tag = open_elements.pop()
            if name == "p":
                yield "\n"  # at both ends: a paragraph may be inside another one, in a text box
            elif name == "rPr" and _parent(open_elements) == "r":
                runs[-1].properties = tag.start, event.stop
                runs[-1].content = event.stop
            elif name == "r":
                run = runs.pop()
                run.content_stop, run.stop = event.start, event.stop
        if event.kind != "start":
            continue
        namespace = namespace or event.name.rpartition("}")[0]
        space, _separator, local = event.name.rpartition("}")
        name = local if space == namespace else event.name
        above = _parent(open_elements)
        if name in _SKIPPED or (name == "comment" and _by_nmspeller(event)):
            _skip(walk)
        elif name == "t" and above == "r":
            if text := _text(member, event, walk, runs[-1]):
                yield text
        else:
            open_elements.append((name, event))
        if name == "p":
            yield "\n"
            paragraph_prefix = prefix(xml[event.start : event.stop])
        elif name == "r":
            inside = [one for one, _tag in open_elements]
            insertion = open_elements[-2][1] if above in _INSERTIONS else None
            runs.append(
                Run(
                    event.start,
                    event.stop,
                    (event.start, event.stop),
                    paragraph_prefix,
                    (insertion.start, insertion.stop) if insertion else None,
                    is_body and _takes_comments(inside),
                )
            )
        elif name in _BREAKS:
            yield "\n"
        elif name == "tab" and above == "r":
            yield "\t"  # a tab stop of the paragraph's settings has the same name


def _parent(open_elements: list[tuple[str, Event]]) -> str:
    return open_elements[-1][0] if open_elements else ""


def _by_nmspeller(comment: Event) -> bool:
    return AUTHOR in (value for name, value in comment.attributes.items() if name.endswith("}author"))


def _takes_comments(inside: list[str]) -> bool:
    """Whether Word lets a comment refer to text in these elements: no text box, field or phonetic guide."""
    paragraph = len(inside) - 1 - inside[::-1].index("p") if "p" in inside else 0
    return "txbxContent" not in inside and not {"sdtContent", "rubyBase"} & set(inside[paragraph:])


def _skip(walk: Iterator[Event]) -> None:
    depth = 1
    while depth:
        kind = next(walk).kind
        depth += (kind == "start") - (kind == "end")


def _text(member: str, tag: Event, walk: Iterator[Event], run: Run) -> WordText | None:
    """The text element that begins with this tag; None if it is empty, or has elements inside."""
    content, is_plain = "", True
    for event in walk:
        if event.kind == "end":
            keeps_blanks = tag.attributes.get(_SPACE) == "preserve"
            whole = WordText(member, tag.start, event.stop, content, tag.stop, event.start, keeps_blanks, run)
            return whole if content and is_plain else None
        if event.kind == "start":
            is_plain = False
            _skip(walk)
        content += event.text
    return None


_SPACE = "http://www.w3.org/XML/1998/namespace}space"
