// Names the settings that cannot be used, once each until they are right again: those of a wrong type, which are known here,
// and those that the server refuses.

import * as vscode from 'vscode';
import type { ServerConnection } from './connection/serverConnection.js';
import type { Log } from './log.js';
import { openSetting } from './openSetting.js';
import { plainText } from './plainText.js';
import { settingInUse, wrongSettings } from './settings.js';

const OPEN = 'Open Settings';

export function settingWarnings(connection: Pick<ServerConnection, 'onDidReadSettings'>, log: Log): vscode.Disposable {
  const ofType = new Warnings(log);
  const ofServer = new Warnings(log);
  const check = (): void =>
    ofType.show(wrongSettings().map(({ name, wanted }) => ({ name, text: `the setting ${name} cannot be used: it has to be ${wanted}` })));
  check();
  return vscode.Disposable.from(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('termbridge') || event.affectsConfiguration('terminalMcp')) {
        check();
      }
    }),
    connection.onDidReadSettings((wrong) => {
      const known = new Set(wrongSettings().map(({ name }) => name));
      const named = wrong.map(({ name, reason }) => ({ name: settingInUse(name), reason }));
      ofServer.show(
        named
          .filter(({ name }) => !known.has(name))
          .map(({ name, reason }) => ({ name, text: `the setting ${name} cannot be used: ${plainText(reason, 300)}` })),
      );
    }),
  );
}

interface Warning {
  readonly name: string;
  readonly text: string;
}

class Warnings {
  private shown = new Set<string>();

  constructor(private readonly log: Log) {}

  show(warnings: readonly Warning[]): void {
    for (const { name, text } of warnings.filter((warning) => !this.shown.has(warning.text))) {
      this.log.warn(text);
      void Promise.resolve(vscode.window.showWarningMessage(`termbridge: ${text}`, OPEN)).then((pressed) =>
        pressed === OPEN ? openSetting(name) : undefined,
      );
    }
    this.shown = new Set(warnings.map(({ text }) => text));
  }
}
