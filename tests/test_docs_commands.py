"""Every command in the documentation is one that the command line understands, and what it names exists."""

import re
import shlex
from pathlib import Path

import pytest

from nmspeller import __main__ as program
from nmspeller.apps.cli import batch, check, conflicts, review
from nmspeller.lab import configs

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
IN_FENCE = re.compile(r"^(?:\W|run: |\w+=\S* |\S*/bin/)*nmspeller (.+)$", re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+)`")
TABLES = {"check": check._CONFLICTS, "review": review._CONFLICTS, "batch": batch._CONFLICTS}
# Where the name that an argument or an option takes is that of a file.
CONFIGS = {"train": "models", "pretrain": "pretrain", "recipe": "recipes"}
FOLDERS = ("benchmarks", "deploy", "docs", "editors", "examples", "scripts", "src", "tests")
REMOVED = {"benchmarks/context_only.py"}  # its page says so
IN_REPOSITORY = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w./*-]*\w")


def commands(page):
    """The arguments of each command on a page, and whether all of them are there."""
    text = page.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        joined = fence[0].replace("\\\n", " ")
        yield from ((found, True) for found in IN_FENCE.findall(joined))
    for code in INLINE.findall(FENCE.sub("", text)):
        if code.startswith("nmspeller "):
            yield code.removeprefix("nmspeller "), False


def words(command):
    """Without comment, redirections and what stands for something else."""
    command = re.split(r"\s[|<>;&]", command)[0]
    found = (word.rstrip("….") for word in shlex.split(command, comments=True))
    return [word for word in found if word and not word.startswith("[")]


def parsed(command, arguments, parent=None):
    """The context of the innermost command, which is not run."""
    context = command.make_context(command.name or "nmspeller", list(arguments), parent=parent)
    if not hasattr(command, "commands"):
        return context
    _name, inner, rest = command.resolve_command(context, [*context._protected_args, *context.args])
    return parsed(inner, rest, context)


def understood(arguments, *, is_whole):
    try:
        return parsed(program._command(), arguments)
    except program.typer.Exit:  # --help
        return None
    except program._UsageError as wrong:
        if not is_whole and (
            re.search("Missing|requires an argument", wrong.format_message())
            or type(wrong).__name__.startswith("NoArgs")
        ):
            return None
        raise AssertionError(wrong.format_message()) from None


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_is_understood_and_its_configurations_exist(page):
    for command, is_whole in commands(page):
        if not (arguments := words(command)):
            continue
        try:
            context = understood(arguments, is_whole=is_whole)
            if context is None:
                continue
            conflicts.require(context, TABLES.get(context.info_name, ()))
            named = {**context.params, context.info_name: context.params.get("config")}
            for key, folder in CONFIGS.items():
                # A name with an ending is a file of the reader's own, which the page shows.
                if (name := named.get(key)) and not name.endswith(".yaml"):
                    assert (Path(configs.__file__).parent / folder / f"{name}.yaml").is_file(), name
        except Exception as wrong:
            pytest.fail(f"nmspeller {command}: {wrong}")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_file_of_the_repository_that_is_named_exists(page):
    for code in (*INLINE.findall(page.read_text(encoding="utf-8")), *(one for one, _ in commands(page))):
        for name in IN_REPOSITORY.findall(code):
            places = (ROOT, page.parent, ROOT / "src" / "nmspeller")
            assert name in REMOVED or any(any(place.glob(name)) for place in places), name


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem in ("cli", "README", "README.zh-CN")])
def test_every_option_in_the_manual_of_the_command_line_exists(page):
    root = program._command()
    groups, options = [root], {"--binary"}  # of patch
    while groups:
        command = groups.pop()
        groups += getattr(command, "commands", {}).values()
        for parameter in command.params:
            options |= {*parameter.opts, *parameter.secondary_opts}
    named = {code.split()[0] for code in INLINE.findall(page.read_text()) if code.startswith("--")}
    assert named
    assert named <= options, named - options
