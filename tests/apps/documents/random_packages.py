"""Random documents in the formats that are archives.

`PACKAGES[format](draw)` gives the tokens of each member, and the names of those that are corrected.
"""

from word_files import OFFICE, TYPE, W

_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def docx(draw):
    elements = [
        ('<w:r><w:t xml:space="preserve">', "</w:t></w:r>"),
        ("<w:r><w:rPr><w:b/></w:rPr><w:t xml:space='preserve'>", "</w:t></w:r>"),
        ("<w:r><w:t>", "</w:t></w:r>"),
        ('<w:r><w:t xml:space="default">', "</w:t></w:r>"),
    ]

    def paragraph():
        return ["<w:p>", *draw.runs(*elements), "</w:p>"]

    body = draw.some(
        paragraph,
        lambda: ["<w:p><!-- ", draw.literal(), " --><w:pPr w:val='", draw.literal(), "'/></w:p>\r\n"],
        lambda: ["<w:p><w:r><w:instrText>", draw.literal(), "</w:instrText></w:r></w:p>"],
        lambda: ["<w:p><w:del><w:r><w:delText>", draw.literal(), "</w:delText></w:r></w:del></w:p>"],
        lambda: ["<w:p><w:r><w:t>", *draw.xml_prose(), "</w:t><w:tab/></w:r></w:p>"],
    )
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    members = {
        "[Content_Types].xml": [
            f'<Types xmlns="{types}"><Override PartName="/word/document.xml" ContentType="{TYPE}'
            '.document.main+xml"/></Types>'
        ],
        "_rels/.rels": [relationships(("rId1", "officeDocument", "word/document.xml"))],
        "docProps/core.xml": [f"<a>{draw.literal()}</a>"],
        "word/document.xml": [f'<w:document xmlns:w="{W}"><w:body>', *body, "</w:body></w:document>"],
        "word/footnotes.xml": [f'<w:footnotes xmlns:w="{W}">', *paragraph(), "</w:footnotes>"],
        "word/_rels/document.xml.rels": [relationships(("rId1", "footnotes", "footnotes.xml"))],
        "word/media/image1.png": [draw.literal() * 50],
    }
    return members, {"word/document.xml", "word/footnotes.xml"}


def odt(draw):
    return _odf(draw, "text", {"content.xml", "styles.xml"})


def odp(draw):
    return _odf(draw, "presentation", {"content.xml"})


def _odf(draw, kind, edited):
    content = draw.some(
        lambda: ["<t:p>", *draw.runs(("<t:span>", "</t:span>"), ("<t:a>", "</t:a>"), ("", "")), "</t:p>"],
        lambda: ["<t:p>", *draw.xml_prose(), "<t:s/><t:tab/>", *draw.xml_prose(), "</t:p>"],
        lambda: ["<t:p><t:date>", draw.literal(), "</t:date><!-- ", draw.literal(), " --></t:p>\n"],
        lambda: ["<t:tracked-changes><t:p>", draw.literal(), "</t:p></t:tracked-changes>"],
    )
    spaces = f'xmlns:t="{_ODF}:text:1.0" xmlns:o="{_ODF}:office:1.0"'
    styles = ["<t:p>", *draw.xml_prose(), "</t:p>"]
    members = {
        "mimetype": [f"application/vnd.oasis.opendocument.{kind}"],
        "content.xml": [
            f"<?xml version='1.0'?>\n<o:document-content {spaces}>",
            *content,
            "</o:document-content>",
        ],
        "styles.xml": [f"<o:document-styles {spaces}>", *styles, "</o:document-styles>"],
        "meta.xml": [draw.literal()],
        "META-INF/manifest.xml": ["<manifest/>"],
    }
    return members, edited


def pptx(draw):
    numbers = range(1, draw.random.randint(2, 4))
    members = {
        "[Content_Types].xml": ["<Types/>"],
        "_rels/.rels": [relationships(("rId1", "officeDocument", "ppt/presentation.xml"))],
        "ppt/presentation.xml": [
            f'<p:presentation xmlns:p="p" xmlns:r="{OFFICE}">',
            *(f'<p:sldId id="{number}" r:id="s{number}"/>' for number in numbers),
            "</p:presentation>",
        ],
        "ppt/_rels/presentation.xml.rels": [
            relationships(*((f"s{number}", "slide", f"slides/slide{number}.xml") for number in numbers))
        ],
        "docProps/app.xml": [draw.literal()],
    }
    slides = {}
    for number in numbers:
        content = draw.some(
            lambda: ["<a:p>", *draw.runs(("<a:r><a:t>", "</a:t></a:r>")), "</a:p>"],
            lambda: ["<a:p><a:fld><a:t>", draw.literal(), "</a:t></a:fld></a:p>\n"],
        )
        start = f'<p:sld xmlns:p="p" xmlns:a="{_DRAWING}">'
        slides[f"ppt/slides/slide{number}.xml"] = [start, *content, "</p:sld>"]
    return {**members, **slides}, slides.keys()


