/** A real editor for the tests: code-server, with the packaged extension, in a headless Chromium. */

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.join(HERE, "..", "..", "..");
const PYTHON = process.env.PYTHON ?? "python3";
const CODE_SERVER = (process.env.CODE_SERVER ?? "code-server").split(" ");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const MODIFIER = "Control";

/** A folder with a project in it, an editor on it, and a program `nmspeller` if there shall be one. */
export class Editor {
    constructor({ settings = {}, files = {}, program = fakeServer, command, locale = "en" } = {}) {
        this.home = mkdtempSync(path.join(tmpdir(), "nmspeller-vscode-"));
        this.project = path.join(this.home, "project");
        this.bin = path.join(this.home, "bin");
        this.locale = locale;
        for (const folder of [this.project, this.bin, path.join(this.home, "data", "User")]) {
            mkdirSync(folder, { recursive: true });
        }
        if (locale !== "en") {
            // What installing a language pack writes. Without translations of its own the editor stays English, but
            // tells extensions its language.
            const translations = process.env.TRANSLATIONS ?? path.join(this.home, "translations.json");
            if (!process.env.TRANSLATIONS) {
                writeFileSync(translations, JSON.stringify({ contents: {} }));
            }
            writeFileSync(path.join(this.home, "data", "languagepacks.json"), JSON.stringify({
                [locale]: { hash: "0", label: locale, translations: { vscode: translations }, extensions: [
                    { extensionIdentifier: { id: "test.language-pack" }, version: "1.0.0" },
                ] },
            }));
        }
        this.settings = {
            "workbench.startupEditor": "none",
            "editor.unicodeHighlight.ambiguousCharacters": false,
            "editor.wordWrap": "on",
            "editor.autoClosingBrackets": "never",
            "editor.autoClosingQuotes": "never",
            ...settings,
        };
        writeFileSync(path.join(this.home, "data", "User", "settings.json"), JSON.stringify(this.settings));
        if (command) {
            // The program is a setting of the machine, which no project can change.
            mkdirSync(path.join(this.home, "data", "Machine"));
            writeFileSync(path.join(this.home, "data", "Machine", "settings.json"), JSON.stringify({ "nmspeller.command": command }));
        }
        for (const [name, text] of Object.entries(files)) {
            writeFileSync(path.join(this.project, name), text);
        }
        if (program) {
            this.addProgram(path.join(this.bin, "nmspeller"), program(this.home));
        }
    }

    addProgram(file, script) {
        writeFileSync(file, script);
        chmodSync(file, 0o755);
    }

    /** Change the user's settings, in place of an earlier change, as a user does. */
    async set(changed) {
        await this.command("Preferences: Open User Settings (JSON)");
        await this.page.locator(".tab.active", { hasText: "settings.json" }).waitFor();
        await this.page.locator(".monaco-editor .view-line").first().click();
        await this.page.keyboard.press(`${MODIFIER}+A`);
        await this.page.keyboard.insertText(JSON.stringify({ ...this.settings, ...changed }));
        await this.save();
        await this.page.locator(".tab.active:not(.dirty)").waitFor();
        await this.command("View: Close Editor");
        await this.page.locator(".tab", { hasText: "settings.json" }).waitFor({ state: "detached" });
    }

    ownEnvironment() {
        return path.join(this.home, "data", "User", "globalStorage", "nmspeller.nmspeller", "venv");
    }

    async start() {
        const folders = ["--user-data-dir", path.join(this.home, "data"), "--extensions-dir", path.join(this.home, "extensions")];
        // Only the test's own programs and those of the system: an nmspeller of the user must not be found.
        // The editor asks a login shell for the PATH.
        writeFileSync(path.join(this.home, ".bash_profile"), `export PATH=${this.bin}:/usr/bin:/bin\n`);
        const environment = {
            ...process.env, PATH: `${this.bin}:/usr/bin:/bin`, HOME: this.home, SHELL: "/bin/bash", LANG: "C.UTF-8",
        };
        const installed = spawnSync(process.execPath, [...CODE_SERVER, ...folders, "--install-extension", packaged()], { env: environment });
        if (installed.status) {
            throw new Error(installed.stderr.toString() + installed.stdout.toString());
        }
        const port = await freePort();
        this.server = spawn(
            process.execPath,
            [...CODE_SERVER, ...folders, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--locale", this.locale,
                "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"],
            { env: environment, stdio: "ignore" },
        );
        const url = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(this.project)}`;
        await until(() => fetch(url).then((answer) => answer.ok, () => false), "the editor");
        this.browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
        const context = await this.browser.newContext({
            viewport: { width: 1100, height: 620 },
            locale: this.locale,
            permissions: ["clipboard-read", "clipboard-write"],
        });
        this.page = await context.newPage();
        this.page.setDefaultTimeout(90_000);
        await this.page.goto(url);
        await this.page.locator(".monaco-workbench .part.editor").waitFor();
        return this.page;
    }

    /** Open a file of the project. */
    async open(name) {
        await this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).dblclick();
        await this.page.locator(".monaco-editor .view-line").first().waitFor();
    }

    /** Run a command by its title. */
    async command(title) {
        await this.page.keyboard.press("F1");
        await this.type(".quick-input-widget input", `>${title}`);
        await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
    }

    async type(place, text) {
        await this.page.locator(place).first().fill(text);
    }

    /** The file in the project, as it is on the disk. */
    saved(name) {
        return readFileSync(path.join(this.project, name), "utf8");
    }

    /** What the editor shows, line by line. */
    async text() {
        const lines = await this.page.locator(".monaco-editor .view-line").allInnerTexts();
        return lines.map((line) => line.replaceAll("\u00a0", " ")).join("\n");
    }

    async save() {
        await this.page.keyboard.press(`${MODIFIER}+S`);
    }

    statusItem() {
        return this.page.locator("#nmspeller\\.nmspeller\\.nmspeller");
    }

    squiggles() {
        return this.page.locator(".monaco-editor .cdr[class*=squiggly-]");
    }

    async stop() {
        await this.browser?.close();
        this.server?.kill();
        await new Promise((resolve) => (this.server ? this.server.once("exit", resolve) : resolve()));
        rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
    }
}

/** The server around a speller that knows five mistakes by heart, see tests/apps/lsp/fake_server.py. */
export function fakeServer(home) {
    const server = path.join(ROOT, "tests", "apps", "lsp", "fake_server.py");
    return `#!/bin/sh\nPYTHONPATH=${path.join(ROOT, "src")} exec ${PYTHON} ${server} ${path.join(home, "asked.jsonl")}\n`;
}

/** The server with the shipped model. */
export function realServer() {
    return `#!/bin/sh\nPYTHONPATH=${path.join(ROOT, "src")} exec ${PYTHON} -m nmspeller "$@"\n`;
}

export async function until(condition, what, seconds = 90) {
    for (let tries = 0; tries < seconds * 10; tries++) {
        if (await condition()) {
            return;
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`waited in vain for ${what}`);
}

function packaged() {
    const { version } = JSON.parse(readFileSync(path.join(HERE, "..", "package.json"), "utf8"));
    return path.join(HERE, "..", `nmspeller-${version}.vsix`);
}

function freePort() {
    return new Promise((resolve) => {
        const server = createServer().listen(0, "127.0.0.1", () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}
