"""Writing elements of WordprocessingML with the prefix that the surrounding XML has for them."""

from typing import NamedTuple

from nmspeller.apps.documents.xml_events import escaped, tag_name


class Dialect(NamedTuple):
    """The prefix of Word's names, with its colon, and the declaration that it takes where there is none."""

    prefix: bytes
    declaration: bytes

    @classmethod
    def of(cls, tag: bytes, namespace: str) -> "Dialect":
        """As in this tag; where its namespace is the default one, attributes still need a prefix."""
        prefix, colon, _local = tag_name(tag).rpartition(b":")
        if colon:
            return cls(prefix + colon, b"")
        return cls(b"w:", b' xmlns:w="%s"' % namespace.encode())

    def element(self, name: str, content: bytes = b"", **attributes: str | int) -> bytes:
        """An element with attributes of Word's namespace."""
        tag = self.prefix + name.encode()
        start = b"<" + tag + self.declaration
        for key, value in attributes.items():
            start += b' %s%s="%s"' % (self.prefix, key.encode(), escaped(str(value)))
        return start + (b">%s</%s>" % (content, tag) if content else b"/>")

    def text(self, name: str, content: str) -> bytes:
        """A text element that keeps its blanks."""
        tag = self.prefix + name.encode()
        return b'<%s%s xml:space="preserve">%s</%s>' % (tag, self.declaration, escaped(content), tag)
