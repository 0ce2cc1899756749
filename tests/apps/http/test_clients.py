"""Independent LanguageTool clients against `nmspeller serve` with the shipped model."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import language_tool_python
import pytest
from pylanguagetool import api as pylanguagetool

NODE = Path(__file__).parent / "node"
TEXT = "😀😀今天我很高心，因为他己是来了。\n我门👨‍👩‍👧‍👦一起去吃饭𠮷，他买了三个平果。"


@pytest.fixture(scope="module")
def expected(real_server):
    """What the speller's own protocol says of TEXT."""
    answer = httpx.post(f"{real_server}/v1/check", json={"text": TEXT}, timeout=180)
    [result] = answer.raise_for_status().json()["results"]
    assert len(result["edits"]) >= 3, "the text was written to have errors"
    return result


def test_language_tool_python(real_server, expected):
    with language_tool_python.LanguageTool("zh-CN", remote_server=real_server) as tool:
        matches = tool.check(TEXT)
        assert tool.correct(TEXT) == expected["text"]
    # This client turns UTF-16 offsets back into code points itself.
    assert [match.offset for match in matches] == [edit["offset"] for edit in expected["edits"]]
    assert [TEXT[match.offset : match.offset + match.error_length] for match in matches] == [
        edit["source"] for edit in expected["edits"]
    ]
    assert [match.replacements[0] for match in matches] == [edit["target"] for edit in expected["edits"]]


def test_language_tool_python_knows_the_languages(real_server):
    with language_tool_python.LanguageTool("zh", remote_server=real_server) as tool:
        tool.disabled_rules = {match.rule_id for match in tool.check(TEXT)}
        assert tool.check(TEXT) == []
    with pytest.raises(ValueError, match="unsupported language"):
        language_tool_python.LanguageTool("fr", remote_server=real_server)


@pytest.mark.parametrize("prefix", ["/v2/", "/"])
def test_pylanguagetool(real_server, expected, prefix):
    address = f"{real_server}{prefix}"
    assert "zh-CN" in [language["longCode"] for language in pylanguagetool.get_languages(address)]
    answer = pylanguagetool.check(TEXT, address, "auto", picky=False)
    units = TEXT.encode("utf-16-le")
    sources = [
        units[2 * m["offset"] : 2 * (m["offset"] + m["length"])].decode("utf-16-le")
        for m in answer["matches"]
    ]
    assert sources == [edit["source"] for edit in expected["edits"]]
    with pytest.raises(ValueError, match="not a language code"):
        pylanguagetool.check(TEXT, address, "fr")


def test_pylanguagetool_at_the_command_line(real_server, expected, tmp_path):
    file = tmp_path / "text.txt"
    file.write_text(TEXT, encoding="utf-8")
    command = Path(sys.executable).with_name("pylanguagetool")
    arguments = ["--api-url", f"{real_server}/v2/", "--lang", "zh-CN", "--no-color", str(file)]
    done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=180)
    assert done.returncode == 1, done.stderr
    for edit in expected["edits"]:
        assert edit["target"] in done.stdout


@pytest.fixture(scope="module")
def gramma(real_server):
    """Run the npm client `gramma` on a text."""
    if not shutil.which("node"):
        pytest.skip("there is no node here")
    if not (NODE / "node_modules").is_dir():
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        if subprocess.run(install, cwd=NODE, capture_output=True, timeout=300).returncode:
            pytest.skip("`npm ci` could not fetch the client")

    def run(text, markdown=False):
        asked = json.dumps({"text": text, "markdown": markdown, "api_url": f"{real_server}/v2/check"})
        done = subprocess.run(
            ["node", "check.js"], cwd=NODE, input=asked, capture_output=True, text=True, timeout=180
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_gramma_from_npm(gramma, expected):
    answer = gramma(TEXT)
    assert answer["corrected"] == expected["text"]
    assert [match["word"] for match in answer["matches"]] == [edit["source"] for edit in expected["edits"]]


def test_gramma_sends_markdown_as_annotations(gramma):
    text = "# 😀标题\n\n今天我很**高心**，见 `高心` 和[他己是来了](https://example.org/高心)。\n"
    answer = gramma(text, markdown=True)
    assert answer["corrected"] == text.replace("**高心**", "**高兴**").replace("己是", "已是")
