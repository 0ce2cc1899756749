/** The connection to the language server. */

import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import {
    type ClientCapabilities,
    CloseAction,
    type Executable,
    LanguageClient,
    RevealOutputChannelOn,
    State,
    type StaticFeature,
} from "vscode-languageclient/node";
import { lastLine } from "./server";
import type { DocumentStatus, Status } from "./status";

/** Settings that only this extension reads; the server would not know them. */
const OWN_SETTINGS = ["command", "languages"];
const MOST_RESTARTS = 3;

export async function connect(program: string, log: vscode.LogOutputChannel, status: Status): Promise<LanguageClient> {
    let written = "";
    let runs = false;
    let exited = (): void => {};
    const end = new Promise<void>((resolve) => (exited = resolve));
    const start = async (): Promise<ChildProcess> => {
        const server = spawn(program, ["lsp"], { cwd: firstFolder() } satisfies Executable["options"]);
        server.stderr.on("data", (data: Buffer) => (written = (written + data.toString()).slice(-4000)));
        server.stderr.once("end", exited);
        return new Promise((resolve, reject) => {
            server.once("spawn", () => resolve(server));
            server.once("error", reject);
        });
    };
    const client: QuietClient = new QuietClient("nmspeller", "nmspeller", start, {
        documentSelector: checkedLanguages().flatMap((language) => [
            { scheme: "file", language },
            { scheme: "untitled", language },
        ]),
        outputChannel: log,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        initializationFailedHandler: () => false,
        errorHandler: {
            error: (...problem) => client.createDefaultErrorHandler().error(...problem),
            closed: () => (runs ? restarts.closed() : { action: CloseAction.DoNotRestart, handled: true }),
        },
        middleware: {
            workspace: {
                // The server asks for its settings, so that those of this extension can be left out.
                didChangeConfiguration: () =>
                    client.sendNotification("workspace/didChangeConfiguration", { settings: null }),
                configuration: async (wanted, token, next) => {
                    const answers = await next(wanted, token);
                    return Array.isArray(answers) ? answers.map(withoutOwnSettings) : answers;
                },
            },
        },
    });
    const restarts = client.createDefaultErrorHandler(MOST_RESTARTS);
    client.registerFeature(wantsStatus);
    client.onNotification("nmspeller/status", (told: DocumentStatus) => status.setDocument(told));
    client.onDidChangeState(({ newState }) => {
        if (newState === State.Stopped && runs) {
            status.setServer({ failed: lastLine(written) ?? vscode.l10n.t("The server has stopped") });
        } else if (newState === State.Running) {
            runs = true;
            status.setServer("running");
        }
    });
    try {
        await client.start();
    } catch (problem) {
        // What the server wrote before it ended says more than that the connection is closed.
        await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 1000))]);
        throw new Error(lastLine(written) ?? (problem instanceof Error ? problem.message : String(problem)));
    }
    return client;
}

/** A client that leaves it to the extension to tell the user what is wrong. */
class QuietClient extends LanguageClient {
    override error(message: string, data?: unknown): void {
        super.error(message, data, false);
    }
}

/** The languages that the user wants checked. */
export function checkedLanguages(): string[] {
    return vscode.workspace.getConfiguration("nmspeller").get<string[]>("languages") ?? [];
}

const wantsStatus: StaticFeature = {
    fillClientCapabilities: (capabilities: ClientCapabilities) => {
        capabilities.experimental = { ...(capabilities.experimental as object), nmspellerStatus: true };
    },
    initialize: () => {},
    getState: () => ({ kind: "static" }),
    clear: () => {},
};

function withoutOwnSettings(settings: unknown): unknown {
    const entries = Object.entries((settings ?? {}) as object);
    return Object.fromEntries(entries.filter(([name]) => !OWN_SETTINGS.includes(name)));
}

function firstFolder(): string | undefined {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    return folder?.scheme === "file" ? folder.fsPath : undefined;
}
