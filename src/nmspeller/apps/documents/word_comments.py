"""Comments in a Word document that say why a change is proposed."""

import posixpath
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.package import references, references_of
from nmspeller.apps.documents.word_markup import Dialect
from nmspeller.apps.documents.word_text import INITIALS
from nmspeller.apps.documents.xml_events import Splice, XmlSource, at_end, escaped, root, tag_name
from nmspeller.messages import _
from nmspeller.runtime.findings import Edit, Reason

_COMMENTS = names("comments")
_CONTENT_TYPES = "[Content_Types].xml"
_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_DECLARATION = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_NO_TYPES, _NO_REFERENCES = (
    _DECLARATION + b'<%s xmlns="http://schemas.openxmlformats.org/package/2006/%s"/>' % (root, namespace)
    for root, namespace in ((b"Types", b"content-types"), (b"Relationships", b"relationships"))
)


class Comment(NamedTuple):
    """A comment on some edits of a text, under an id of its own."""

    id: int
    edits: Sequence[Edit]
    text: str

    @property
    def sentence(self) -> str:
        """The explanation of each edit; and, of what the model found, the lowest confidence."""
        # Loaded late: the rules come with it.
        from nmspeller.runtime.why import why

        explained = " ".join(why(self.text, edit) for edit in _as_words(self.edits))
        least = min(self.edits, key=lambda edit: edit.confidence)
        if least.reason in (Reason.USER_LIST, Reason.RULE):
            return explained
        return _("{explanation} Confidence {confidence}.").format(
            explanation=explained, confidence=f"{least.confidence:.2f}"
        )


def _as_words(edits: Sequence[Edit]) -> Sequence[Edit]:
    """Adjacent characters that the model found as one edit, so that the word that they make is explained."""
    unique = list(dict.fromkeys(edits))
    if any(edit.reason in (Reason.USER_LIST, Reason.RULE, Reason.DE) for edit in unique):
        return unique
    source, target = "".join(edit.source for edit in unique), "".join(edit.target for edit in unique)
    return [replace(unique[0], length=len(source), source=source, target=target)]


class Signature(NamedTuple):
    """Whose changes and comments they are, and of when."""

    author: str
    date: str


def part(archive: zipfile.ZipFile, body: str) -> str | None:
    """The member that has the comments of a document, if it has any."""
    return next((one.member for one in references(archive, body, _COMMENTS)), None)


def written(comments: Sequence[Comment], dialect: Dialect, signature: Signature) -> bytes:
    """The comments as XML."""
    return b"".join(
        dialect.element(
            "comment",
            dialect.element("p", dialect.element("r", dialect.text("t", comment.sentence))),
            id=comment.id,
            author=signature.author,
            date=signature.date,
            initials=INITIALS,
        )
        for comment in comments
    )


def new_part(
    archive: zipfile.ZipFile, body: str, namespace: str, comments: Sequence[Comment], signature: Signature
) -> dict[str, bytes]:
    """The members of a document that had no comments: the comments, a reference to them, and their type."""
    types = _read(archive, _CONTENT_TYPES, _NO_TYPES)
    member = _unused_member(archive, posixpath.dirname(body), types.xml)
    own_references = references_of(body)
    known = _read(archive, own_references, _NO_REFERENCES)
    [main] = [one for one in references(archive, "", names("officeDocument")) if one.member == body]
    comment_part = b'<w:comments xmlns:w="%s">%s</w:comments>' % (
        namespace.encode(),
        written(comments, Dialect(b"w:", b""), signature),
    )
    reference = _added(
        known.xml,
        b"Relationship",
        Id=_unused_id(known.xml),
        Type=main.type.removesuffix("officeDocument") + "comments",
        Target=posixpath.basename(member),
    )
    type = _added(types.xml, b"Override", PartName=f"/{member}", ContentType=_CONTENT_TYPE)
    return {
        member: _DECLARATION + comment_part,
        own_references: known.with_splices([reference]),
        _CONTENT_TYPES: types.with_splices([type]),
    }


def _read(archive: zipfile.ZipFile, member: str, otherwise: bytes) -> XmlSource:
    return XmlSource.of(archive.read(member) if member in archive.namelist() else otherwise)


def _added(xml: bytes, name: bytes, **attributes: str) -> Splice:
    """An element at the end of the outermost one, with the same prefix."""
    prefix, colon, _local = tag_name(root(xml).within(xml)).rpartition(b":")
    element = b"<" + prefix + colon + name
    for key, value in attributes.items():
        element += b' %s="%s"' % (key.encode(), escaped(value))
    return at_end(xml, element + b"/>")


def _unused_member(archive: zipfile.ZipFile, folder: str, types: bytes) -> str:
    candidates = (posixpath.join(folder, f"comments{number or ''}.xml") for number in count())
    members = archive.namelist()
    return next(one for one in candidates if one not in members and f'"/{one}"'.encode() not in types)


def _unused_id(listed: bytes) -> str:
    candidates = (f"nmspeller{number}" for number in count(1))
    return next(one for one in candidates if f'"{one}"'.encode() not in listed)
