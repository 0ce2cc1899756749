"""Real editors, set up with the very lines of docs/editors.md."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nmspeller

FAKE_SERVER = Path(__file__).with_name("fake_server.py")
PAGE = Path(__file__).parents[3] / "docs" / "editors.md"
TEXT = "第一行😀\n👨‍👩‍👧‍👦明天在见，我吃平果\n他跑的快\n"
FIXED = "第一行😀\n👨‍👩‍👧‍👦明天再见，我吃平果\n他跑得快\n"


def recipe(language):
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return block


@pytest.fixture
def work(tmp_path):
    """A folder with a letter in it, and a program `nmspeller` that is the server around the fake speller."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "nmspeller"
    program.write_text(
        f"#!/bin/sh\nexport PYTHONPATH={Path(nmspeller.__file__).parents[1]}\n"
        f'test "$*" = lsp && exec {sys.executable} {FAKE_SERVER} {tmp_path / "asked.jsonl"}\n'
    )
    program.chmod(0o755)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "letter.txt").write_text(TEXT, "utf-8")
    return tmp_path


def run(command, work):
    """Run an editor in the folder, with a home of its own, and return what its script reports."""
    environment = {
        "PATH": f"{work / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(work),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "XDG_CONFIG_HOME": str(work / "config"),
        "XDG_STATE_HOME": str(work / "state"),
        "XDG_CACHE_HOME": str(work / "cache"),
        "XDG_DATA_HOME": str(work / "data"),
    }
    done = subprocess.run(
        command, cwd=work / "project", env=environment, capture_output=True, timeout=180, check=False
    )
    report = work / "report.json"
    assert report.exists(), (done.returncode, done.stdout.decode(), done.stderr.decode())
    return json.loads(report.read_text("utf-8"))


def check(report, work):
    assert report["found"] == ["在", "平", "的"]
    assert report["after fix"] == TEXT.replace("在见", "再见")
    assert report["after adding a word"] == ["的"]
    assert report["after fix all"] == FIXED
    assert report["at the end"] == []
    assert (work / "project" / ".nmspeller-words.txt").read_text("utf-8") == "平果\n"
    asked = [json.loads(line) for line in (work / "asked.jsonl").read_text("utf-8").splitlines()]
    assert {level for _, level, *_ in asked} == {"balanced"}  # the recipe's setting came through


