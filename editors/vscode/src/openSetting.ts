// Opens a setting where a person can change it.

import * as vscode from 'vscode';

/** Settings of scope `machine`: in a remote window these belong to that machine, and the user's settings do not list them. */
const MACHINE_SETTINGS = ['termbridge.path', 'termbridge.serverUrl'];
/** Only in remote windows, and in a browser's, which count as such. */
const OPEN_REMOTE = 'workbench.action.openRemoteSettings';

export async function openSetting(name: string): Promise<void> {
  const isElsewhere = MACHINE_SETTINGS.includes(name) && (await vscode.commands.getCommands()).includes(OPEN_REMOTE);
  if (isElsewhere) {
    await vscode.commands.executeCommand(OPEN_REMOTE, { query: name });
  } else {
    await vscode.commands.executeCommand('workbench.action.openSettings', name);
  }
}
