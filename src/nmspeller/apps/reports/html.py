"""A proofreading report as one page, made to be printed: no scripts, and nothing loaded from elsewhere."""

from collections.abc import Iterator
from datetime import date
from html import escape
from itertools import chain

from nmspeller import __version__
from nmspeller.apps.reports.proof import Proof, ProofRow, summary
from nmspeller.messages import _, language

_STYLE = """
:root { color-scheme: light; }
body { font: 10.5pt/1.6 "Noto Serif CJK SC", "Source Han Serif SC", "Songti SC", SimSun, serif;
  color: #1a1a1a; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 18pt; text-align: center; margin: 0 0 .25rem; }
h2 { font-size: 13pt; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; break-after: avoid; }
p.about { text-align: center; color: #555; margin: 0 0 1.5rem; }
table { width: 100%; border-collapse: collapse; }
th, td { border: .5pt solid #999; padding: .3rem .5rem; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { background: #f0f0f0; font-weight: 600; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
.summary { width: auto; min-width: 50%; margin: 0 auto; }
.summary td + td { text-align: right; font-variant-numeric: tabular-nums; }
.findings { table-layout: fixed; }
.no { width: 3rem; } .place { width: 7.5rem; } .change { width: 5.5rem; } .decision { width: 4.5rem; }
.findings td.no { text-align: right; }
del { color: #b00020; font-weight: 600; text-decoration-thickness: 1px; }
ins { color: #00691b; font-weight: 600; text-decoration: none; }
mark { background: none; border-bottom: 1.5pt dotted #b06000; }
.kind { color: #555; font-size: 9pt; }
@media screen and (max-width: 44rem) {
  .findings, .findings :is(tbody, tr, td) { display: block; }
  .findings :is(thead, td:empty) { display: none; }
  .findings tr { border: .5pt solid #999; padding: .4rem .6rem; margin-bottom: .6rem; }
  .findings td { border: 0; padding: .1rem 0; }
  .findings td.no { float: right; color: #555; } }
@page { size: A4; margin: 18mm 14mm;
  @bottom-center { content: counter(page) " / " counter(pages); font-size: 9pt; } }
@media print { body { max-width: none; margin: 0; padding: 0; font-size: 9.5pt; }
  th, td { padding: .2rem .3rem; } .no { width: 2.4rem; } .place { width: 5.4rem; }
  .change { width: 5rem; } .decision { width: 4.4rem; } .reason { width: 26%; }
  th { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


def written(proofs: list[Proof]) -> bytes:
    """The page in UTF-8."""
    title = escape(_("Proofreading report"))
    lines = chain(
        (
            "<!doctype html>",
            f'<html lang="{language()}"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{title}</h1>",
            f'<p class="about">{date.today().isoformat()} · nmspeller {__version__}</p>',
        ),
        _summary(proofs),
        chain.from_iterable(map(_document, proofs)),
        ("</body></html>", ""),
    )
    return "\n".join(lines).encode(errors="replace")


def _summary(proofs: list[Proof]) -> Iterator[str]:
    yield '<table class="summary"><tbody>'
    yield from (f"<tr><td>{escape(name)}</td><td>{value}</td></tr>" for name, value in summary(proofs))
    yield "</tbody></table>"


def _document(proof: Proof) -> Iterator[str]:
    yield f"<h2>{escape(proof.name)}</h2>"
    if not proof.rows:
        yield f"<p>{escape(_('No findings.'))}</p>"
        return
    columns = {
        "no": _("No."),
        "place": _("Place"),
        "sentence": _("Sentence"),
        "change": _("Suggestion"),
        "reason": _("Reason"),
        "decision": _("Decision"),
    }
    yield '<table class="findings"><thead><tr>'
    yield "".join(f'<th class="{name}">{escape(label)}</th>' for name, label in columns.items())
    yield "</tr></thead><tbody>"
    yield from (_row(number, row) for number, row in enumerate(proof.rows, 1))
    yield "</tbody></table>"


def _row(number: int, row: ProofRow) -> str:
    wrong = escape(row.wrong)
    if row.right is None:
        marked = f"<mark>{wrong}</mark>"
    else:
        marked = f"<del>{wrong}</del>" + (f"<ins>{escape(row.right)}</ins>" if row.right else "")
    cells = (
        f'<td class="no">{number}</td><td>{escape(row.place)}</td>',
        f"<td>{escape(row.before)}{marked}{escape(row.after)}</td><td>{escape(row.change)}</td>",
        f'<td><span class="kind">{escape(row.kind)}</span><br>{escape(row.why)}</td><td></td>',
    )
    return f"<tr>{''.join(cells)}</tr>"
