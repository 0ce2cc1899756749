"""The catalogue is complete, no text goes around it, and the command line speaks both languages."""

import ast
import importlib.util
import os
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from contextvars import Context
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from nmspeller.__main__ import run
from nmspeller.apps.cli.localized import language_of_arguments, said
from nmspeller.files import reason
from nmspeller.messages import (
    LANGUAGES,
    _,
    language,
    language_of_environment,
    language_of_header,
    language_of_tag,
    ngettext,
    speak,
    speaking,
    suggest,
)

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "nmspeller"
SCRIPTED = ROOT / "tests" / "apps" / "check" / "scripted_speller.py"

TRANSLATED_FILES = ("*.py", "text/**/*.py", "knowledge/**/*.py", "runtime/**/*.py", "apps/**/*.py")
"""All of the product: every text that a user reads goes through the catalogue."""

PRODUCT = ("check", "serve", "lsp", "batch")
TAKES_A_TEXT = {"InputError", "ApiError", "Interrupted", "print", "echo"}
ENGLISH = re.compile(r"\b(?:the|of|is|and|to|for|with|or|in|that|by|not)\b")


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("messages_script", ROOT / "scripts" / "messages.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fields(text: str) -> set[str]:
    return {name for _literal, name, _spec, _conversion in string.Formatter().parse(text) if name is not None}


def test_every_message_has_a_translation_with_the_same_fields() -> None:
    messages = script()
    catalogue = messages.translated()
    assert not messages.missing(catalogue)
    assert len(catalogue) > 100
    for message in catalogue:
        if message.id:
            originals = [message.id] if isinstance(message.id, str) else message.id
            translations = [message.string] if isinstance(message.string, str) else message.string
            for translation in translations:
                assert fields(translation) == fields(originals[-1]), message.id


def test_the_files_of_the_catalogue_are_up_to_date() -> None:
    messages = script()
    for file, content in messages.compiled(messages.translated()).items():
        assert file.read_bytes() == content, f"run `python scripts/messages.py`: {file.name} is out of date"


def untranslated(tree: ast.Module) -> list[int]:
    """The lines of texts that are given to users as they stand."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            shown = node.args[:1] if name in TAKES_A_TEXT else []
            shown += [keyword.value for keyword in node.keywords if keyword.arg == "help"]
            found += [text.lineno for text in shown if says_something(text)]
    return found


def says_something(text: ast.expr) -> bool:
    """Whether it is a literal with a word in it; the name of the program is none."""
    if isinstance(text, ast.BinOp):
        return says_something(text.left) or says_something(text.right)
    if isinstance(text, ast.IfExp):
        return says_something(text.body) or says_something(text.orelse)
    if isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr == "format":
        return says_something(text.func.value)
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    literals = (part.value for part in parts if isinstance(part, ast.Constant))
    literal = " ".join(part for part in literals if isinstance(part, str))
    return re.search(r"[A-Za-z]{2,}", literal.replace("nmspeller", "")) is not None


@pytest.mark.parametrize(
    ("line", "is_untranslated"),
    [
        ('raise InputError("give a file.")', True),
        ('raise InputError(f"{path} is empty.")', True),
        ('raise InputError("{path} is empty.".format(path=path))', True),
        ('typer.echo("done" if done else _("failed"))', True),
        ('typer.Option(None, help="Print it.")', True),
        ('raise InputError(_("{path} is empty.").format(path=path))', False),
        ('print(f"nmspeller: {sentence}")', False),
        ('print("\\r\\x1b[K", end="")', False),
        ('typer.Option(None, help=N_("Print it."))', False),
        ("typer.Option(None, help=HELP)", False),
    ],
)
def test_a_text_that_goes_around_the_catalogue_is_noticed(line: str, is_untranslated: bool) -> None:
    assert bool(untranslated(ast.parse(line))) is is_untranslated


def test_no_text_goes_around_the_catalogue() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for pattern in TRANSLATED_FILES
        for path in sorted(PACKAGE.glob(pattern))
        for line in untranslated(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, f"wrap these texts in _() or N_(): {', '.join(found)}"


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Comprehensions and lambdas, too, have scopes of their own.
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What is in the scope of a function itself."""
    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, SCOPES):
            yield from own_nodes(node)


