"""`review` in a real terminal: a person decides on each finding, and nothing is lost."""

import os
import sys
from pathlib import Path

import docx
import pytest
from tmux_terminal import Terminal, is_installed

SCRIPT = Path(__file__).with_name("scripted_speller.py")
REVIEW = [sys.executable, str(SCRIPT), "review"]
TEXT = "上个周末，我门一家人去公圆玩。今天的天汽真好，他门都很高兴。\n\n老师借少了一本书。我门都想看。\n"

needs_tmux = pytest.mark.skipif(not is_installed(), reason="tmux is not installed")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    return tmp_path


def kept_reviews(folder):
    return list((folder / "state").rglob("*.json"))


@needs_tmux
def test_every_kind_of_decision(folder):
    # Standard input is not the terminal, as after `git diff --name-only | xargs`.
    command = ["sh", "-c", 'echo a.txt | xargs "$@"', "sh", *REVIEW, "--backup"]
    with Terminal(command, folder) as terminal:
        screen = terminal.wait_for("1/6")
        assert (
            "line 1, column 7\n  上个周末，我门一家人去公圆玩。\n  门 → 们  same sound  0.99\n  1 某"
            in screen
        )
        assert "accept the replacement" in screen
        terminal.press("a")
        terminal.wait_for("2/6")
        terminal.press("Up", "9", "x", "1")  # only the last of these keys means something here
        terminal.wait_for("3/6")
        terminal.press("u")
        terminal.wait_for("2/6", times=2)
        terminal.press("e")
        terminal.wait_for("Replacement (empty: back): 园")
        terminal.press("BSpace", "院", "Enter")
        terminal.wait_for("✓ 院")
        terminal.wait_for("3/6", times=2)
        terminal.press("w")
        terminal.wait_for("Word (empty: back): 天汽")
        terminal.press("C-u", "公园", "Enter")
        terminal.wait_for("“公园” is not at this place")
        terminal.press("w")
        terminal.wait_for("Word (empty: back): 天汽")
        terminal.press("Enter")
        terminal.wait_for("4/6")
        terminal.press("i")
        terminal.wait_for("门 → 们 is skipped everywhere")
        terminal.wait_for("5/6")
        assert (folder / "a.txt").read_text() == TEXT
        assert sorted(os.listdir(folder)) == ["a.txt", "state"]
        terminal.press("Enter")
        terminal.wait_for("Save 3 corrections and 1 word?")  # the last finding is equal to a skipped one
        terminal.press("u")
        terminal.wait_for("5/6", times=2)
        terminal.press("s")
        terminal.wait_for("Save 2 corrections and 1 word?")
        assert (folder / "a.txt").read_text() == TEXT
        terminal.press("Enter")
        screen = terminal.wait_for("EXIT")
    assert "Corrected a.txt; the original is a.txt.bak." in screen
    assert "All findings are decided." in screen
    assert (folder / "a.txt").read_text() == TEXT.replace("我门一", "我们一").replace("公圆", "公院")
    assert (folder / "a.txt.bak").read_text() == TEXT
    assert (folder / ".nmspeller-words.txt").read_text() == "天汽\n"
    assert kept_reviews(folder) == []


@needs_tmux
def test_ctrl_c_loses_nothing_even_if_the_file_changes_before_the_review_goes_on(folder):
    with Terminal([*REVIEW, "a.txt"], folder) as terminal:
        for number, key in enumerate("aas", 1):
            terminal.wait_for(f"{number}/6")
            terminal.press(key)
        terminal.wait_for("4/6")
        terminal.press("C-c")
        assert terminal.exit_code() == 130
        assert "Your decisions are kept" in terminal.screen()
        assert "Traceback" not in terminal.screen()
    assert (folder / "a.txt").read_text() == TEXT
    # A new paragraph before, and the sentence of the third decision is another one now.
    changed = "我门刚写的一段。\n\n" + TEXT.replace("今天", "昨天")
    (folder / "a.txt").write_text(changed)
    with Terminal([*REVIEW, "a.txt"], folder) as terminal:
        screen = terminal.wait_for("1/7")
        assert "2 findings were decided before" in screen
        for number in (1, 4, 5, 6, 7):
            terminal.wait_for(f"{number}/7")
            terminal.press("s")
        terminal.wait_for("Save 2 corrections?")
        terminal.press("Enter")
        terminal.wait_for("EXIT")
    written = (folder / "a.txt").read_text()
    assert written == changed.replace("我门一家", "我们一家").replace("公圆", "公园")


