/** Where the language server is, and how it gets there. */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, rm } from "node:fs/promises";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

const run = promisify(execFile);
const ON_WINDOWS = process.platform === "win32";
const PACKAGE = "nmspeller[lsp]";
const LOWEST_PYTHON = [3, 10];

/** The program of the setting, or else the one on the PATH, or else that of the extension's own environment. */
export async function findServer(context: vscode.ExtensionContext): Promise<string | undefined> {
    const chosen = vscode.workspace.getConfiguration("nmspeller").get<string>("command")?.trim();
    if (chosen) {
        return chosen;
    }
    for (const program of [...onPath("nmspeller"), ownProgram(context, "nmspeller")]) {
        if (await isExecutable(program)) {
            return program;
        }
    }
    return undefined;
}

/** Ask, and install the server into the extension's own environment; whether it is there now. */
export async function offerToInstall(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Promise<boolean> {
    const install = vscode.l10n.t("Install");
    const settings = vscode.l10n.t("Choose a Program");
    const answer = await vscode.window.showInformationMessage(
        vscode.l10n.t("nmspeller is not installed on this computer. Install it with pip into a folder of this extension?"),
        install,
        settings,
    );
    if (answer === settings) {
        await vscode.commands.executeCommand("workbench.action.openSettings", "nmspeller.command");
    }
    return answer === install && installServer(context, log);
}

/** Install the newest server into the extension's own environment; whether that succeeded. */
export async function installServer(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Promise<boolean> {
    try {
        await vscode.window.withProgress(
            {
                location: vscode.ProgressLocation.Notification,
                title: vscode.l10n.t("Installing nmspeller"),
                cancellable: true,
            },
            (progress, token) => install(context, log, progress, token),
        );
        return true;
    } catch (problem) {
        if (problem instanceof vscode.CancellationError) {
            return false;
        }
        const details = vscode.l10n.t("Show Output");
        void vscode.window
            .showErrorMessage(vscode.l10n.t("nmspeller could not be installed: {0}", message(problem)), details)
            .then((answer) => answer === details && log.show());
        return false;
    }
}

/** The last line that a program wrote before it failed, or what else is known. */
export function message(problem: unknown): string {
    const written = (problem as { stderr?: string }).stderr ?? "";
    return lastLine(written) ?? (problem instanceof Error ? problem.message : String(problem));
}

export function lastLine(text: string): string | undefined {
    return text.trim().split(/\r?\n/).at(-1)?.trim() || undefined;
}

async function install(
    context: vscode.ExtensionContext,
    log: vscode.LogOutputChannel,
    progress: vscode.Progress<{ message: string }>,
    token: vscode.CancellationToken,
): Promise<void> {
    const stop = new AbortController();
    const cancelled = token.onCancellationRequested(() => stop.abort());
    const folder = environmentFolder(context);
    const execute = async (program: string, ...options: string[]): Promise<void> => {
        log.info([program, ...options].join(" "));
        const { stdout, stderr } = await run(program, options, { signal: stop.signal, maxBuffer: 2 ** 26 });
        log.info(stdout + stderr);
    };
    try {
        const python = await findPython();
        progress.report({ message: vscode.l10n.t("creating a Python environment") });
        await execute(python, "-m", "venv", folder);
        progress.report({ message: vscode.l10n.t("downloading packages") });
        await execute(
            ownProgram(context, "python"), "-m", "pip", "install", "--disable-pip-version-check", "--upgrade", PACKAGE,
        );
    } catch (problem) {
        log.error(String((problem as { stderr?: string }).stderr ?? problem));
        if (!(await isExecutable(ownProgram(context, "nmspeller")))) {
            await rm(folder, { recursive: true, force: true });
        }
        throw token.isCancellationRequested ? new vscode.CancellationError() : problem;
    } finally {
        cancelled.dispose();
    }
}

/** A Python that is new enough. */
async function findPython(): Promise<string> {
    for (const name of ON_WINDOWS ? ["python", "py"] : ["python3", "python"]) {
        try {
            const { stdout } = await run(name, ["-c", "import sys; print(*sys.version_info[:2])"]);
            const [major, minor] = stdout.trim().split(" ").map(Number);
            if (major > LOWEST_PYTHON[0] || (major === LOWEST_PYTHON[0] && minor >= LOWEST_PYTHON[1])) {
                return name;
            }
        } catch {
            continue;
        }
    }
    throw new Error(vscode.l10n.t("there is no Python {0} or newer; install one first.", LOWEST_PYTHON.join(".")));
}

function environmentFolder(context: vscode.ExtensionContext): string {
    return path.join(context.globalStorageUri.fsPath, "venv");
}

function ownProgram(context: vscode.ExtensionContext, name: string): string {
    return path.join(environmentFolder(context), ON_WINDOWS ? `Scripts/${name}.exe` : `bin/${name}`);
}

function onPath(name: string): string[] {
    return (process.env.PATH ?? "")
        .split(path.delimiter)
        .filter(Boolean)
        .map((folder) => path.join(folder, ON_WINDOWS ? `${name}.exe` : name));
}

async function isExecutable(program: string): Promise<boolean> {
    return access(program, constants.X_OK).then(
        () => true,
        () => false,
    );
}
