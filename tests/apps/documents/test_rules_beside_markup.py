"""The rules read prose without its markup; what they correct must not depend on what stood between."""

import io

import docx
import pytest
from docx.oxml import parse_xml

from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.prose import passages
from nmspeller.runtime.analysis import Analyzer
from nmspeller.runtime.correction import apply_edits
from nmspeller.runtime.findings import Edit, Reason
from nmspeller.runtime.rule_matches import chosen_rules
from nmspeller.runtime.rules import RULES

FORMULA = (
    '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
    "<m:r><m:t>x</m:t></m:r></m:oMath>"
)


def corrected(text, found):
    """The document with everything that the rules correct, and the hints that they give."""
    check = Analyzer(126, rules=chosen_rules(RULES)).analyze([passage.text for passage in found])
    edits, hints = [], []
    for passage, checked in zip(found, check.corrections(() for part in check.parts), strict=True):
        edits += passage.in_document(checked.edits)
        hints += passage.hints_in_document(text, checked.hints)
    assert all(edit.source != edit.target for edit in edits)
    return apply_edits(text, edits), hints


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("markdown", "支持`a`、`b`、`c`三种格式，使用`x`，`y`，都可以。"),
        ("markdown", "我的`config`的值。"),
        ("markdown", "把 `a` 和 `b` 平均一下，好。"),
        ("markdown", "见[[这页]]、[[别页]]、[[又页]]。"),
        ("markdown", "我用**Python**写代码，用[Go](http://a.b)写服务。"),
        ("markdown", "我的**的**书。"),
        ("latex", "设$a$，$b$，$c$为实数。"),
        ("latex", "见文献\\cite{a}，\\cite{b}，\\cite{c}。"),
        ("html", "<p>支持<code>a</code>、<code>b</code>、<code>c</code>三种。</p>"),
        ("rst", "支持 ``a``、``b``、``c`` 三种。"),
    ],
)
def test_nothing_is_deleted_or_inserted_beside_markup(format, text):
    assert corrected(text, passages(text, format)) == (text, [])


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("**好的**,我们，，走吧。", "**好的**，我们，走吧。"),
        ("他一向**按步**就班。", "他一向**按部**就班。"),
        ("我们都\n很好，，真的。", "我们都\n很好，真的。"),
    ],
)
def test_elsewhere_rules_correct_as_ever(text, right):
    assert corrected(text, passages(text, "markdown"))[0] == right


def test_a_replacement_over_markup_reports_only_what_differs():
    [passage] = passages("用**账**号登录。", "markdown")
    edit = Edit(1, 2, "账号", "账户", 1.0, (), Reason.USER_LIST)
    assert [(one.source, one.target) for one in passage.in_document([edit])] == [("号", "户")]


def test_a_formula_in_word_stands_between_its_neighbours_and_is_no_line_alone():
    document = docx.Document()
    document.add_paragraph()._p.append(parse_xml(FORMULA))
    paragraph = document.add_paragraph("设")
    for mark in "，，为":
        paragraph._p.append(parse_xml(FORMULA))
        paragraph.add_run(mark)
    paragraph.add_run("实数。")
    saved = io.BytesIO()
    document.save(saved)
    found = DocxDocument.parse(saved.getvalue(), "a.docx")
    assert found.text == "设\ufffc，\ufffc，\ufffc为实数。\n"
    assert corrected(found.text, found.passages) == (found.text, [])