@needs_tmux
def test_quitting_writes_only_what_the_user_wants(folder):
    (folder / "b.md").write_text("我**门**去公圆。\n")
    with Terminal([*REVIEW, "a.txt", "b.md"], folder) as terminal:
        terminal.wait_for("1/6")
        terminal.press("a")
        terminal.wait_for("2/6")
        terminal.press("s")
        terminal.wait_for("3/6")
        terminal.press("q")
        terminal.wait_for("Save 1 correction now?")
        assert (folder / "a.txt").read_text() == TEXT
        terminal.press("y")
        assert terminal.exit_code() == 1
    once = TEXT.replace("我门一", "我们一")
    assert (folder / "a.txt").read_text() == once
    with Terminal([*REVIEW, "a.txt", "b.md"], folder) as terminal:
        screen = terminal.wait_for(
            "2/5"
        )  # the corrected one is no finding any more, the skipped one is known
        assert "1 finding was decided before" in screen
        terminal.press("a")
        terminal.wait_for("3/5")
        terminal.press("q")
        terminal.wait_for("Save 1 correction now?")
        terminal.press("n")
        assert terminal.exit_code() == 1
    assert (folder / "a.txt").read_text() == once
    with Terminal([*REVIEW, "a.txt", "b.md"], folder) as terminal:
        for number in (3, 4, 5):
            terminal.wait_for(f"{number}/5")
            terminal.press("a")
        terminal.wait_for("Save 4 corrections?")
        terminal.press("Enter")
        terminal.wait_for("b.md")
        terminal.press("q")
        terminal.wait_for("EXIT")
    written = (folder / "a.txt").read_text()
    assert (
        written
        == "上个周末，我们一家人去公圆玩。今天的天气真好，他们都很高兴。\n\n老师介绍了一本书。我们都想看。\n"
    )
    with Terminal([*REVIEW, "a.txt", "b.md"], folder) as terminal:
        screen = terminal.wait_for("1/2")
        assert "a.txt" not in screen  # it was finished before, with its skipped finding
        terminal.press("a")
        terminal.wait_for("2/2")
        terminal.press("a")
        terminal.wait_for("Save 2 corrections?")
        terminal.press("Enter")
        terminal.wait_for("EXIT")
    assert (folder / "b.md").read_text() == "我**们**去公园。\n"
    assert kept_reviews(folder) == []


@needs_tmux
def test_chinese_in_a_narrow_terminal_and_a_word_document(tmp_path):
    document = docx.Document()
    paragraph = document.add_paragraph("那天我")
    paragraph.add_run("门").bold = True
    paragraph.add_run("，" + "很好，" * 40 + "去公圆。")
    document.save(tmp_path / "信.docx")
    with Terminal([*REVIEW, "信.docx"], tmp_path, width=30, LANG="zh_CN.UTF-8") as terminal:
        screen = terminal.wait_for("回车")
        assert "采用建议" in screen
        assert "第 1 段" in screen
        assert "\n  那天我门，很好，很好，很好，\n  很好，" in screen
        assert "…\n  门 → 们" in screen
        terminal.press("a")
        terminal.wait_for("去公\n  圆。\n  圆 → 园")
        terminal.press("s")
        terminal.wait_for("保存 1 处修改？")
        terminal.press("Enter")
        assert "所有问题均已处理。" in terminal.wait_for("EXIT")
    written = docx.Document(tmp_path / "信.docx").paragraphs[0]
    assert [run.text for run in written.runs][:2] == ["那天我", "们"]
    assert written.runs[1].bold
    assert written.text.endswith("去公圆。")


@needs_tmux
@pytest.mark.parametrize(
    ("environment", "shown"),
    [({}, "\x1b[31m门"), ({"NO_COLOR": "1"}, "\x1b[1;7m门"), ({"TERM": "dumb"}, "我【门】一家")],
)
def test_the_wrong_text_is_marked_with_and_without_colours(folder, environment, shown):
    with Terminal([*REVIEW, "a.txt"], folder, **environment) as terminal:
        terminal.wait_for("1/6")
        styled = terminal.screen(styled=True)
        assert shown in styled
        assert ("\x1b[31m" in styled) == (not environment)


