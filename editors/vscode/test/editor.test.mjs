/**
 * The extension in a real editor. It needs:
 *
 * - code-server: CODE_SERVER is its JavaScript entry, such as node_modules/code-server/out/node/entry.js
 *   of `npm install code-server` (Node.js 20: code-server 4.100.3);
 * - Chromium: CHROMIUM, /usr/bin/chromium by default;
 * - a Python with nmspeller[lsp]: PYTHON, python3 by default.
 *
 * TRANSLATIONS may name the main.i18n.json of a Chinese language pack; only screenshots need it. SCREENSHOT names a file
 * for one, which is taken with the shipped model.
 */

import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, test } from "node:test";
import { Editor, fakeServer, MODIFIER, realServer, until } from "./editor.mjs";

const LETTER = "# 信😀\n\n明天在见，我吃平果。\n\n他跑的快，`在见`。\n";
let editor;

async function edit(options) {
    editor = new Editor(options);
    return editor.start();
}

async function found(count) {
    await until(async () => (await editor.squiggles().count()) === count, `${count} squiggles`);
    await until(async () => (await editor.statusItem().innerText()).trim() === (count ? String(count) : "nmspeller"), "the status bar");
}

async function placeCursor(line, column) {
    await editor.page.keyboard.press(`${MODIFIER}+G`);
    await editor.type(".quick-input-widget input", `:${line}:${column}`);
    await editor.page.keyboard.press("Enter");
}

async function showHover() {
    await editor.page.keyboard.press(`${MODIFIER}+K`);
    await editor.page.keyboard.press(`${MODIFIER}+I`);
}

async function quickFix(title) {
    await editor.page.keyboard.press(`${MODIFIER}+.`);
    const actions = editor.page.locator(".action-widget .monaco-list-row.action");
    await actions.filter({ hasText: title }).first().waitFor();
    const titles = await actions.allInnerTexts();
    for (let row = 0; !titles[row].includes(title); row++) {
        await editor.page.keyboard.press("ArrowDown");
    }
    await editor.page.keyboard.press("Enter");
}

function notification(text) {
    return editor.page.locator(".notifications-toasts .notification-list-item", { hasText: text });
}

afterEach(() => editor.stop());

test("a Chinese user finds, understands and fixes mistakes", async () => {
    const page = await edit({ files: { "信.md": LETTER }, locale: "zh-cn" });
    await editor.open("信.md");
    await found(3);

    await placeCursor(3, 3);
    await showHover();
    const hover = page.locator(".monaco-hover:visible");
    await hover.filter({ hasText: "在 → 再" }).waitFor();
    const shown = await hover.first().innerText();
    assert.match(shown, /再见/);
    assert.match(shown, /其他建议：载/);
    assert.match(shown, /置信度：97%/);
    await page.keyboard.press("Escape");

    await placeCursor(3, 3);
    await quickFix("将“在”改为“再”");
    await found(2);
    assert.match(await editor.text(), /明天再见，我吃平果。/);

    await placeCursor(3, 8);
    await quickFix("将“平果”加入词表");
    await found(1);
    assert.equal(editor.saved(".nmspeller-words.txt"), "平果\n");

    await editor.command("修正此文件中的全部错误");
    await found(0);
    await editor.save();
    await until(() => editor.saved("信.md") === "# 信😀\n\n明天再见，我吃平果。\n\n他跑得快，`在见`。\n", "the saved file");

    await editor.command("修正此文件中的全部错误");
    await notification("没有发现要修正的内容").waitFor();

    await editor.statusItem().click();
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "重启服务" }).click();
    await placeCursor(3, 3);
    await page.keyboard.type("在见");
    await found(1);
});

