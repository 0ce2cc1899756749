"""Office files as zip archives: reading them safely, and replacing some members alone."""

import io
import posixpath
import zipfile
from collections.abc import Collection, Container, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from xml.parsers.expat import ExpatError

from nmspeller.apps.documents.files import LARGEST
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.xml_events import (
    MOST_TAGS,
    Unreadable,
    XmlSource,
    events,
    tags_in,
    too_many_elements,
)
from nmspeller.errors import InputError
from nmspeller.messages import _

_SIGNATURES = names("origin")
_ENCRYPTED = 1  # a flag of a member
_MOST_PARTS = 2  # of the largest size, or more that are smaller


class _Archive(zipfile.ZipFile):
    """An archive of which only so much XML is read: a few kilobytes can hold parts that take an hour."""

    _tags = 0

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        content = super().read(name, pwd)
        self._tags += tags_in(content)
        if self._tags > _MOST_PARTS * MOST_TAGS:
            raise too_many_elements()
        return content


@contextmanager
def reading(raw: bytes, name: str, kind: str) -> Iterator[zipfile.ZipFile]:
    """The archive in some bytes; whatever is wrong with it is an `InputError` that names the file.

    `kind` says what the file should be, as "a Word document".
    """
    try:
        with _Archive(io.BytesIO(raw)) as archive:
            if sum(member.file_size for member in archive.infolist()) > 4 * LARGEST:
                raise InputError(
                    _("{name} unpacks to more than {limit} MB, more than the limit.").format(
                        name=name, limit=4 * LARGEST // 2**20
                    )
                )
            if any(member.flag_bits & _ENCRYPTED for member in archive.infolist()):
                raise has_password(name)
            if damaged := archive.testzip():
                raise Unreadable(_("{member} is damaged").format(member=damaged))
            yield archive
    except InputError:
        raise
    except Exception as error:  # zipfile, zlib and expat each raise their own exceptions
        raise InputError(
            _("{name} is not {kind} that can be read ({problem}).").format(
                name=name, kind=_(kind), problem=_problem(error)
            )
        ) from None


def _problem(error: Exception) -> str:
    """What is wrong, in the user's language."""
    if isinstance(error, Unreadable):
        return str(error)
    if isinstance(error, zipfile.BadZipFile):
        return _("no whole zip archive")
    if isinstance(error, MemoryError):
        return _("it needs more memory than there is")
    return _("its content is damaged or written in an unusual way")


def has_password(name: str) -> InputError:
    """The error of a document that nobody can read without its password."""
    return InputError(
        _("{name} has a password; save it without the password and check that file.").format(name=name)
    )


def with_members(raw: bytes, contents: Mapping[str, bytes]) -> bytes:
    """The archive with other content in some members, and with those that it lacks added at its end.

    The other members are copied as they are, without compressing them again.
    """
    if not contents:
        return raw
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(output, "w") as new:
        places = sorted(member.header_offset for member in old.infolist())
        ends = dict(zip(places, [*places[1:], old.start_dir], strict=True))
        for member in old.infolist():
            if member.filename in contents:
                new.writestr(member, contents[member.filename])
                continue
            record = raw[member.header_offset : ends[member.header_offset]]
            member.header_offset = output.tell()
            output.write(record)
            # All that `zipfile` notes down of a member that it has written itself.
            new.filelist.append(member)
            new.NameToInfo[member.filename] = member
            new.start_dir = output.tell()
        for name, content in contents.items():
            if name not in old.NameToInfo:
                new.writestr(_member(name), content)
        new.comment = old.comment
    return output.getvalue()


def is_signed(raw: bytes) -> bool:
    """Whether an Office file has a digital signature, which covers its members to the byte."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        if any(name.startswith("META-INF/") and "signatures" in name for name in archive.namelist()):
            return True
        try:
            return any("digital-signature" in one.type for one in references(archive, "", _SIGNATURES))
        except (ExpatError, LookupError, ValueError):
            return False  # only a format that has no such references could be read nevertheless


def _member(name: str) -> zipfile.ZipInfo:
    """A new member with the date that Office gives to all members."""
    member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


class Reference(NamedTuple):
    """A relationship of a package of Microsoft's kind: its id, its type, and the member that it refers to."""

    id: str
    type: str
    member: str

    @property
    def kind(self) -> str:
        """The last part of the type, the same in all dialects: `slide`, `comments`."""
        return self.type.rpartition("/")[2]


def references_of(part: str) -> str:
    """The member that lists the references of a part, or of the whole package where it is ""."""
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def references(archive: zipfile.ZipFile, part: str, kinds: Container[str]) -> list[Reference]:
    """What a part refers to as one of these kinds, in the archive's order.

    References to missing members occur in real files; Word ignores them, python-docx fails.
    """
    members: Collection[str] = archive.namelist()
    if references_of(part) not in members:
        return []
    order = {member: place for place, member in enumerate(members)}
    folder = posixpath.dirname(part)
    found: dict[str, Reference] = {}
    for event in events(XmlSource.of(archive.read(references_of(part))).xml):
        is_one = event.kind == "start" and event.local_name == "Relationship"
        if not is_one or event.attributes.get("TargetMode") == "External":
            continue
        target = posixpath.normpath(posixpath.join("/", folder, event.attributes.get("Target", "")))
        one = Reference(event.attributes.get("Id", ""), event.attributes.get("Type", ""), target.lstrip("/"))
        if one.kind in kinds and one.member in order:
            found.setdefault(one.member, one)
    return sorted(found.values(), key=lambda one: order[one.member])
