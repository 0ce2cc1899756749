"""Commit messages: comments and the diff below the scissors line are not the author's text."""

import subprocess

import pytest

from nmspeller.apps.documents.prose import format_of, passages

MESSAGE = """修复我们的搜索

这一段讲原因，
共有两行。#不是注释
# 请为您的变更输入提交说明。
# ------------------------ >8 ------------------------
# 不要改动上面的一行。
diff --git a/a.txt b/a.txt
+新的一行
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_only_the_message_itself_is_prose(line_end):
    found = [passage.text for passage in passages(MESSAGE.replace("\n", line_end), "git-commit")]
    assert found == ["修复我们的搜索", "这一段讲原因，共有两行。#不是注释"]


@pytest.mark.parametrize("name", [".git/COMMIT_EDITMSG", "MERGE_MSG", "TAG_EDITMSG"])
def test_a_message_is_known_by_the_name_of_its_file(name):
    assert format_of(name) == "git-commit"


def test_the_scissors_are_those_of_git(tmp_path):
    """git itself writes the line: a message with `--cleanup=scissors` keeps nothing below it."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\ncp "$1" seen\n')
    editor.chmod(0o755)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", f"core.editor={editor}"]
    commit = ["commit", "--allow-empty", "--verbose", "--cleanup=scissors", "--edit", "-m", "我们的提交"]
    subprocess.run(["git", *identity, *commit], cwd=tmp_path, check=True, capture_output=True)
    seen = (tmp_path / "seen").read_text()
    assert ">8" in seen
    assert [passage.text for passage in passages(seen + "\n正文之外", "git-commit")] == ["我们的提交"]