test("settings count at once, saving fixes, and every format is read as such", async () => {
    const page = await edit({
        files: { "a.txt": "明天在见\n", "b.tex": "\\label{在见}明天在见\n", "c.rst": "``在见`` 明天在见\n", "d.py": "在见 = 1  # 明天在见\n" },
        settings: {
            "editor.codeActionsOnSave": { "source.fixAll.nmspeller": "explicit" },
            "files.associations": { "*.tex": "latex", "*.rst": "restructuredtext" },
        },
    });
    for (const name of ["b.tex", "c.rst", "a.txt"]) {
        await editor.open(name);
        await found(1);
    }
    await page.locator(".monaco-editor .view-line").first().click();
    await page.keyboard.press(`${MODIFIER}+End`);
    await page.keyboard.type("再说，，");
    await editor.save();
    await until(() => editor.saved("a.txt") === "明天再见\n再说，，", "the fix on saving");
    await found(0);

    await editor.set({ "nmspeller.rules": ["doubled_punctuation"] });
    await found(1);
    await editor.set({ "nmspeller.rules": ["doubled_punctuation"], "nmspeller.enable": false });
    await found(0);

    await editor.open("d.py");
    await until(async () => !(await editor.statusItem().isVisible()), "no item for a language that is not checked");
    await editor.set({ "nmspeller.languages": ["python", "plaintext"] });
    await found(1);

    await editor.command("Create: New File...");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Text File" }).click();
    await page.locator(".tab.active", { hasText: "Untitled-1" }).waitFor();
    await page.keyboard.type("我吃平果");
    await found(1);
    await page.keyboard.press(`${MODIFIER}+A`);
    await editor.command("nmspeller: Add Selection to My Words");
    await found(0);
    assert.equal(editor.saved(".nmspeller-words.txt"), "我吃平果\n");
});

// A Python that makes environments with the fake server in them, as pip would with the real one.
const PYTHON_WITH_PIP = (home) => `#!/bin/sh
case "$*" in
    "-c "*) echo 3 12 ;;
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    *"pip install"*"nmspeller[lsp]") cp "${path.join(home, "server")}" "$(dirname "$0")/nmspeller" ;;
    *) exit 1 ;;
esac
`;

test("without a server the extension asks, and installs one of its own", async () => {
    const page = await edit({ files: { "a.txt": "明天在见\n" }, program: null });
    editor.addProgram(path.join(editor.home, "server"), fakeServer(editor.home));
    editor.addProgram(path.join(editor.bin, "python3"), PYTHON_WITH_PIP(editor.home));
    await editor.open("a.txt");
    const question = notification("Install it with pip");
    await question.waitFor();
    assert.equal(await editor.squiggles().count(), 0);
    assert.ok(!existsSync(editor.ownEnvironment()), "nothing is installed unasked");
    await question.locator(".monaco-button", { hasText: "Install" }).click();
    await found(1);
    assert.ok(existsSync(path.join(editor.ownEnvironment(), "bin", "nmspeller")));
    assert.equal(await page.locator(".notifications-toasts .codicon-error").count(), 0);
});

test("a failed installation costs one sentence and leaves nothing behind", async () => {
    await edit({ files: { "a.txt": "明天在见\n" }, program: null, locale: "zh-cn" });
    editor.addProgram(path.join(editor.bin, "python3"), PYTHON_WITH_PIP(editor.home).replace("*) exit 1", "*) echo 'No space left on device' >&2; exit 1"));
    await editor.open("a.txt");
    await notification("本机尚未安装").locator(".monaco-button", { hasText: "安装" }).first().click();
    await notification("无法安装 nmspeller").waitFor();
    assert.match(await notification("无法安装 nmspeller").innerText(), /server/);
    assert.ok(!existsSync(editor.ownEnvironment()));
});

test("a program that cannot run is named, and can be tried again", async () => {
    const program = path.join(tmpdir(), `nmspeller-${process.pid}`);
    await edit({ files: { "a.txt": "明天在见\n" }, command: program });
    await editor.open("a.txt");
    await notification(`could not start ${program}`).waitFor();
    editor.addProgram(program, "#!/bin/sh\necho 'Install the language server first.' >&2; exit 2\n");
    await editor.command("nmspeller: Restart the Server");
    await notification("Install the language server first.").waitFor();
    editor.addProgram(program, fakeServer(editor.home));
    await editor.command("nmspeller: Restart the Server");
    await found(1);
    rmSync(program);
});

test("a screenshot", { skip: !process.env.SCREENSHOT }, async () => {
    const text = "# 周末计划\n\n明天我们在公园门口见面，请带上雨伞。\n\n昨天以经下过一场大雨，路上很滑，大家做公交车的时侯要小心。\n";
    const page = await edit({
        files: { "周末计划.md": text },
        locale: "zh-cn",
        program: realServer,
        settings: { "editor.fontSize": 16, "editor.minimap.enabled": false, "editor.lineHeight": 1.9 },
    });
    await editor.open("周末计划.md");
    await until(async () => (await editor.squiggles().count()) >= 3, "findings");
    await placeCursor(5, 3);
    await showHover();
    await page.locator(".monaco-hover:visible", { hasText: "→" }).waitFor();
    await page.waitForTimeout(2000);
    await page.screenshot({ path: process.env.SCREENSHOT });
});
