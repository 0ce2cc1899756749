"""Long texts: findings are shown as they come, even in one huge paragraph, and none is lost or moved."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripted_speller import ScriptedSpeller

from nmspeller.apps.documents import document as documents

PROGRAM = [sys.executable, str(Path(__file__).with_name("scripted_speller.py")), "check"]
SENTENCE = "上个周末，我门一家人去公圆玩，天汽很好。"


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE * 1500,
        SENTENCE.replace("。", "，") * 1500,  # no end of a sentence anywhere
        (SENTENCE * 3 + "\n") * 500,
        "很好。" * 4000 + "我门",
    ],
    ids=["one paragraph", "one sentence", "a novel", "an error at the end"],
)
def test_the_findings_in_parts_are_those_of_the_whole(text):
    speller, shown = ScriptedSpeller(), []
    document = documents.from_text(text, "a.txt")
    correction = documents.check(
        speller, document, advance=lambda characters, edits: shown.append((characters, edits))
    )
    assert correction.edits == ScriptedSpeller().edits(text)
    assert [edit for _, edits in shown for edit in edits] == list(correction.edits)
    assert sum(characters for characters, _ in shown) == sum(len(one.text) for one in document.passages)
    assert len(shown) > 3
    assert max(characters for characters, _ in shown) <= 4_000
    assert max(sum(map(len, texts)) for texts, _ in speller.calls) <= 6_000


def test_a_markdown_paragraph_with_markup_keeps_its_places_in_parts():
    text = f"**上个周末**，{SENTENCE}" * 400
    document = documents.from_bytes("a.md", text.encode())
    correction = documents.check(ScriptedSpeller(), document)
    assert len(correction.edits) == 1200
    for edit in correction.edits:
        assert text[edit.offset : edit.offset + edit.length] == edit.source
    assert correction.text == text.replace("我门", "我们").replace("公圆", "公园").replace("天汽", "天气")


def test_the_first_findings_of_a_huge_paragraph_come_before_the_rest_is_read(tmp_path):
    (tmp_path / "a.txt").write_text(SENTENCE * 25_000)  # half a million characters without a line break
    process = subprocess.Popen(
        [*PROGRAM, "a.txt"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(documents.__file__).parents[3]), "SECONDS_A_CHECK": "5"},
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout.readline().decode().startswith("a.txt:1:7: 门 → 们")
        assert process.poll() is None  # the whole takes ten minutes
    finally:
        process.kill()
        process.communicate()
