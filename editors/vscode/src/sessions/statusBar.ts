// The status bar's `termbridge: N sessions`, which opens the menu.

import * as vscode from 'vscode';
import type { ConnectionState } from '../connection/serverConnection.js';
import { plainText } from '../plainText.js';
import { summaryOf } from './sessionModel.js';
import type { SessionStore } from './sessionStore.js';

export interface ConnectionStatus {
  readonly state: ConnectionState;
  readonly failure: string;
  readonly onDidChangeState: vscode.Event<ConnectionState>;
}

export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly store: SessionStore,
    private readonly connection: ConnectionStatus,
  ) {
    this.item = vscode.window.createStatusBarItem('termbridge.status', vscode.StatusBarAlignment.Left, 0);
    this.item.name = 'termbridge';
    this.item.command = 'termbridge.menu';
    this.subscriptions = [
      this.item,
      store.onDidChange(() => this.draw()),
      connection.onDidChangeState(() => this.draw()),
    ];
    this.draw();
    this.item.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private draw(): void {
    if (this.connection.state !== 'connected') {
      const reason = plainText(this.connection.failure, 200);
      this.write('$(debug-disconnect) termbridge', reason === '' ? 'Not connected' : `Not connected: ${reason}`);
      return;
    }
    const rows = this.store.all();
    const { text, isUrgent } = summaryOf(rows);
    const elsewhere = rows.filter((row) => !row.isHere && row.state !== 'exited').length;
    const hint = elsewhere === 0 ? 'Sessions of agents' : `Sessions of agents; ${elsewhere} more in other folders`;
    this.write(`$(terminal) termbridge: ${text}`, hint, isUrgent);
  }

  private write(text: string, tooltip: string, isUrgent = false): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.backgroundColor = isUrgent ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.item.accessibilityInformation = { label: `${text.replace(/\$\([^)]*\) /, '')}. ${tooltip}`, role: 'button' };
  }
}