@needs_tmux
def test_the_first_findings_are_reviewed_while_the_rest_is_being_checked(tmp_path):
    (tmp_path / "a.txt").write_text("我门去公圆。\n" * 400)
    with Terminal([*REVIEW, "a.txt"], tmp_path, SECONDS_A_CHECK="6") as terminal:
        terminal.wait_for("a.txt: checking, 0 %")
        terminal.wait_for("1/166+")
        terminal.press("a")
        terminal.wait_for("2/166+")
        terminal.press("q")  # at once, though the check of the second part takes longer
        terminal.wait_for("Save 1 correction now?")
        terminal.press("n")
        assert terminal.exit_code() == 1
    assert len(kept_reviews(tmp_path)) == 1


@needs_tmux
def test_a_killed_review_keeps_its_decisions_and_a_file_changed_meanwhile_is_left_alone(folder):
    with Terminal([*REVIEW, "a.txt"], folder) as terminal:
        terminal.wait_for("1/6")
        terminal.press("a")
        terminal.wait_for("2/6")
        # The window is closed, as when a connection breaks.
    with Terminal([*REVIEW, "a.txt"], folder) as terminal:
        assert "1 finding was decided before" in terminal.wait_for("2/6")
        other = TEXT + "别人加的一行。\n"
        (folder / "a.txt").write_text(other)
        for key in "sssss":
            terminal.press(key)
        terminal.wait_for("Save 1 correction?")
        terminal.press("Enter")
        assert terminal.exit_code() == 2
        assert "changed while it was being checked" in terminal.screen()
    assert (folder / "a.txt").read_text() == other
    assert len(kept_reviews(folder)) == 1


@needs_tmux
def test_ctrl_z_and_fg_in_a_shell(folder):
    with Terminal(["bash", "--norc", "-i"], folder) as terminal:
        terminal.wait_for("bash-")
        terminal.press(f"{sys.executable} {SCRIPT} review a.txt", "Enter")
        terminal.wait_for("1/6")
        terminal.press("C-z")
        terminal.wait_for("Stopped")
        terminal.press("fg", "Enter")
        terminal.wait_for("1/6", times=2)
        terminal.press("Ａ")  # as an input method may send it
        terminal.wait_for("✓ 们")
        terminal.wait_for("2/6")
        terminal.press("C-c")
        terminal.wait_for("Your decisions are kept")
        terminal.press("echo the shell is as before", "Enter")
        terminal.wait_for("the shell is as before", times=2)


@needs_tmux
def test_chinese_is_typed_in_a_locale_that_is_not_installed(folder):
    with Terminal([*REVIEW, "a.txt"], folder, LANG="zh_XX.UTF-8", LC_ALL="zh_XX.UTF-8") as terminal:
        terminal.wait_for("1/6")
        terminal.press("e")
        terminal.wait_for("：们")
        terminal.press("BSpace", "咱们", "Enter")
        terminal.wait_for("✓ 咱们")
        terminal.press("q")
        terminal.wait_for("y")
        terminal.press("y")
        terminal.wait_for("EXIT")
    assert (folder / "a.txt").read_text() == TEXT.replace("我门一", "我咱们一")


@needs_tmux
def test_tracked_changes_have_their_author_and_an_explanation(tmp_path):
    document = docx.Document()
    document.add_paragraph("那天我门去公圆。")
    document.save(tmp_path / "a.docx")
    (tmp_path / "b.txt").write_text("我门")
    command = [*REVIEW, "--track", "--author", "王编辑", "a.docx", "b.txt"]
    with Terminal(command, tmp_path) as terminal:
        terminal.wait_for("1/2")
        terminal.press("a")
        terminal.wait_for("2/2")
        terminal.press("s")
        terminal.wait_for("Save 1 correction?")
        terminal.press("Enter")
        screen = terminal.wait_for("EXIT 2")
    assert "Suggested changes in a.docx." in screen
    assert "b.txt cannot have tracked changes" in screen
    [comment] = docx.Document(tmp_path / "a.docx").comments
    assert comment.author == "王编辑"
    assert comment.text == (
        "门 mén and 们 men sound the same and look similar; 我们 is a word. Confidence 0.99."
    )