def hides_the_translator(function: ast.AST) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id == "_" and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == "_")
        for node in own_nodes(function)
    )


def test_nothing_hides_the_translator() -> None:
    """`row, _ = …` would make `_("…")` fail in that function, and only once there is an error to report."""
    assert hides_the_translator(ast.parse("def f():\n  a, _ = 1, 2").body[0])
    assert not hides_the_translator(ast.parse("def f():\n  return [0 for _ in range(3)]").body[0])
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        if re.search(r"^from nmspeller\.messages import .*\b_\b", code, re.MULTILINE):
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, FUNCTIONS) and hides_the_translator(node):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found, f"name it `_something`: {', '.join(found)}"


def test_languages_by_tag_environment_and_header() -> None:
    tags = [language_of_tag(tag) for tag in ("zh-CN", "zh_TW.UTF-8", "ZH", "en", "fr", "", None)]
    assert tags == ["zh", "zh", "zh", "en", None, None, None]
    assert language_of_environment({"LANG": "zh_CN.UTF-8"}) == "zh"
    assert language_of_environment({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "fr_FR"}) == "en"
    assert language_of_environment({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}) == "en"
    assert language_of_environment({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}) == "zh"
    assert language_of_environment({}) == "en"
    assert language_of_header("fr, zh-TW;q=0.8, en;q=0.5") == "zh"
    assert language_of_header("zh;q=0, en") == "en"
    assert language_of_header("*, de;q=oops") is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--lang", "zh", "check"], "zh"),
        (["check", "--lang=zh", "a.txt"], "zh"),
        (["check", "--lang", "fr"], None),
        (["check", "--lang"], None),
        (["check", "--", "--lang", "zh"], None),
        (["check", "--language", "zh"], None),
    ],
)
def test_the_language_that_a_command_line_asks_for(arguments: list[str], expected: str | None) -> None:
    assert language_of_arguments(arguments) == expected


def test_a_suggestion_gives_way_to_a_choice() -> None:
    def choose() -> None:
        suggest("zh")
        assert _("Options") == "选项"
        assert ngettext("{count:,} row", "{count:,} rows", 1) == "{count:,} 行"
        speak("en")
        suggest("zh")
        assert _("Options") == "Options"

    Context().run(choose)  # nothing was chosen there, whatever other tests did


def test_what_the_system_says_is_translated() -> None:
    with pytest.raises(OSError, match="No such file") as wrong:
        Path("no such file").read_bytes()
    with speaking("zh"):
        assert reason(wrong.value) == "没有该文件或文件夹"
    assert reason(OSError("odd")) == "odd"


@given(st.text(), st.sampled_from(LANGUAGES))
def test_any_text_of_typer_may_pass(text: str, spoken: str) -> None:
    with speaking(spoken):
        assert isinstance(said(text), str)
        assert said(f"No such option: --{text}").endswith(text)


def in_chinese(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["--lang", "zh", *arguments])
    return code, *capsys.readouterr()


