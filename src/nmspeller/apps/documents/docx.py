"""Word documents: the text of their runs, in the body, tables, text boxes, headers, footers and notes."""

import io
import posixpath
import zipfile
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nmspeller.apps.documents import prose
from nmspeller.apps.documents.files import LARGEST
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.prose import Passage
from nmspeller.errors import InputError
from nmspeller.runtime.correction import Edit

_BODY = names("officeDocument")
_PARTS_WITH_TEXT = names("header footer footnotes endnotes comments")


@dataclass(frozen=True)
class DocxDocument:
    """`text` has one line a paragraph; `starts` has the offset of each text element of the XML."""

    name: str
    text: str
    passages: Sequence[Passage]
    raw: bytes
    trees: dict[str, Any]
    elements: list[Any]
    starts: list[int]

    @classmethod
    def parse(cls, raw: bytes, name: str) -> "DocxDocument":
        trees = _trees(raw, name)
        pieces: list[str] = []
        elements, starts, length = [], [], 0
        for tree in trees.values():
            for element, piece in _text_elements(tree):
                if element is not None:
                    elements.append(element)
                    starts.append(length)
                elif piece == "\n" and (not pieces or pieces[-1] == "\n"):
                    continue
                pieces.append(piece)
                length += len(piece)
        text = "".join(pieces)
        return cls(name, text, prose.passages(text, "text"), raw, trees, elements, starts)

    def with_edits(self, edits: Iterable[Edit]) -> bytes:
        """The archive with new text in the edited elements; every other member is unchanged.

        An edit may span several runs: each keeps its share of the characters, and its font.
        """
        from lxml import etree

        fresh = self.parse(self.raw, self.name)  # the trees are changed in place
        changed = {
            element.getroottree().getroot() for edit in reversed([*edits]) for element in fresh._replace(edit)
        }
        output = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(self.raw)) as old, zipfile.ZipFile(output, "w") as new:
            for member in old.infolist():
                content = old.read(member)
                tree = fresh.trees.get(member.filename)
                if tree is not None and tree in changed:
                    content = etree.tostring(
                        tree.getroottree(), encoding="UTF-8", xml_declaration=True, standalone=True
                    )
                new.writestr(member, content)
            new.comment = old.comment
        return output.getvalue()

    def _replace(self, edit: Edit) -> Iterator[Any]:
        """Write an edit's characters into the elements; the last element takes the remaining ones."""
        first = bisect_right(self.starts, edit.offset) - 1
        last = bisect_right(self.starts, edit.offset + edit.length - 1) - 1
        target = edit.target
        for index in range(first, last + 1):
            element, start = self.elements[index], self.starts[index]
            content = element.text or ""
            begin = max(edit.offset - start, 0)
            end = min(edit.offset + edit.length - start, len(content))
            share = target if index == last else target[: end - begin]
            target = target[len(share) :]
            try:
                element.text = content[:begin] + share + content[end:]
            except ValueError:  # a control character in a user's replacement
                raise InputError(
                    f"{self.name}: {edit.target!r} cannot be written in a Word document."
                ) from None
            yield element


def _trees(raw: bytes, name: str) -> dict[str, Any]:
    """The parsed parts that hold text, in the archive's order, the body first."""
    from lxml import etree

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if sum(member.file_size for member in archive.infolist()) > 4 * LARGEST:
                raise InputError(
                    f"{name} unpacks to more than {4 * LARGEST // 2**20} MB, more than the limit."
                )
            if damaged := archive.testzip():
                raise zipfile.BadZipFile(f"{damaged} is damaged")
            bodies = _related(archive, "", _BODY)
            others = [part for body in bodies for part in _related(archive, body, _PARTS_WITH_TEXT)]
            trees = {member: _parsed(archive.read(member)) for member in (*bodies, *others)}
    except InputError:
        raise
    except Exception as wrong:  # zipfile, zlib and lxml each raise their own exceptions
        raise InputError(f"{name} is not a Word document that can be read ({_first_line(wrong)}).") from None
    if not any(etree.QName(trees[body]).localname == "document" for body in bodies):
        raise InputError(f"{name} is not a Word document.")
    return trees


def _related(archive: zipfile.ZipFile, part: str, kinds: Container[str]) -> list[str]:
    """The members that a part, or the whole package where it is "", refers to as one of these kinds.

    References to missing members occur in real files; Word ignores them, python-docx fails.
    """
    folder, name = posixpath.split(part)
    references = posixpath.join(folder, "_rels", f"{name}.rels")
    if references not in archive.namelist():
        return []
    targets = {
        posixpath.normpath(posixpath.join("/", folder, reference.get("Target", ""))).lstrip("/")
        for reference in _parsed(archive.read(references)).iter("{*}Relationship")
        if reference.get("Type", "").rpartition("/")[2] in kinds and reference.get("TargetMode") != "External"
    }
    return [member for member in archive.namelist() if member in targets]


def _parsed(content: bytes) -> Any:
    from lxml import etree

    return etree.fromstring(content, etree.XMLParser(resolve_entities=False))


def _text_elements(tree: Any) -> Iterator[tuple[Any, str]]:
    """Each text element with its text; None with a line break or tab between them.

    Deleted text and field codes are in elements of other names. Moved text and phonetic guides are in text
    elements as well, and are skipped.
    """
    from lxml import etree

    # Word's two dialects, transitional and strict, have the same names in two namespaces.
    namespace = f"{{{etree.QName(tree).namespace}}}"
    paragraph, run, text_element, tab = (namespace + name for name in ("p", "r", "t", "tab"))
    breaks = {namespace + "br", namespace + "cr"}
    skipped = {namespace + "moveFrom", namespace + "rt"}
    tags = (paragraph, text_element, tab, *breaks, *skipped)
    walk = etree.iterwalk(tree, events=("start", "end"), tag=tags)
    for event, node in walk:
        if event == "start" and node.tag in skipped:
            walk.skip_subtree()
        elif node.tag == paragraph:
            # At both ends: a paragraph may be inside another one, in a text box.
            yield None, "\n"
        elif event == "start" and node.tag == text_element and node.text:
            yield node, node.text
        elif event == "start" and node.tag in breaks:
            yield None, "\n"
        elif event == "start" and node.tag == tab and node.getparent().tag == run:
            yield None, "\t"  # a tab stop of the paragraph's settings has the same name


def _first_line(wrong: Exception) -> str:
    return (str(wrong) or type(wrong).__name__).splitlines()[0][:120]
