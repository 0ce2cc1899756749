"""A table of findings for spreadsheets, one line each."""

import csv
import io

from nmspeller.apps.reports.proof import Proof
from nmspeller.messages import _

# A cell that begins with one of these is a formula; a text with an apostrophe before it is none.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def written(proofs: list[Proof]) -> bytes:
    """The report in UTF-8 with a byte order mark, without which Excel takes Chinese for something else."""
    output = io.StringIO(newline="")
    lines = csv.writer(output)
    lines.writerow(
        [
            _("File"),
            _("No."),
            _("Place"),
            _("Sentence"),
            _("Original"),
            _("Suggestion"),
            _("Kind"),
            _("Reason"),
        ]
    )
    for proof in proofs:
        for number, row in enumerate(proof.rows, 1):
            sentence = row.before + row.wrong + row.after
            cells = (
                proof.name,
                str(number),
                row.place,
                sentence,
                row.wrong,
                row.right or "",
                row.kind,
                row.why,
            )
            lines.writerow([f"'{cell}" if cell.startswith(_FORMULAS) else cell for cell in cells])
    return output.getvalue().encode("utf-8-sig", errors="replace")