def xlsx(draw):
    texts = range(draw.random.randint(1, 4))
    runs = ("<r><t>", "</t></r>"), ('<r><rPr/><t xml:space="preserve">', "</t></r>")

    def shared():
        return draw.either(
            ["<si><t>", *draw.xml_prose(), "</t></si>"],
            ["<si>", *draw.runs(*runs), f"<rPh><t>{draw.literal()}</t></rPh></si>\n"],
        )

    cells = [f'<c r="A{number + 1}" t="s"><v>{number}</v></c>' for number in texts]
    own = draw.some(
        lambda: ['<c r="B1" t="inlineStr"><is><t>', *draw.xml_prose(), "</t></is></c>"],
        lambda: [f'<c r="C1" t="str"><f>"{draw.literal()}"</f><v>{draw.literal()}</v></c>'],
    )
    comment = ['<comment ref="A1"><text>', *draw.runs(*runs), "</text></comment>"]
    start = f'xmlns="{_SHEET}"'
    members = {
        "_rels/.rels": [relationships(("a", "officeDocument", "xl/workbook.xml"))],
        "xl/workbook.xml": [
            f'<workbook {start} xmlns:r="{OFFICE}"><sheets><sheet name="{draw.literal()}" r:id="s"/>'
            "</sheets></workbook>"
        ],
        "xl/_rels/workbook.xml.rels": [
            relationships(("s", "worksheet", "worksheets/a.xml"), ("x", "sharedStrings", "sharedStrings.xml"))
        ],
        "xl/sharedStrings.xml": [
            f"<sst {start}>",
            *(token for _ in texts for token in shared()),
            f"<si><t>{draw.literal()}</t></si></sst>",  # of no cell
        ],
        "xl/worksheets/a.xml": [
            f"<worksheet {start}><sheetData><row>",
            *cells,
            *own,
            "</row></sheetData></worksheet>",
        ],
        "xl/worksheets/_rels/a.xml.rels": [relationships(("c", "comments", "../comments1.xml"))],
        "xl/comments1.xml": [f"<comments {start}><commentList>", *comment, "</commentList></comments>"],
    }
    return members, {"xl/sharedStrings.xml", "xl/worksheets/a.xml", "xl/comments1.xml"}


def epub(draw):
    def page():
        head = (
            "<?xml version='1.0' encoding='utf-8'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>"
            f"<head><style>{draw.literal()}</style></head><body>"
        )
        blocks = draw.some(
            lambda: ["<p>", *draw.prose(), "</p>\n"],
            lambda: ["<p>", *draw.prose(), f"<b id='{draw.literal()}'>", *draw.prose(), "</b>&amp;</p>"],
            lambda: ["<p>", *draw.prose(), f"<!-- {draw.literal()} -->", *draw.prose(), "</p>\r\n"],
            lambda: [f"<pre><code>{draw.literal()}</code></pre>"],
        )
        return [head, *blocks, "</body></html>"]

    item = '<item id="{0}" href="{0}.xhtml" media-type="application/xhtml+xml"/>'
    members = {
        "mimetype": ["application/epub+zip"],
        "META-INF/container.xml": [
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf" media-type="x"/></rootfiles></container>'
        ],
        "OPS/book.opf": [
            f'<package xmlns="http://www.idpf.org/2007/opf"><metadata>{draw.literal()}</metadata><manifest>',
            *(item.format(name) for name in "ab"),
            '</manifest><spine><itemref idref="b"/></spine></package>',
        ],
        "OPS/a.xhtml": page(),
        "OPS/b.xhtml": page(),
        "OPS/style.css": [draw.literal()],
    }
    return members, {"OPS/a.xhtml", "OPS/b.xhtml"}


def relationships(*targets):
    found = "".join(
        f'<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}"/>' for id, kind, target in targets
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{found}</Relationships>'


PACKAGES = {"docx": docx, "odt": odt, "odp": odp, "pptx": pptx, "xlsx": xlsx, "epub": epub}
