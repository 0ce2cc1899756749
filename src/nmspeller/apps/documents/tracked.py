"""Tracked changes in a Word document, with a comment on each, for an editor to accept or reject."""

import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from itertools import count, groupby
from operator import attrgetter
from typing import NamedTuple

from nmspeller.apps.documents import word_comments
from nmspeller.apps.documents.office import SpanChange
from nmspeller.apps.documents.word_comments import Comment, Signature
from nmspeller.apps.documents.word_markup import Dialect
from nmspeller.apps.documents.word_text import WordText
from nmspeller.apps.documents.xml_events import Splice, XmlSource, at_end, root, tag_name
from nmspeller.text.patterns import lazy_pattern

_ID = lazy_pattern(rb"""(?<=[\s:]id=["'])-?\d+(?=["'])""")


class Tracked(NamedTuple):
    """Characters `begin` to `end` of a span become `text`; a comment may begin before and end after them."""

    begin: int
    end: int
    text: str
    opened: Comment | None
    closed: Comment | None


def with_tracked_changes(
    raw: bytes,
    body: str,
    text: str,
    sources: Mapping[str, XmlSource],
    spans: Sequence[WordText],
    changes: Sequence[SpanChange],
    author: str,
) -> dict[str, bytes]:
    """The new content of each member that differs; `text` is the document's, for explanations."""
    # Word takes the date for local time, whatever its zone.
    signature = Signature(author, datetime.now().strftime("%Y-%m-%dT%H:%M:%SZ"))
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        part = word_comments.part(archive, body)
        if part is not None:
            sources = {part: XmlSource.of(archive.read(part)), **sources}
        used = {int(found) for source in sources.values() for found in _ID.findall(source.xml)}
        ids = (number for number in count(1) if number not in used)
        tracked, comments = _tracked(text, spans, changes, ids)
        splices: dict[str, list[Splice]] = defaultdict(list)
        for index, in_span in tracked.items():
            span = spans[index]
            writer = _Writer(sources[span.member].xml, span, ids, signature)
            splices[span.member].append(writer.splice(in_span))
        added: dict[str, bytes] = {}
        if comments and part is not None:
            xml = sources[part].xml
            dialect = Dialect.of(root(xml).within(xml), root(xml).namespace)
            splices[part].append(at_end(xml, word_comments.written(comments, dialect, signature)))
        elif comments:
            namespace = root(sources[body].xml).namespace
            added = word_comments.new_part(archive, body, namespace, comments, signature)
    return {**{member: sources[member].with_splices(found) for member, found in splices.items()}, **added}


def _tracked(
    text: str, spans: Sequence[WordText], changes: Sequence[SpanChange], ids: Iterator[int]
) -> tuple[dict[int, list[Tracked]], list[Comment]]:
    """The tracked changes of each span, by its index, and the comments on them."""
    tracked: dict[int, list[Tracked]] = defaultdict(list)
    comments = []
    for finding in _findings(changes):
        merged = [change for change in _merged(finding) if _deleted(change, spans) != change.text]
        comment = None
        if merged and all(spans[change.span].run.takes_comments for change in merged):
            comment = Comment(next(ids), [change.edit for change in finding], text)
            comments.append(comment)
        for change in merged:
            opened = comment if change is merged[0] else None
            closed = comment if change is merged[-1] else None
            tracked[change.span].append(Tracked(change.begin, change.end, change.text, opened, closed))
    return tracked, comments


def _findings(changes: Sequence[SpanChange]) -> Iterator[list[SpanChange]]:
    """The changes of adjacent edits together: an editor decides on a word, not on each character."""
    group: list[SpanChange] = []
    for change in changes:
        if group:
            last = group[-1].edit
            if change.edit is not last and change.edit.offset != last.offset + last.length:
                yield group
                group = []
        group.append(change)
    if group:
        yield group


def _merged(finding: Sequence[SpanChange]) -> Iterator[SpanChange]:
    """One change for each span."""
    for _span, same_span in groupby(finding, key=attrgetter("span")):
        in_span = list(same_span)
        text = "".join(change.text for change in in_span)
        yield in_span[0]._replace(end=in_span[-1].end, text=text)


def _deleted(change: SpanChange, spans: Sequence[WordText]) -> str:
    return spans[change.span].text[change.begin : change.end]


@dataclass(frozen=True)
class _Writer:
    """Writes tracked changes in the place of one text element."""

    xml: bytes
    span: WordText
    ids: Iterator[int]
    signature: Signature

    def splice(self, changes: Sequence[Tracked]) -> Splice:
        """The run ends before each change and continues after it, with the same properties.

        A run that would have no content is left out, so that the changes may take the whole run's place.
        """
        span, run = self.span, self.span.run
        begins_run, ends_run = span.start == run.content, span.stop == run.content_stop
        written: list[bytes] = []
        is_in_run = not begins_run
        for one in self._texts_and_changes(changes):
            if isinstance(one, str) != is_in_run:
                written.append(self._run_end() if is_in_run else self._run_start())
                is_in_run = not is_in_run
            written.append(
                self.span.run.dialect.text("t", one) if isinstance(one, str) else self._change(one)
            )
        if is_in_run == ends_run:
            written.append(self._run_end() if is_in_run else self._run_start())
        start, stop = run.start if begins_run else span.start, run.stop if ends_run else span.stop
        return Splice(start, stop, b"".join(written))

    def _texts_and_changes(self, changes: Sequence[Tracked]) -> Iterator[str | Tracked]:
        text = self.span.text
        end = 0
        for change in changes:
            if end < change.begin:
                yield text[end : change.begin]
            yield change
            end = change.end
        if end < len(text):
            yield text[end:]

    def _change(self, change: Tracked) -> bytes:
        """As Word writes it: a deletion stays inside somebody's insertion, an insertion does not."""
        run, dialect = self.span.run, self.span.run.dialect
        deleted = self.span.text[change.begin : change.end]
        inside = after = b""
        if change.opened:
            inside += dialect.element("commentRangeStart", id=change.opened.id)
        if deleted:
            inside += self._revision("del", dialect.text("delText", deleted))
        if change.text:
            after += self._revision("ins", dialect.text("t", change.text))
        if change.closed:
            after += dialect.element("commentRangeEnd", id=change.closed.id)
            after += dialect.element("r", dialect.element("commentReference", id=change.closed.id))
        if run.insertion and after:
            tag = self.xml[slice(*run.insertion)]
            after = b"</%s>" % tag_name(tag) + after + self._with_new_ids(tag)
        return inside + after

    def _revision(self, name: str, text: bytes) -> bytes:
        return self.span.run.dialect.element(
            name,
            self._run_start() + text + self._run_end(),
            id=next(self.ids),
            author=self.signature.author,
            date=self.signature.date,
        )

    def _run_start(self) -> bytes:
        run = self.span.run
        return self.xml[slice(*run.tag)] + self._with_new_ids(self.xml[slice(*run.properties)])

    def _run_end(self) -> bytes:
        return b"</%s>" % tag_name(self.xml[slice(*self.span.run.tag)])

    def _with_new_ids(self, xml: bytes) -> bytes:
        """A copy in which earlier tracked changes have ids of their own."""
        return _ID.sub(lambda _old: b"%d" % next(self.ids), xml)