@needs_tmux
def test_hints_are_shown_after_the_findings_of_their_file(folder):
    (folder / "a.txt").write_text("我门去找张琳。\n")
    (folder / "b.txt").write_text("张琳说他不来。\n")
    with Terminal([*REVIEW, "a.txt", "b.txt"], folder) as terminal:
        terminal.wait_for("1/1")
        terminal.press("a")
        screen = terminal.wait_for("Save 1 correction?")
        assert "✓ 们\n\n  1:5  张琳  " in screen
        terminal.press("u")
        terminal.wait_for("1/1", times=2)
        terminal.press("a")
        terminal.wait_for("Save 1 correction?", times=1)
        terminal.press("Enter")
        screen = terminal.wait_for("EXIT")
    assert screen.count("  1:5  张琳  ") == 1
    assert "b.txt\n\n  1:1  张琳  " in screen
    assert (folder / "a.txt").read_text() == "我们去找张琳。\n"
    assert (folder / "b.txt").read_text() == "张琳说他不来。\n"


@needs_tmux
def test_a_deletion_that_is_skipped_everywhere_is_as_visible_as_before(folder):
    (folder / "a.txt").write_text("这是我们的的学校。\n")
    with Terminal([*REVIEW, "a.txt"], folder) as terminal:
        terminal.wait_for("  的 → ∅  ")
        terminal.press("i")
        terminal.wait_for("的 → ∅ is skipped everywhere")


@needs_tmux
def test_a_read_only_file_keeps_its_decisions(folder):
    (folder / "a.txt").chmod(0o444)
    with Terminal([*REVIEW, "a.txt"], folder) as terminal:
        terminal.wait_for("The file is read-only: your decisions are kept until it can be written.")
        terminal.wait_for("1/6")
        terminal.press("a")
        terminal.wait_for("2/6")
        terminal.press("q")
        terminal.wait_for("Save 1 correction now?")
        terminal.press("y")
        terminal.wait_for("a.txt cannot be written: permission denied.")
    assert (folder / "a.txt").read_text() == TEXT
    (folder / "a.txt").chmod(0o644)
    with Terminal([*REVIEW, "a.txt"], folder) as terminal:
        terminal.wait_for("1 finding was decided before")
        terminal.press("q")
        terminal.wait_for("Save 1 correction now?")
        terminal.press("y")
        terminal.wait_for("Corrected a.txt.")


@needs_tmux
def test_a_file_that_is_removed_during_the_check_does_not_end_the_review_of_the_others(folder):
    (folder / "b.txt").write_text("我门去公园。\n")
    with Terminal([*REVIEW, "a.txt", "b.txt"], folder, SECONDS_A_CHECK="2") as terminal:
        terminal.wait_for("a.txt: checking")
        (folder / "a.txt").unlink()
        for number in range(1, 7):
            terminal.wait_for(f"{number}/6")
            terminal.press("a")
        terminal.wait_for("Save 6 corrections?")
        terminal.press("Enter")
        terminal.wait_for("a.txt cannot be written: no such file or directory.")
        terminal.wait_for("b.txt\n")
        terminal.wait_for("1/1")
        terminal.press("a")
        terminal.wait_for("Save 1 correction?")
        terminal.press("Enter")
        assert terminal.exit_code() == 2
    assert (folder / "b.txt").read_text() == "我们去公园。\n"
    (folder / "a.txt").write_text(TEXT)  # it is back
    with Terminal([*REVIEW, "a.txt"], folder) as terminal:
        terminal.wait_for("Save 6 corrections?")


@needs_tmux
def test_a_finding_of_a_word_document_is_in_a_paragraph(folder):
    document = docx.Document()
    document.add_paragraph("很好。")
    document.add_paragraph("我门去公园。")
    document.save(folder / "b.docx")
    with Terminal([*REVIEW, "b.docx"], folder) as terminal:
        assert "line 2" not in terminal.wait_for("1/1 · paragraph 2")


@needs_tmux
def test_hints_that_the_baseline_has_are_not_shown(folder, check):
    (folder / "a.txt").write_text("张琳说他不来。\n")
    baseline = ("--baseline", "known.json")
    assert check("a.txt", *baseline, "--update-baseline").code == 0
    (folder / "a.txt").write_text("张琳说他不来。\n\n我门去找张琳。\n")
    with Terminal([*REVIEW, *baseline, "a.txt"], folder) as terminal:
        terminal.wait_for("1/1")
        terminal.press("a")
        screen = terminal.wait_for("Save 1 correction?")
    assert "  3:5  张琳  " in screen
    assert "  1:1  张琳  " not in screen
