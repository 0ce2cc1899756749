"""Word documents: the text of their runs, in the body, tables, text boxes, headers, footers and notes."""

import io
import zipfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nmspeller.apps.documents import prose
from nmspeller.apps.documents.files import LARGEST
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.prose import Passage
from nmspeller.errors import InputError
from nmspeller.runtime.correction import Edit

_PARTS_WITH_TEXT = names("header footer footnotes endnotes comments")


@dataclass(frozen=True)
class DocxDocument:
    """`text` has one line a paragraph; `starts` says where in it each text element of the XML begins."""

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
        """The archive with new text in the elements that were edited; every other member as it was.

        An edit may reach over several runs: each keeps its share of the characters, and its type face.
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
                    content = etree.tostring(tree, encoding="UTF-8", xml_declaration=True, standalone=True)
                new.writestr(member, content)
        return output.getvalue()

    def _replace(self, edit: Edit) -> Iterator[Any]:
        """Write an edit's characters into the elements; the last element takes what is left over."""
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
            element.text = content[:begin] + share + content[end:]
            yield element


def _trees(raw: bytes, name: str) -> dict[str, Any]:
    """The parsed parts that hold text, in the archive's order, the body first."""
    from docx import Document
    from docx.oxml import parse_xml

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if sum(member.file_size for member in archive.infolist()) > 4 * LARGEST:
                raise InputError(
                    f"{name} unpacks to more than {4 * LARGEST // 2**20} MB, more than one check takes."
                )
            body = Document(io.BytesIO(raw)).part  # the library says whether it is a Word document at all
            others = {
                relation.target_part.partname.membername
                for relation in body.rels.values()
                if not relation.is_external and relation.reltype.rpartition("/")[2] in _PARTS_WITH_TEXT
            }
            members = [body.partname.membername, *(each for each in archive.namelist() if each in others)]
            return {member: parse_xml(archive.read(member)) for member in members}
    except InputError:
        raise
    except Exception as wrong:  # zipfile, lxml and python-docx each have their own ways to refuse
        raise InputError(f"{name} is not a Word document that can be read ({_first_line(wrong)}).") from None


def _text_elements(tree: Any) -> Iterator[tuple[Any, str]]:
    """Each text element with its text; None with the line break or tab that stands between them.

    Deleted text and the codes of fields are in elements of other names; what was moved away, and the readings
    of phonetic guides, are not, and are passed over.
    """
    from docx.oxml.ns import qn
    from lxml import etree

    paragraph, text_element, tab = qn("w:p"), qn("w:t"), qn("w:tab")
    breaks = {qn("w:br"), qn("w:cr")}
    unread = {qn("w:moveFrom"), qn("w:rt")}
    walk = etree.iterwalk(tree, events=("start", "end"), tag=(paragraph, text_element, tab, *breaks, *unread))
    for event, node in walk:
        if event == "start" and node.tag in unread:
            walk.skip_subtree()
        elif node.tag == paragraph:
            # At both ends: a paragraph may stand inside another one, in a text box.
            yield None, "\n"
        elif event == "start" and node.tag == text_element and node.text:
            yield node, node.text
        elif event == "start" and node.tag in breaks:
            yield None, "\n"
        elif event == "start" and node.tag == tab and node.getparent().tag == qn("w:r"):
            yield None, "\t"  # and not a tab stop of the paragraph's settings, which has the same name


def _first_line(wrong: Exception) -> str:
    return (str(wrong) or type(wrong).__name__).splitlines()[0][:120]
