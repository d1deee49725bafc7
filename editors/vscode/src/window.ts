// What this window is to the server: an id that a reload keeps, the folders, and whether they are trusted.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { WindowDescription } from './connection/serverConnection.js';
import { policySettings } from './settings.js';

const WINDOW_KEY = 'window';

/** The window's id. Editors keep this memory by workspace: two windows on one workspace have the same id. */
export async function windowId(memory: vscode.Memento): Promise<string> {
  const known = memory.get<string>(WINDOW_KEY);
  if (known !== undefined) {
    return known;
  }
  const id = randomUUID();
  await memory.update(WINDOW_KEY, id);
  return id;
}

export function describeWindow(): WindowDescription {
  return {
    folders: localFolders().map((folder) => folder.uri.fsPath),
    trusted: vscode.workspace.isTrusted,
    settings: policySettings(),
  };
}

/** The folders of this machine; those of a virtual workspace have no path that a server could use. */
export function localFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
}
