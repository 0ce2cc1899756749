"""What `nmspeller check` does with files, folders, patterns, standard input and texts."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from scripted_speller import KNOWN

from nmspeller.apps.project.find import find


def test_a_clean_file_exits_with_0_and_prints_nothing(check, tmp_path):
    (tmp_path / "a.txt").write_text("今天天气很好。\n")
    result = check("a.txt")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_a_finding_has_file_line_and_column(check, tmp_path):
    (tmp_path / "a.txt").write_text("今天天气很好。\n下午，我门去公园。\n")
    result = check("a.txt")
    assert result.code == 1
    assert result.out == "a.txt:2:5: 门 → 们 (same sound, 0.99)\n"


def test_neighbouring_characters_are_one_finding(check):
    assert check("--text", "请你借少一下").out == "<text>:1:3: 借少 → 介绍 (same sound, 0.97)\n"


def test_a_wrong_particle_is_a_finding_beside_another(check, monkeypatch):
    monkeypatch.setitem(KNOWN, "高心得", ("高兴地", 0.9))
    assert check("--text", "他高心得笑了").out.splitlines() == [
        "<text>:1:3: 心 → 兴 (similar sound, 0.90)",
        "<text>:1:4: 得 → 地 (的地得, 0.90)",
    ]


def test_text_and_standard_input(check):
    assert check("-", stdin="我门".encode()).out.startswith("<stdin>:1:2: 门 → 们")
    assert check("-t", "我们").code == 0


def test_one_of_files_and_text_is_needed(check):
    for arguments in ([], ["--text", "好", "a.txt"]):
        result = check(*arguments)
        assert result.code == 2
        assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-t", "好", "a.txt"], "--text cannot be used with FILE."),
        (["-t", "好", "--encoding", "big5"], "--text cannot be used with --encoding."),
        (["-t", "好", "--strings"], "--strings cannot be used with --text."),
        (["-", "--strings"], "--strings cannot be used with -."),
        (["a.txt", "--backup"], "--backup needs --fix."),
        (["a.docx", "--track"], "--track needs --fix."),
        (["a.docx", "--fix", "--author", "王"], "--author needs --track."),
        (["a.txt", "--fix", "-o", "diff"], "--output-format diff cannot be used with --fix."),
        (
            ["a.txt", "--explain", "--output-format=diff"],
            "--output-format diff cannot be used with --explain.",
        ),
        (["a.txt", "-", "--fix", "-o", "json"], "--fix - cannot be used with --output-format."),
        (["--fix", "-t", "好", "--explain"], "--fix --text cannot be used with --explain."),
        (["a.txt", "--update-baseline"], "--update-baseline needs --baseline."),
        (["-", "--baseline", "b"], "--baseline cannot be used with -."),
    ],
)
def test_options_that_do_not_go_together(check, arguments, sentence):
    result = check(*arguments)
    assert (result.code, result.out, result.err) == (2, "", f"nmspeller: {sentence}\n")


def test_a_file_is_no_option_even_if_it_is_named_so(check, tmp_path):
    (tmp_path / "--fix").write_text("我门")
    assert check("-o", "diff", "--", "--fix").code == 1


def test_a_folder_gives_its_prose_files_in_order(check, tmp_path):
    wanted = ["a.md", "b/c.txt", "b/d.html", "b/e/f.tex"]
    unwanted = [
        ".git/x.txt",
        "node_modules/x.md",
        "vendor/x.txt",
        ".hidden.txt",
        "program.py",
        "data.csv",
        "b/.v/x.md",
    ]
    for name in wanted + unwanted:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# 我门" if name.endswith("py") else "我门")
    assert [line.split(":")[0] for line in check(".").out.splitlines()] == wanted


def test_a_pattern_is_expanded_and_a_file_named_twice_is_checked_once(check, tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("a.txt", "deep/b.txt", "deep/c.md"):
        (tmp_path / name).write_text("我门")
    assert check("**/*.txt", "a.txt", "./a.txt").out.count("\n") == 2
    assert check("[a].txt").out.startswith("a.txt:")


def test_a_pattern_that_matches_folders_gives_what_is_in_them(check, tmp_path):
    for name in ("ch1/a.txt", "ch2/deep/b.md", "ch2/data.csv", "other/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("我门")
    assert [line.split(":")[0] for line in check("ch*").out.splitlines()] == ["ch1/a.txt", "ch2/deep/b.md"]
    assert [line.split(":")[0] for line in check("**/*1").out.splitlines()] == []


def test_a_folder_does_not_give_its_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "a.txt").write_text("我门")
    assert list(find(str(tmp_path))) == [tmp_path / "a.txt"]


def test_a_file_whose_name_looks_like_a_pattern(check, tmp_path):
    (tmp_path / "[我].txt").write_text("我门")
    assert check("[我].txt").code == 1


def test_json_has_one_object_a_file_and_its_edits_make_the_corrected_text(check, tmp_path):
    (tmp_path / "a.md").write_text("**我**门去\n\n公圆😀他门\n")
    (tmp_path / "b.txt").write_text("好。")
    result = check("-o", "json", "a.md", "b.txt")
    first, second = map(json.loads, result.out.splitlines())
    assert second == {"path": "b.txt", "text": "好。", "corrected": "好。", "edits": [], "hints": []}
    assert first["path"] == "a.md"
    assert first["corrected"] == "**我**们去\n\n公园😀他们\n"
    text = first["text"]
    for edit in reversed(first["edits"]):
        assert text[edit["offset"] :][: edit["length"]] == edit["source"]
        text = text[: edit["offset"]] + edit["target"] + text[edit["offset"] + edit["length"] :]
    assert text == first["corrected"]
    assert set(first["edits"][0]) == {
        "offset", "length", "source", "target", "probability", "confidence", "alternatives", "reason", "rule"
    }  # fmt: skip
    assert first["edits"][0]["reason"] == "same_sound"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_fix_changes_the_wrong_characters_and_no_other_byte(check, tmp_path, encoding, newline):
    text = newline.join(["今天我门去公圆。", "", "\t天汽很好　 ", "结束了没有换行"])
    file = tmp_path / "a.txt"
    file.write_bytes(text.encode(encoding))
    result = check("--fix", "a.txt")
    assert result.code == 1
    right = text.replace("我门", "我们").replace("公圆", "公园").replace("天汽", "天气")
    assert file.read_bytes() == right.encode(encoding)
    assert check("a.txt").code == 0


def test_fix_writes_big5_back_as_big5(check, tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes("今天下午我門去圖書館看書。".encode("big5"))
    check("--fix", "a.txt")
    assert file.read_bytes() == "今天下午我們去圖書館看書。".encode("big5")


def test_fix_leaves_clean_files_untouched(check, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("很好。")
    os.utime(file, (1, 1))
    inode = file.stat().st_ino
    assert check("--fix", "a.txt").code == 0
    assert (file.stat().st_mtime, file.stat().st_ino) == (1, inode)


def test_fix_keeps_permissions_and_follows_links(check, tmp_path):
    (tmp_path / "real").mkdir()
    file = tmp_path / "real" / "a.txt"
    file.write_text("我门")
    file.chmod(0o640)
    (tmp_path / "link.txt").symlink_to("real/a.txt")
    check("--fix", "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert file.read_text() == "我们"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["a.txt"]


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="this system has them elsewhere")
def test_who_may_not_give_a_file_back_to_its_owner_gives_it_to_its_group(check, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("我门")
    given = []

    def chown(path, owner, group):
        if owner != -1:
            raise PermissionError(1, "Operation not permitted")
        given.append(group)

    monkeypatch.setattr(os, "chown", chown)
    assert check("--fix", "a.txt").code == 1
    assert (tmp_path / "a.txt").read_text() == "我们"
    assert given == [(tmp_path / "a.txt").stat().st_gid]


def test_fix_keeps_extended_attributes_and_sets_the_time(check, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("我门")
    try:
        os.setxattr(file, "user.origin", b"desk")
    except OSError:
        pytest.skip("this file system has none")
    os.utime(file, (1, 1))
    check("--fix", "a.txt")
    assert file.read_text() == "我们"
    assert os.getxattr(file, "user.origin") == b"desk"
    assert file.stat().st_mtime > 1


def test_backup_keeps_every_original(check, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("我门")
    check("--fix", "--backup", "a.txt")
    file.write_text("他门")
    check("--fix", "--backup", "a.txt")
    contents = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert contents == {"a.txt": "他们", "a.txt.bak": "我门", "a.txt.bak2": "他门"}


@pytest.mark.parametrize("options", [[], ["-o", "json"], ["-o", "sarif"], ["-o", "github"]])
def test_fix_names_the_written_files_and_their_backups_on_standard_error(check, tmp_path, options):
    (tmp_path / "sub").mkdir()
    for name, content in (
        ("a.txt", "我门"),
        ("b.txt", "很好"),
        ("sub/c.txt", "他门"),
        ("sub/c.txt.bak", "旧"),
    ):
        (tmp_path / name).write_text(content)
    (tmp_path / "d.txt").symlink_to("sub/e.txt")
    (tmp_path / "sub" / "e.txt").write_text("公圆")
    result = check("--fix", "--backup", *options, "a.txt", "b.txt", "sub/c.txt", "d.txt")
    kept = tmp_path.resolve() / "sub" / "e.txt.bak"
    assert result.err.splitlines() == [
        "Corrected a.txt; the original is a.txt.bak.",
        "Corrected sub/c.txt; the original is sub/c.txt.bak2.",
        f"Corrected d.txt; the original is {kept}.",
    ]
    assert kept.read_text() == "公圆"
    if options == ["-o", "json"]:
        assert [json.loads(line)["path"] for line in result.out.splitlines()][2] == "sub/c.txt"
    if options == ["-o", "sarif"]:
        json.loads(result.out)


def test_fix_without_backups_names_only_what_was_written(check, tmp_path):
    (tmp_path / "a.txt").write_text("我门")
    assert check("--fix", "a.txt").err == "Corrected a.txt.\n"
    assert check("--fix", "a.txt").err == ""
    assert check("--fix", "-t", "我门").err == ""


def test_fix_of_standard_input_prints_the_corrected_bytes(check):
    raw = "我门去公圆。\r\n".encode("gb18030")
    result = check("--fix", "-", stdin=raw)
    assert result.raw == "我们去公园。\r\n".encode("gb18030")
    assert result.code == 1
    assert check("--fix", "--text", "很好").raw == "很好".encode()


@pytest.mark.parametrize("options", [["-o", "json"], ["-o", "sarif"], ["-o", "plain"]])
def test_corrected_text_and_a_report_do_not_share_standard_output(check, options):
    for result in (
        check("--fix", *options, "-", stdin="我门".encode()),
        check("--fix", *options, "-t", "我门"),
    ):
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert "cannot be used with --output-format" in result.err


def test_fix_of_standard_input_and_files_prints_the_corrected_text_alone(check, tmp_path):
    (tmp_path / "a.txt").write_text("他门")
    assert check("--fix", "a.txt", "-", stdin="我门".encode()).out == "我们"
    assert (tmp_path / "a.txt").read_text() == "他们"


def test_diff_applies_with_patch_in_the_file_s_own_encoding(check, tmp_path):
    lines = ["没有错误的一行", *["中间的行"] * 9, "我门去公圆", "下一行", "天汽很好"]
    file = tmp_path / "a.txt"
    file.write_bytes("\n".join(lines).encode("gb18030"))
    result = check("-o", "diff", "a.txt")
    assert result.code == 1
    assert b"@@ -8,6 +8,6 @@" in result.raw
    subprocess.run(["git", "apply", "-"], input=result.raw, cwd=tmp_path, check=True)
    assert file.read_bytes().decode("gb18030") == "\n".join(lines).replace("我门", "我们").replace(
        "公圆", "公园"
    ).replace("天汽", "天气")


def test_level_and_words_reach_the_speller(check, speller, tmp_path):
    (tmp_path / "words.txt").write_text("天汽\n")
    result = check("--text", "我门看天汽", "--level", "thorough", "--words", "words.txt")
    assert speller.calls[-1][1] == "thorough"
    assert "天" not in result.out
    assert "门 → 们" in result.out


def test_the_prefilter_is_an_option(check, speller):
    check("--text", "我门看天汽")
    assert not speller.prefilter
    check("--text", "我门看天汽", "--prefilter")
    assert speller.prefilter


def test_config_is_found_upwards_and_options_override_it(check, speller, tmp_path):
    (tmp_path / ".nmspeller.toml").write_text(
        'level = "careful"\nwords = "words.txt"\nignore = ["drafts/"]\nformat = {"*.note" = "markdown"}\n'
    )
    (tmp_path / "words.txt").write_text("天汽\n")
    (tmp_path / "deep" / "drafts").mkdir(parents=True)
    (tmp_path / "deep" / "a.note").write_text("天汽 `我门` 他门")
    (tmp_path / "deep" / "drafts" / "b.txt").write_text("我门")
    result = check("deep/a.note", "deep/drafts/b.txt")
    assert result.out == "deep/a.note:1:10: 门 → 们 (same sound, 0.98)\n"
    assert speller.calls[-1][1] == "careful"
    check("deep/a.note", "--level", "thorough")
    assert speller.calls[-1][1] == "thorough"


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ("levle = 1", "levle"),
        ("level = 'bold'", "bold"),
        ("x = ", "TOML"),
        ("x = " + "[" * 2000, "TOML"),
        ("x = " + "9" * 5000, "TOML"),
        ("words = 3", "words"),
        ("format = 'pdf'", "pdf"),
    ],
)
def test_a_wrong_setting_is_named(check, tmp_path, settings, complaint):
    (tmp_path / ".nmspeller.toml").write_text(settings)
    (tmp_path / "a.txt").write_text("我门")
    result = check("a.txt")
    assert result.code == 2
    assert complaint in result.err
    assert result.err.count("\n") == 1


def test_without_prose_no_model_is_loaded_and_it_is_said_once(check, speller, tmp_path):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "english.md").write_text("# Hello\n\nworld\n")
    result = check("empty.txt")
    assert (result.code, result.out) == (0, "")
    advice = "set --format or --encoding.\n"
    assert result.err == f"No Chinese text was found in empty.txt; if it has some, {advice}"
    result = check(".")
    assert result.code == 0
    assert (
        result.err == f"No Chinese text was found in 2 files, such as empty.txt; if they have some, {advice}"
    )
    assert speller.calls == []


def test_programs_with_strings_alone_are_said_to_be(check, tmp_path):
    (tmp_path / "a.ts").write_text('const greeting = "我门来了"\n')
    (tmp_path / "b.py").write_text('print("我门来了")\n')
    result = check("a.ts")
    assert (result.code, result.out) == (0, "")
    assert result.err == "No Chinese comment was found in a.ts; --strings checks its strings, too.\n"
    assert "in 2 programs, such as a.ts; --strings checks their strings" in check("a.ts", "b.py").err
    assert check("--strings", "a.ts").code == 1
    assert check("--strings", "--format", "code", "a.ts").code == 1


def test_a_folder_says_once_which_suffixes_it_skipped(check, tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("a.csv", "b.CSV", "deep/c.py", "deep/Makefile", "d.txt", ".hidden.py", "deep/~$d.docx"):
        (tmp_path / name).write_text("我们")
    result = check(".")
    assert (result.code, result.out) == (0, "")
    assert result.err == (
        "Not checked in folders: .csv (2), no suffix (1), .py (1); a file given by name is checked.\n"
    )
    for number in range(20):
        (tmp_path / f"x.s{number}").write_text("")
    assert check(".").err.count("(") == 8
    assert check("d.txt", "a.csv").err == ""


def test_a_pipe_cannot_be_corrected_in_place(tmp_path):
    script = [sys.executable, str(Path(__file__).with_name("scripted_speller.py"))]
    done = subprocess.run(
        [*script, "check", "--fix", "/dev/stdin"], input="我门".encode(), cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "nmspeller: /dev/stdin is a pipe or a device, which cannot be corrected in place; read it as -.\n"
    )


@pytest.mark.parametrize(("command", "shows"), [("", "--version"), ("check", "--output-format")])
def test_help_does_not_wait_for_the_model(command, shows):
    code = (
        f"import sys\nfrom nmspeller.__main__ import run\nrun([*{command.split()}, '--help'])\n"
        "late = ('numpy', 'onnxruntime', 'docx', 'torch', 'prompt_toolkit', 'pathspec')\n"
        "print([name for name in late if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
    assert shows in result.stdout
