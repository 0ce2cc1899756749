"""The extension for Visual Studio Code fits the server, and speaks both languages.

`npm test` in editors/vscode drives it in a real editor.
"""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from nmspeller import __version__
from nmspeller.apps.lsp.settings import EditorSettings
from nmspeller.messages import LANGUAGES
from nmspeller.runtime.policy import Level

FOLDER = Path(__file__).parents[3] / "editors" / "vscode"
SOURCES = "".join(file.read_text("utf-8") for file in sorted((FOLDER / "src").glob("*.ts")))
OF_THE_EXTENSION = {"command", "languages"}


def read(name):
    return json.loads((FOLDER / name).read_text("utf-8"))


@pytest.fixture(scope="module")
def package():
    return read("package.json")


@pytest.fixture(scope="module")
def settings(package):
    properties = package["contributes"]["configuration"]["properties"]
    return {name.removeprefix("nmspeller."): setting for name, setting in properties.items()}


def test_the_settings_are_those_of_the_server(settings):
    assert set(settings) == {field.name for field in fields(EditorSettings)} | OF_THE_EXTENSION
    own = re.search(r"const OWN_SETTINGS = (\[.*\]);", SOURCES)[1]
    assert set(json.loads(own)) == OF_THE_EXTENSION  # the server would complain of them


def test_the_server_accepts_every_default_and_every_choice(settings):
    defaults = {name: settings[name]["default"] for name in settings.keys() - OF_THE_EXTENSION}
    assert EditorSettings.read(defaults) == (EditorSettings(), [])
    assert settings["level"]["enum"] == [None, *(level.value for level in Level)]
    assert sorted(settings["lang"]["enum"][1:]) == sorted(LANGUAGES)


@pytest.mark.parametrize("texts", ["package.nls.json", "package.nls.zh-cn.json"])
def test_every_text_of_the_package_is_in_both_languages(texts):
    used = set(re.findall(r'"%([\w.]+)%"', (FOLDER / "package.json").read_text("utf-8")))
    assert set(read(texts)) == used
    assert all(read(texts).values())


def test_every_setting_and_command_has_a_text_of_the_catalogue(package, settings):
    assert all(setting["markdownDescription"].startswith("%setting.") for setting in settings.values())
    assert all(command["title"].startswith("%command.") for command in package["contributes"]["commands"])


def test_every_message_of_the_code_is_translated():
    used = re.findall(r'l10n\.t\(\s*"((?:[^"\\]|\\.)*)"', SOURCES)
    assert len(used) == SOURCES.count("l10n.t(")
    chinese = read("l10n/bundle.l10n.zh-cn.json")
    assert set(chinese) == set(used)
    for english, translated in chinese.items():
        assert set(re.findall(r"\{\d\}", english)) == set(re.findall(r"\{\d\}", translated))


def test_the_commands_are_registered(package):
    contributed = {command["command"] for command in package["contributes"]["commands"]}
    assert set(re.findall(r'^        "(nmspeller\.\w+)": ', SOURCES, re.MULTILINE)) == contributed
    assert not contributed & {"nmspeller.addWord", "nmspeller.ignore"}  # the client registers the server's


def test_the_languages_that_are_checked_activate_the_extension(package, settings):
    assert {f"onLanguage:{name}" for name in settings["languages"]["default"]} <= set(
        package["activationEvents"]
    )


def test_the_version_is_that_of_the_package(package):
    assert package["version"] == read("package-lock.json")["version"] == __version__


def test_the_lock_file_names_no_registry():
    assert "resolved" not in (FOLDER / "package-lock.json").read_text("utf-8")