@pytest.mark.parametrize("command", [(), *((name,) for name in PRODUCT)])
def test_help_is_chinese_throughout_and_fits_the_screen(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _err = in_chinese(capsys, *command, "--help")
    assert code == 0
    assert out.startswith("用法：")
    assert "选项：" in out
    assert "显示本帮助并退出。" in out
    assert "--lang <en|zh>" in out
    assert not re.search(r"[Dd]efault|OPTIONS|Usage|Options|Commands|Arguments|list\[", out)
    assert not ENGLISH.search(out), ENGLISH.search(out)
    assert max(map(cell_len, out.splitlines())) <= 80


def test_help_is_english_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Usage:")
    assert "Language of messages" in out
    assert not re.search("[\u4e00-\u9fff]", out)


def test_the_laboratory_speaks_english(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _err = in_chinese(capsys, "lab", "--help")
    assert code == 0
    assert out.startswith("Usage:")
    assert "选项" not in out


@pytest.mark.parametrize("command", ["evaluate", "bench"])
def test_commands_of_the_laboratory_take_a_language(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--lang", "zh", "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Usage:")
    assert "--lang" in out
    assert not re.search("[\u4e00-\u9fff]", out.replace("地", "").replace("得", ""))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--nope"], "没有选项 --nope"),
        (["check", "--fixx", "a"], "没有选项 --fixx（相近的选项：--fix）"),
        (["chek"], "没有命令 'chek'，是否要用 'check'？"),
        (["check", "-l"], "选项 '-l' 需要一个值。"),
        (["check", "--fix=1", "a"], "选项 '--fix' 不接受值。"),
        (
            ["check", "--level", "no", "a"],
            "'--level' / '-l' 的值无效：'no' 不在可选值 'careful', 'balanced', 'thorough' 之中。",
        ),
        (["serve", "--port", "no"], "'--port' 的值无效：应为整数"),
        (["serve", "--port", "70000"], "'--port' 的值无效：应小于或等于 65535"),
        (["serve", "--workers", "0"], "'--workers' 的值无效：应大于或等于 1"),
        (["serve", "--time-limit", "no"], "'--time-limit' 的值无效：应为数值"),
        (["lsp", "extra"], "多余的参数（extra）"),
        (["batch"], "缺少参数 '输入...'。"),
        (["check"], "请给出文件或文件夹，或用 - 表示标准输入，或用 --text 给出文本。"),
        (["check", "--backup", "a"], "--backup 须与 --fix 同用。"),
    ],
)
def test_wrong_usage_is_explained_in_chinese(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_chinese(capsys, *arguments) == (2, "", f"nmspeller: {sentence}\n")


def test_the_language_ends_with_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    before = language()
    in_chinese(capsys, "--help")
    assert language() == before
    assert run(["check"]) == 2
    assert "Give files or folders" in capsys.readouterr().err


def nmspeller(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    cleared = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    return subprocess.run(
        [sys.executable, str(SCRIPTED), *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**cleared, "PYTHONPATH": str(PACKAGE.parent), "PYTHONIOENCODING": "utf-8", **environment},
        check=False,
    )


@pytest.mark.server
@pytest.mark.parametrize(
    ("arguments", "environment", "reported"),
    [
        ((), {"LANG": "zh_CN.UTF-8"}, "门 → 们 (同音, 0.99)"),
        ((), {"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "门 → 们 (same sound, 0.99)"),
        (("--lang", "en"), {"LC_MESSAGES": "zh_TW.UTF-8"}, "门 → 们 (same sound, 0.99)"),
        (("--lang=zh",), {"LC_ALL": "C.UTF-8"}, "门 → 们 (同音, 0.99)"),
    ],
)
def test_a_process_speaks_the_language_of_its_environment_or_of_its_option(
    arguments: tuple[str, ...], environment: dict[str, str], reported: str
) -> None:
    done = nmspeller("check", "--text", "我门去公园。", *arguments, **environment)
    assert (done.returncode, done.stdout) == (1, f"<text>:1:2: {reported}\n"), done.stderr


def test_a_process_reports_errors_in_its_language() -> None:
    done = nmspeller("check", "--words", "没有.txt", "--nope", LANG="zh_CN.UTF-8")
    assert done.returncode == 2
    assert done.stderr == "nmspeller: 没有选项 --nope（相近的选项：--force, --model, --no-rules）\n"


def test_help_in_chinese_on_a_terminal_without_chinese() -> None:
    done = nmspeller("check", "--help", LANG="zh_CN.UTF-8", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert "--fix" in done.stdout
