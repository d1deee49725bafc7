// What this window is to the server: the folders, whether they are trusted, and what the person has set.

import * as vscode from 'vscode';
import type { WindowDescription } from './connection/serverConnection.js';
import { policySettings } from './settings.js';

export function describeWindow({ isAway }: { readonly isAway: boolean }): WindowDescription {
  return {
    folders: localFolders().map((folder) => folder.uri.fsPath),
    trusted: vscode.workspace.isTrusted,
    away: isAway,
    settings: policySettings(),
  };
}

/** The folders of this machine; those of a virtual workspace have no path that a server could use. */
export function localFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
}
