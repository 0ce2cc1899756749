/** nmspeller in Visual Studio Code: starts the language server and offers its commands. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { checkedLanguages, connect } from "./client";
import { findServer, installServer, message, offerToInstall } from "./server";
import { Status } from "./status";

const FIX_ALL = vscode.CodeActionKind.SourceFixAll.append("nmspeller");

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
    const log = vscode.window.createOutputChannel("nmspeller", { log: true });
    const status = new Status((document) => checkedLanguages().includes(document.languageId));
    // One after the other: a setting may change while the server starts.
    let last: Promise<void> = Promise.resolve();
    const inTurn = (work: () => Promise<void>): Promise<void> => (last = last.then(work));

    const start = async (): Promise<void> => {
        await stop();
        status.setServer("starting");
        const program = await findServer(context);
        if (program === undefined) {
            status.setServer("missing");
            void offerToInstall(context, log).then((installed) => (installed ? inTurn(start) : undefined));
            return;
        }
        log.info(`server: ${program}`);
        try {
            client = await connect(program, log, status);
        } catch (problem) {
            status.setServer({ failed: message(problem) });
            const settings = vscode.l10n.t("Settings");
            const details = vscode.l10n.t("Show Output");
            void vscode.window
                .showErrorMessage(
                    vscode.l10n.t("nmspeller could not start {0}: {1}", program, message(problem)),
                    settings,
                    details,
                )
                .then((answer) => {
                    if (answer === settings) {
                        void vscode.commands.executeCommand("workbench.action.openSettings", "nmspeller.command");
                    } else if (answer === details) {
                        log.show();
                    }
                });
        }
    };
    const commands: Record<string, () => unknown> = {
        "nmspeller.fixAll": fixAll,
        "nmspeller.addSelection": addSelection,
        "nmspeller.restart": () => inTurn(start),
        "nmspeller.install": async () => (await installServer(context, log)) && inTurn(start),
        "nmspeller.showOutput": () => log.show(),
        "nmspeller.menu": menu,
    };
    context.subscriptions.push(
        log,
        status,
        ...Object.entries(commands).map(([name, command]) => vscode.commands.registerCommand(name, command)),
        vscode.workspace.onDidChangeConfiguration((change) => {
            if (change.affectsConfiguration("nmspeller.command") || change.affectsConfiguration("nmspeller.languages")) {
                void inTurn(start);
            }
        }),
    );
    await inTurn(start);
}

export async function deactivate(): Promise<void> {
    await stop();
}

async function stop(): Promise<void> {
    const stopped = client;
    client = undefined;
    await stopped?.dispose().catch(() => {}); // a server that has crashed cannot be stopped
}

/** Replace every finding in the file by its first suggestion. */
async function fixAll(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined) {
        return;
    }
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        "vscode.executeCodeActionProvider", document.uri, whole, FIX_ALL.value,
    );
    const edit = actions.find((action) => action.kind?.value === FIX_ALL.value)?.edit;
    if (edit === undefined) {
        void vscode.window.showInformationMessage(vscode.l10n.t("nmspeller found nothing to fix in this file."));
        return;
    }
    await vscode.workspace.applyEdit(edit);
}

/** Add the selected word to the user's words. */
async function addSelection(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const word = editor?.document.getText(editor.selection).trim();
    if (!editor || !word || client === undefined) {
        void vscode.window.showInformationMessage(vscode.l10n.t("Select a word first."));
        return;
    }
    await client.sendRequest("workspace/executeCommand", {
        command: "nmspeller.addWord",
        arguments: [client.code2ProtocolConverter.asUri(editor.document.uri), word],
    });
}

async function menu(): Promise<void> {
    const items = [
        { label: vscode.l10n.t("$(arrow-down) Next finding"), command: "editor.action.marker.next" },
        { label: vscode.l10n.t("$(check-all) Fix all in this file"), command: "nmspeller.fixAll" },
        { label: vscode.l10n.t("$(add) Add the selection to my words"), command: "nmspeller.addSelection" },
        { label: vscode.l10n.t("$(settings-gear) Settings"), command: "workbench.action.openSettings", argument: "@ext:nmspeller.nmspeller" },
        { label: vscode.l10n.t("$(refresh) Restart the server"), command: "nmspeller.restart" },
        { label: vscode.l10n.t("$(cloud-download) Install or update the server"), command: "nmspeller.install" },
        { label: vscode.l10n.t("$(output) Show output"), command: "nmspeller.showOutput" },
    ];
    const chosen = await vscode.window.showQuickPick(items, { placeHolder: "nmspeller" });
    if (chosen) {
        await vscode.commands.executeCommand(chosen.command, ...(chosen.argument ? [chosen.argument] : []));
    }
}
