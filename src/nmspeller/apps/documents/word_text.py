"""The text of WordprocessingML: text elements, the runs that they are in, and where each is in the bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.office import OBJECT, TextSpan
from nmspeller.apps.documents.word_markup import Dialect
from nmspeller.apps.documents.xml_content import TextReplacement, text_of, with_text
from nmspeller.apps.documents.xml_events import Event, escaped, events, skip

AUTHOR = "nmspeller"
"""The author of tracked changes and of the comments on them, if no other is named."""

INITIALS = "nmspeller"
"""Of every author of such comments, so that they are known and not checked."""

_BLANKS = " \t\r\n"  # not shown at the ends of a text element, unless it says that it keeps them
_SPACE = "http://www.w3.org/XML/1998/namespace}space"
# Deleted and moved text, and readings above characters.
_SKIPPED = names("del moveFrom rt")
_INSERTIONS = names("ins moveTo")
_BREAKS = names("br cr")
_OBJECTS = names("oMath inline")  # formulas, and pictures that are not beside the text


@dataclass
class Run:
    """Where a run and its parts are; `insertion` is the start tag of the insertion that it is directly in."""

    start: int
    content: int  # after its properties
    tag: tuple[int, int]
    dialect: Dialect
    insertion: tuple[int, int] | None
    takes_comments: bool
    properties: tuple[int, int] = (0, 0)
    content_stop: int = 0
    stop: int = 0


@dataclass(frozen=True)
class WordText(TextSpan):
    """A text element; its content is from `content` to `content_stop`."""

    content: int
    content_stop: int
    keeps_blanks: bool
    run: Run = field(compare=False)

    def with_text(self, replacements: Sequence[TextReplacement], xml: bytes) -> bytes:
        tag, end = xml[self.start : self.content], xml[self.content_stop : self.stop]
        content = xml[self.content : self.content_stop]
        shown = text_of(content)
        hidden = 0 if self.keeps_blanks else len(shown) - len(shown.lstrip(_BLANKS))
        in_content = [
            TextReplacement(begin + hidden, stop + hidden, text) for begin, stop, text in replacements
        ]
        text = text_of(with_text(escaped(self.text), replacements))
        if not self.keeps_blanks and text != text.strip(_BLANKS):
            # What the text has at its ends is to be shown, but not what was there before.
            tag = tag[:-1] + b' xml:space="preserve">'
            rest = hidden + len(self.text), len(shown)
            in_content = [TextReplacement(0, hidden, ""), *in_content, TextReplacement(*rest, "")]
        return tag + with_text(content, in_content) + end


def texts(member: str, xml: bytes, is_body: bool) -> Iterator[WordText | str]:
    """Each text element that is directly in a run, with line breaks, tabs and objects between them.

    Deleted text and field codes are in elements of other names.
    """
    walk = events(xml)
    namespace = ""  # Word's two dialects, transitional and strict, have the same names in two namespaces
    open_elements: list[tuple[str, Event]] = []
    runs: list[Run] = []
    dialect = Dialect(b"w:", b"")
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
        namespace = namespace or event.namespace
        name = event.local_name if event.namespace == namespace else event.name
        above = _parent(open_elements)
        if name in _SKIPPED or (name == "comment" and _by_nmspeller(event)):
            skip(walk)
        elif name == "t" and above == "r":
            if text := _text(member, event, walk, runs[-1]):
                yield text
        else:
            open_elements.append((name, event))
        if name == "p":
            yield "\n"
            dialect = Dialect.of(event.within(xml), namespace)
        elif name == "r":
            inside = [one for one, _tag in open_elements]
            insertion = open_elements[-2][1] if above in _INSERTIONS else None
            runs.append(
                Run(
                    event.start,
                    event.stop,
                    (event.start, event.stop),
                    dialect,
                    (insertion.start, insertion.stop) if insertion else None,
                    is_body and _takes_comments(inside),
                )
            )
        elif name in _BREAKS:
            yield "\n"
        elif event.local_name in _OBJECTS:
            yield OBJECT
        elif name == "tab" and above == "r":
            yield "\t"  # a tab stop of the paragraph's settings has the same name


def _parent(open_elements: list[tuple[str, Event]]) -> str:
    return open_elements[-1][0] if open_elements else ""


def _by_nmspeller(comment: Event) -> bool:
    return any(
        (name.endswith("}initials") and value == INITIALS) or (name.endswith("}author") and value == AUTHOR)
        for name, value in comment.attributes.items()
    )


def _takes_comments(inside: list[str]) -> bool:
    """Whether Word lets a comment refer to text in these elements: no text box, field or phonetic guide."""
    paragraph = len(inside) - 1 - inside[::-1].index("p") if "p" in inside else 0
    return "txbxContent" not in inside and not {"sdtContent", "rubyBase"} & set(inside[paragraph:])


def _text(member: str, tag: Event, walk: Iterator[Event], run: Run) -> WordText | None:
    """The text element that begins with this tag; None if it is empty, or has elements inside."""
    content, is_plain = "", True
    for event in walk:
        if event.kind == "end":
            keeps_blanks = tag.attributes.get(_SPACE) == "preserve"
            content = content if keeps_blanks else content.strip(_BLANKS)
            whole = WordText(member, tag.start, event.stop, content, tag.stop, event.start, keeps_blanks, run)
            return whole if content and is_plain else None
        if event.kind == "start":
            is_plain = False
            skip(walk)
        content += event.text
    return None
