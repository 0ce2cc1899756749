"""A proofreading report as a Word document, landscape, with room to write a decision beside each finding.

It is written as XML: it has one paragraph style more than none, and python-docx would be a dependency of
everyone for the sake of one report.
"""

import io
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date
from html import escape

from nmspeller import __version__
from nmspeller.apps.reports.proof import Proof, ProofRow, summary
from nmspeller.messages import _
from nmspeller.text.patterns import lazy_pattern

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_START = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_NOT_IN_XML = lazy_pattern("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WIDTHS = (750, 1950, 5300, 1500, 3400, 1400)  # of the columns, in twentieths of a point
_RED, _GREEN, _ORANGE, _GREY = "B00020", "00691B", "B06000", "555555"

_MEMBERS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_TYPE}.document.main+xml"/>'
    f'<Override PartName="/word/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
    f'<Override PartName="/word/footer.xml" ContentType="{_TYPE}.footer+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
    "word/_rels/document.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    f'<Relationship Id="rId2" Type="{_OFFICE}/footer" Target="footer.xml"/></Relationships>',
    "word/styles.xml": f'<w:styles xmlns:w="{_W}"><w:docDefaults><w:rPrDefault><w:rPr>'
    '<w:rFonts w:ascii="Times New Roman" w:hAnsi="Times New Roman" w:eastAsia="SimSun"/><w:sz w:val="20"/>'
    "</w:rPr></w:rPrDefault></w:docDefaults>"
    '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/>'
    '<w:pPr><w:jc w:val="center"/></w:pPr><w:rPr><w:b/><w:sz w:val="36"/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:keepNext/>'
    '<w:spacing w:before="300" w:after="100"/><w:outlineLvl w:val="0"/></w:pPr>'
    '<w:rPr><w:b/><w:sz w:val="26"/></w:rPr></w:style></w:styles>',
    "word/footer.xml": f'<w:ftr xmlns:w="{_W}"><w:p><w:pPr><w:jc w:val="center"/></w:pPr>'
    '<w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple></w:p></w:ftr>',
}


def written(proofs: list[Proof]) -> bytes:
    """The document."""
    body = "".join(_body(proofs))
    section = (
        '<w:sectPr><w:footerReference w:type="default" r:id="rId2"/>'
        '<w:pgSz w:w="16838" w:h="11906" w:orient="landscape"/>'
        '<w:pgMar w:top="1134" w:right="1134" w:bottom="1134" w:left="1134" w:header="567" w:footer="567" '
        'w:gutter="0"/></w:sectPr>'
    )
    document = f'<w:document xmlns:w="{_W}" xmlns:r="{_OFFICE}"><w:body>{body}{section}</w:body></w:document>'
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**_MEMBERS, "word/document.xml": document}.items():
            archive.writestr(
                zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), _START + content, zipfile.ZIP_DEFLATED
            )
    return output.getvalue()


def _body(proofs: list[Proof]) -> Iterator[str]:
    yield _paragraph(_run(_("Proofreading report")), style="Title")
    yield _paragraph(
        _run(f"{date.today().isoformat()} · nmspeller {__version__}", colour=_GREY), centred=True
    )
    yield _table([(_run(name), _run(value)) for name, value in summary(proofs)], (4200, 2000))
    for proof in proofs:
        yield _paragraph(_run(proof.name), style="Heading1")
        if proof.rows:
            yield _table(_findings(proof), _WIDTHS, has_heading=True)
        else:
            yield _paragraph(_run(_("No findings.")))
    yield _paragraph("")  # a document cannot end with a table


def _findings(proof: Proof) -> Iterator[tuple[str, ...]]:
    headings = (_("No."), _("Place"), _("Sentence"), _("Suggestion"), _("Reason"), _("Decision"))
    yield tuple(_run(heading, bold=True) for heading in headings)
    for number, row in enumerate(proof.rows, 1):
        yield (
            _run(str(number)),
            _run(row.place),
            _run(row.before) + _marked(row) + _run(row.after),
            _run(row.change),
            f"{_run(row.kind, colour=_GREY)}<w:r><w:br/></w:r>{_run(row.why)}",
            "",
        )


def _marked(row: ProofRow) -> str:
    if row.right is None:
        return _run(row.wrong, colour=_ORANGE, bold=True)
    return _run(row.wrong, colour=_RED, bold=True, struck=True) + _run(row.right, colour=_GREEN, bold=True)


def _run(text: str, *, bold: bool = False, struck: bool = False, colour: str = "") -> str:
    if not text:
        return ""
    properties = "<w:b/>" * bold + "<w:strike/>" * struck + (f'<w:color w:val="{colour}"/>' if colour else "")
    shown = escape(_NOT_IN_XML.sub("\ufffd", text), quote=False)
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{shown}</w:t></w:r>'


def _paragraph(runs: str, *, style: str = "", centred: bool = False) -> str:
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    properties += '<w:spacing w:after="200"/><w:jc w:val="center"/>' if centred else ""
    return f"<w:p><w:pPr>{properties}</w:pPr>{runs}</w:p>"


def _table(rows: Iterable[tuple[str, ...]], widths: tuple[int, ...], *, has_heading: bool = False) -> str:
    """A table with lines; its first row may be a heading, which is repeated on each page."""
    sides = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="999999"/>'
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    margins = "<w:tblCellMar>{}</w:tblCellMar>".format(
        "".join(
            f'<w:{side} w:w="{width}" w:type="dxa"/>'
            for side, width in (("top", 40), ("left", 80), ("bottom", 40), ("right", 80))
        )
    )
    properties = (
        f'<w:tblPr><w:tblW w:w="{sum(widths)}" w:type="dxa"/><w:jc w:val="center"/>'
        f'<w:tblBorders>{sides}</w:tblBorders><w:tblLayout w:type="fixed"/>{margins}</w:tblPr>'
    )
    grid = "".join(f'<w:gridCol w:w="{width}"/>' for width in widths)
    written_rows = (
        _table_row(cells, widths, is_heading=has_heading and not number) for number, cells in enumerate(rows)
    )
    return f"<w:tbl>{properties}<w:tblGrid>{grid}</w:tblGrid>{''.join(written_rows)}</w:tbl>"


def _table_row(cells: tuple[str, ...], widths: tuple[int, ...], *, is_heading: bool) -> str:
    shade = '<w:shd w:val="clear" w:color="auto" w:fill="F0F0F0"/>' if is_heading else ""
    content = "".join(
        f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/>{shade}</w:tcPr>{_paragraph(cell)}</w:tc>'
        for cell, width in zip(cells, widths, strict=True)
    )
    return f"<w:tr><w:trPr><w:cantSplit/>{'<w:tblHeader/>' * is_heading}</w:trPr>{content}</w:tr>"
