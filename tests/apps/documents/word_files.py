"""Word documents for tests: small packages, and what accepting or rejecting all changes makes of them."""

import io
import re
import zipfile
from copy import deepcopy

from lxml import etree

from nmspeller.runtime.findings import Edit, Reason

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
PARTS_WITH_TEXT = ("header", "footer", "footnotes", "endnotes", "comments")


def w(name):
    return f"{{{W}}}{name}"


def package(body, *, root=f'xmlns:w="{W}"', p="w:", other=None):
    """A package with this content of the body; `other` has the content of parts such as `header`."""
    other = other or {}
    start, end = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n', "application/xml"
    kinds = {"header": "hdr", "footer": "ftr"}
    members = {
        "[Content_Types].xml": f'{start}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="{end}"/>'
        f'<Override PartName="/word/document.xml" ContentType="{TYPE}.document.main+xml"/>'
        + "".join(f'<Override PartName="/word/{one}.xml" ContentType="{TYPE}.{one}+xml"/>' for one in other)
        + "</Types>",
        "_rels/.rels": _relationships({"officeDocument": "word/document.xml"}),
        "word/document.xml": f"{start}<{p}document {root}><{p}body>{body}</{p}body></{p}document>",
    }
    if other:
        members["word/_rels/document.xml.rels"] = _relationships({one: f"{one}.xml" for one in other})
    for one, content in other.items():
        name = f"w:{kinds.get(one, one)}"
        members[f"word/{one}.xml"] = f'{start}<{name} xmlns:w="{W}">{content}</{name}>'
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return output.getvalue()


def _relationships(targets):
    return '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'.format(
        "".join(
            f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
            for number, (kind, target) in enumerate(targets.items(), 1)
        )
    )


def with_members(raw, contents):
    """The same package with other content in some members."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, contents.get(member, old.read(member)))
    return output.getvalue()


def edit(text, wrong, right, reason=Reason.SAME_SOUND, confidence=0.9, **more):
    return Edit(text.index(wrong), len(wrong), wrong, right, 0.9, (), reason, confidence, **more)


def part(raw, member="word/document.xml"):
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return etree.fromstring(archive.read(member))


def decided(tree, *, accept):
    """The tree after all its tracked changes were accepted or rejected, by the standard."""
    tree = deepcopy(tree)
    removals, additions = (w("del"), w("moveFrom")), (w("ins"), w("moveTo"))
    gone, kept = (removals, additions) if accept else (additions, removals)
    for element in list(tree.iter(*gone)):
        element.getparent().remove(element)
    for element in list(tree.iter(*kept)):
        parent, at = element.getparent(), element.getparent().index(element)
        parent[at : at + 1] = list(element)
    for element in tree.iter(w("delText")):
        element.tag = w("t")
    return tree


def characters(tree):
    """Each paragraph as a list of its characters with their containers and formatting, as Word shows them."""
    return [
        [one for run in paragraph.iter(w("r")) if _paragraph(run) is paragraph for one in _characters(run)]
        for paragraph in tree.iter(w("p"))
        if paragraph.getparent().get(w("author")) != "nmspeller"
    ]


def _paragraph(run):
    return next(run.iterancestors(w("p")))


def _characters(run):
    properties = run.find(w("rPr"))
    formatting = (
        b"" if properties is None else re.sub(rb':id="\d+"', b"", etree.tostring(properties, with_tail=False))
    )
    containers = tuple(
        one.tag for one in run.iterancestors() if one.tag not in (w("ins"), w("del"), w("moveTo"))
    )
    for child in run:
        if child.tag == w("t"):
            text = child.text or ""
            keeps = child.get("{http://www.w3.org/XML/1998/namespace}space") == "preserve"
            yield from ((one, formatting, containers) for one in (text if keeps else text.strip(" \t\r\n")))
        elif child.tag not in (w("rPr"), w("commentReference")):
            yield (child.tag, formatting, containers)


def shown(tree):
    return ["".join(one for one, *_ in paragraph) for paragraph in characters(tree)]