NEOVIM_DRIVER = """
vim.cmd("filetype on")
local report = {}
vim.ui.select = function(items, options, choose)
  for _, item in ipairs(items) do
    if options.format_item(item):find(wanted, 1, true) then return choose(item) end
  end
  error("nothing offered for " .. wanted)
end
local function found()
  local texts = {}
  local all = vim.diagnostic.get(0)
  table.sort(all, function(a, b) return a.lnum * 1000 + a.col < b.lnum * 1000 + b.col end)
  for _, each in ipairs(all) do
    local line = vim.api.nvim_buf_get_lines(0, each.lnum, each.lnum + 1, true)[1]
    table.insert(texts, line:sub(each.col + 1, each.end_col))
  end
  return texts
end
local function wait(what, condition)
  if not vim.wait(20000, condition, 50) then error("waited in vain for " .. what) end
end
local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\\n") .. "\\n"
end
local function act(title, line, column)
  wanted = title
  vim.api.nvim_win_set_cursor(0, { line, column })
  vim.lsp.buf.code_action()
end
local ok, problem = pcall(function()
  vim.cmd("edit letter.txt")
  wait("diagnostics", function() return #found() == 3 end)
  report.found = found()
  local before = text()
  local column = vim.api.nvim_buf_get_lines(0, 1, 2, true)[1]:find("在见", 1, true) - 1
  act("with “再”", 2, column)
  wait("the fix", function() return text() ~= before end)
  report["after fix"] = text()
  wait("fewer diagnostics", function() return #found() == 2 end)
  column = vim.api.nvim_buf_get_lines(0, 1, 2, true)[1]:find("平果", 1, true) - 1
  act("Add “平果”", 2, column)
  wait("the word", function() return #found() == 1 end)
  report["after adding a word"] = found()
  act("Fix", 3, #"他跑")
  wait("fix all", function() return #found() == 0 end)
  report["after fix all"] = text()
  report["at the end"] = found()
  vim.lsp.stop_client(vim.lsp.get_active_clients())
end)
report.problem = problem and tostring(problem) or nil
vim.fn.writefile({ vim.fn.json_encode(report) }, "../report.json")
vim.cmd(ok and "qall!" or "cquit!")
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim(work):
    (work / "init.lua").write_text(recipe("lua"), "utf-8")
    (work / "driver.lua").write_text(NEOVIM_DRIVER, "utf-8")
    report = run(["nvim", "--headless", "-u", str(work / "init.lua"), "-S", str(work / "driver.lua")], work)
    assert "problem" not in report
    check(report, work)


EMACS_DRIVER = """
(require 'json)
(require 'flymake)
(setq report nil)
(defun note (key value) (push (cons key value) report))
(defun found ()
  (vconcat (mapcar (lambda (each) (buffer-substring-no-properties (flymake-diagnostic-beg each)
                                                                  (flymake-diagnostic-end each)))
                   (sort (flymake-diagnostics)
                         (lambda (a b) (< (flymake-diagnostic-beg a) (flymake-diagnostic-beg b)))))))
(defun wait-for (what condition)
  (let ((tries 0))
    (while (not (funcall condition))
      (when (> (setq tries (1+ tries)) 400) (error "waited in vain for %s: %s" what (found)))
      ;; The jsonrpc.el of Emacs 28 leaves a message that came together with an answer unread until the next.
      (when (and (eglot-current-server) (= (% tries 20) 0)) (eglot-code-actions (point-min) (point-min)))
      (accept-process-output nil 0.05))))
(defun act (title place)
  (goto-char (point-min))
  (search-forward place)
  (goto-char (match-beginning 0))
  (let ((last-nonmenu-event ?x))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_ items &rest _)
                 (or (cl-find-if (lambda (each) (string-match-p (regexp-quote title) each))
                                 (mapcar #'car items))
                     (error "nothing offered for %s" title)))))
      (eglot-code-actions (point) (1+ (point)) nil t))))
(defun changed () (eglot--signal-textDocument/didChange))
(condition-case problem
    (progn
      (find-file "letter.txt")
      (run-hooks 'post-command-hook)      ; what the command loop would do; batch mode has none
      (wait-for "the server" (lambda () (eglot-current-server)))
      (flymake-start)
      (wait-for "diagnostics" (lambda () (= (length (found)) 3)))
      (note "found" (found))
      (act "with “再”" "在见")
      (changed)
      (note "after fix" (buffer-string))
      (wait-for "fewer diagnostics" (lambda () (= (length (found)) 2)))
      (act "Add “平果”" "平果")
      (wait-for "the word" (lambda () (= (length (found)) 1)))
      (note "after adding a word" (found))
      (eglot-code-actions (point-min) (point-max) "source.fixAll.nmspeller" t)
      (changed)
      (note "after fix all" (buffer-string))
      (wait-for "no diagnostics" (lambda () (= (length (found)) 0)))
      (note "at the end" (found))
      (eglot-shutdown (eglot-current-server)))
  (error (note "problem" (format "%S" problem))))
(let ((coding-system-for-write 'utf-8))
  (with-temp-file "../report.json" (insert (json-encode report))))
"""


@pytest.fixture(scope="module")
def emacs():
    if shutil.which("emacs") is None:
        pytest.skip("Emacs is not installed")
    if subprocess.run(["emacs", "--batch", "--eval", "(require 'eglot)"], capture_output=True).returncode:
        pytest.skip("this Emacs has no Eglot (Debian: elpa-eglot)")
    return "emacs"


def test_emacs(emacs, work):
    (work / "init.el").write_text(recipe("elisp"), "utf-8")
    (work / "driver.el").write_text(EMACS_DRIVER, "utf-8")
    report = run([emacs, "--batch", "-l", str(work / "init.el"), "-l", str(work / "driver.el")], work)
    assert "problem" not in report
    check(report, work)
