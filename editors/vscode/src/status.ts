/** The item in the status bar: whether the file in front is being checked, and what was found in it. */

import * as vscode from "vscode";

/** What the server says of one document. */
export interface DocumentStatus {
    uri: string;
    status: "checking" | "checked" | "failed" | "off";
    problem: string | null;
}

export type ServerState = "starting" | "running" | "missing" | { failed: string };

export class Status implements vscode.Disposable {
    private readonly item: vscode.StatusBarItem;
    private readonly documents = new Map<string, DocumentStatus>();
    private readonly listeners: vscode.Disposable[];
    private server: ServerState = "starting";

    constructor(private readonly isChecked: (document: vscode.TextDocument) => boolean) {
        this.item = vscode.window.createStatusBarItem("nmspeller", vscode.StatusBarAlignment.Right, 100);
        this.item.name = "nmspeller";
        this.item.command = "nmspeller.menu";
        this.listeners = [
            vscode.window.onDidChangeActiveTextEditor(() => this.show()),
            vscode.languages.onDidChangeDiagnostics(() => this.show()),
            vscode.workspace.onDidCloseTextDocument((document) => this.documents.delete(document.uri.toString())),
        ];
        this.show();
    }

    setServer(state: ServerState): void {
        this.server = state;
        if (state !== "running") {
            this.documents.clear();
        }
        this.show();
    }

    setDocument(status: DocumentStatus): void {
        this.documents.set(vscode.Uri.parse(status.uri).toString(), status);
        this.show();
    }

    dispose(): void {
        this.listeners.forEach((listener) => listener.dispose());
        this.item.dispose();
    }

    private show(): void {
        const document = vscode.window.activeTextEditor?.document;
        const shown = document !== undefined && this.isChecked(document);
        void vscode.commands.executeCommand("setContext", "nmspeller.active", shown && this.server === "running");
        if (!shown) {
            this.item.hide();
            return;
        }
        const { icon, text, tooltip, isProblem } = this.appearance(document.uri);
        this.item.text = `$(${icon}) ${text}`;
        this.item.tooltip = tooltip;
        this.item.accessibilityInformation = { label: `nmspeller: ${tooltip}` };
        this.item.backgroundColor = isProblem ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
        this.item.show();
    }

    private appearance(uri: vscode.Uri): { icon: string; text: string; tooltip: string; isProblem?: boolean } {
        if (this.server === "starting") {
            return { icon: "loading~spin", text: "nmspeller", tooltip: vscode.l10n.t("Starting") };
        }
        if (this.server === "missing") {
            const tooltip = vscode.l10n.t("nmspeller is not installed; click to install it");
            return { icon: "warning", text: "nmspeller", tooltip, isProblem: true };
        }
        if (this.server !== "running") {
            return { icon: "error", text: "nmspeller", tooltip: this.server.failed, isProblem: true };
        }
        const document = this.documents.get(uri.toString());
        if (document?.status === "failed") {
            return { icon: "error", text: "nmspeller", tooltip: document.problem ?? "", isProblem: true };
        }
        if (document?.status === "off") {
            return { icon: "circle-slash", text: "nmspeller", tooltip: vscode.l10n.t("Switched off") };
        }
        const found = vscode.languages.getDiagnostics(uri).filter((each) => each.source === "nmspeller").length;
        if (document?.status !== "checked") {
            const text = found ? String(found) : "nmspeller";
            return { icon: "loading~spin", text, tooltip: vscode.l10n.t("Checking this file") };
        }
        if (!found) {
            return { icon: "check", text: "nmspeller", tooltip: vscode.l10n.t("No findings in this file") };
        }
        const tooltip = found === 1 ? vscode.l10n.t("1 finding in this file") : vscode.l10n.t("{0} findings in this file", found);
        return { icon: "edit", text: String(found), tooltip };
    }
}
