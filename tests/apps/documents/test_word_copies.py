"""Text boxes, which Word writes twice: one finding, and both copies are changed."""

from dataclasses import replace

import pytest
from word_files import characters, decided, edit, package, part, shown, w

from nmspeller.apps.documents.docx import DocxDocument

MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def p(*runs):
    return f"<w:p>{''.join(runs)}</w:p>"


def r(text, properties=""):
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def alternatives(*branches):
    choices = "".join(f'<mc:Choice Requires="wps">{branch}</mc:Choice>' for branch in branches[:-1])
    return (
        f'<mc:AlternateContent xmlns:mc="{MC}">{choices}<mc:Fallback>{branches[-1]}</mc:Fallback>'
        "</mc:AlternateContent>"
    )


def text_box(today, old):
    """As Word writes it: a shape that stands in the line, and a picture for programs before 2010."""
    return (
        "<w:r>"
        + alternatives(
            "<w:drawing><wp:inline xmlns:wp='wp'><wps:txbx xmlns:wps='wps'>"
            f"<w:txbxContent>{today}</w:txbxContent></wps:txbx></wp:inline></w:drawing>",
            f"<w:pict><v:textbox xmlns:v='v'><w:txbxContent>{old}</w:txbxContent></v:textbox></w:pict>",
        )
        + "</w:r>"
    )


def parse(body, **other):
    return DocxDocument.parse(package(body, other=other), "a.docx")


def edits_of(document, **pairs):
    found = [edit(document.text, wrong, right) for wrong, right in pairs.items()]
    return sorted(found, key=lambda one: one.offset)


TODAY = p(r("框里我门"), r("去公圆")) + p(r("第二段"))
OTHER_RUNS = p(r("框里"), r("我", "<w:b/>"), r("门去公圆")) + p(r("第二"), r("段"))
BOX = text_box(TODAY, OTHER_RUNS)


def test_what_is_written_twice_is_read_once():
    document = parse(p(r("前面"), BOX, r("后面")) + p(BOX))
    assert document.text.replace("\ufffc", "").split() == [
        "前面", "框里我门去公圆", "第二段", "后面", "框里我门去公圆", "第二段"
    ]  # fmt: skip
    assert document.place_of(document.text.index("公圆")).label == "text box"


def test_tables_in_them_are_counted_once():
    def table(text):
        return f"<w:tbl><w:tr><w:tc>{p(r(text))}</w:tc></w:tr></w:tbl>"

    two = table("框里一") + table("框里二")
    outer = two + p(text_box(table("最里"), table("最里")))
    only_old = text_box(p(r("只有字")), table("旧框"))
    document = parse(p(text_box(outer, outer)) + table("其后") + p(only_old) + table("最后"))
    places = {text: document.place_of(document.text.index(text)).label for text in document.text.split()}
    assert {text: label.partition(",")[0] for text, label in places.items() if text != "\ufffc"} == {
        "框里一": "table 1", "框里二": "table 2", "最里": "table 3", "其后": "table 4",
        "只有字": "text box", "旧框": "table 5", "最后": "table 6",
    }  # fmt: skip


@pytest.mark.parametrize("track", [False, True])
def test_both_copies_are_changed_whatever_their_runs(track):
    document = parse(p(r("我外"), BOX, r("后面我门")))
    edits = edits_of(document, **{"门去": "们来", "公圆": "公园吧", "二": ""})
    changed = document.with_edits(edits, track=track)
    tree = part(changed)
    boxes = [shown(decided(box, accept=True)) for box in tree.iter(w("txbxContent"))]
    assert boxes == [["框里我们来公园吧", "第段"]] * 2
    boxes = [shown(decided(box, accept=False)) for box in tree.iter(w("txbxContent"))]
    assert boxes == [["框里我门去公圆", "第二段"] if track else ["框里我们来公园吧", "第段"]] * 2
    assert not list(tree.iter(w("commentReference")))
    ids = [one.get(w("id")) for one in tree.iter(w("ins"), w("del"))]
    assert len(ids) == len(set(ids))
    again = DocxDocument.parse(changed, "a.docx")
    assert again.text.count("框里我们来公园吧") == 1


@pytest.mark.parametrize("offset", [0, 4])
def test_an_insertion_at_the_ends_is_in_both(offset):
    document = parse(p(text_box(p(r("框里我门")), p(r("框里我门")))))
    first = edit(document.text, "框", "新")
    insertion = replace(first, offset=first.offset + offset, length=0, source="")
    boxes = [shown(box) for box in part(document.with_edits([insertion])).iter(w("txbxContent"))]
    assert boxes == [["新框里我门" if offset == 0 else "框里我门新"]] * 2


def test_copies_that_differ_are_both_reported():
    document = parse(p(text_box(p(r("新的我门")), p(r("旧的我门")))))
    assert document.text.replace("\ufffc", "").split() == ["新的我门", "旧的我门"]
    changed = part(document.with_edits(edits_of(document, **{"旧的我门": "旧的我们"})))
    assert [shown(box) for box in changed.iter(w("txbxContent"))] == [["新的我门"], ["旧的我们"]]


def test_a_choice_without_text_leaves_the_fallback():
    assert parse(p(text_box("", p(r("只有这里"))))).text.replace("\ufffc", "").split() == ["只有这里"]


def test_boxes_inside_boxes_and_several_choices():
    inner = text_box(p(r("里面我门")), p(r("里面我门")))
    outer = "<w:r>" + alternatives(*[p(r("外面我门"), inner)] * 3) + "</w:r>"
    document = parse(p(outer))
    assert document.text.replace("\ufffc", "").split() == ["外面我门", "里面我门"]
    changed = part(
        document.with_edits(edits_of(document, **{"外面我门": "外面我们", "里面我门": "里面我们"}))
    )
    texts = [one.text for one in changed.iter(w("t"))]
    assert texts == ["外面我们", "里面我们", "里面我们"] * 3


def test_a_header_has_copies_too():
    document = parse(p(r("正文")), header=p(BOX))
    header = part(document.with_edits(edits_of(document, 公圆="公园")), "word/header.xml")
    assert [shown(box)[0] for box in header.iter(w("txbxContent"))] == ["框里我门去公园"] * 2


def test_runs_in_the_line_get_one_comment():
    document = parse(p(r("请"), alternatives(r("我门去"), r("我门去")), r("吧")))
    assert document.text.split() == ["请我门去吧"]
    changed = part(document.with_edits(edits_of(document, 门="们"), track=True))
    assert len(list(changed.iter(w("commentReference")))) == 1
    assert characters(decided(changed, accept=True)) == characters(
        part(document.with_edits(edits_of(document, 门="们")))
    )
