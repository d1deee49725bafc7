// The status bar's `termbridge: N sessions`, which opens the menu. It says too what no tab can: which terminals are shared, and
// that the session in front is larger than the panel.

import * as vscode from 'vscode';
import type { ConnectionState } from '../connection/serverConnection.js';
import { plainText } from '../plainText.js';
import { summaryOf } from './sessionModel.js';
import type { SessionStore } from './sessionStore.js';
import type { UsedTerminals } from './sessionTree.js';

export interface ConnectionStatus {
  readonly state: ConnectionState;
  readonly failure: string;
  readonly onDidChangeState: vscode.Event<ConnectionState>;
  readonly onDidChangeFailure: vscode.Event<void>;
}

/** The session whose terminal is in front. */
export interface FrontSession {
  /** Its size, where only a part of it is shown. */
  clippedSize(): vscode.TerminalDimensions | undefined;
  /** Whether that part can be moved. */
  canScroll(): boolean;
  readonly onDidChangeClipping: vscode.Event<void>;
}

export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly store: SessionStore,
    private readonly connection: ConnectionStatus,
    private readonly terminals: UsedTerminals,
    private readonly front: FrontSession,
  ) {
    this.item = vscode.window.createStatusBarItem('termbridge.status', vscode.StatusBarAlignment.Left, 0);
    this.item.name = 'termbridge';
    this.item.command = 'termbridge.menu';
    this.subscriptions = [
      this.item,
      store.onDidChange(() => this.draw()),
      connection.onDidChangeState(() => this.draw()),
      connection.onDidChangeFailure(() => this.draw()),
      terminals.onDidChange(() => this.draw()),
      front.onDidChangeClipping(() => this.draw()),
      vscode.window.onDidChangeActiveTerminal(() => this.draw()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.draw()),
    ];
    this.draw();
    this.item.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private draw(): void {
    const { isTrusted } = vscode.workspace;
    if (this.connection.state !== 'connected' && !isTrusted) {
      this.write('$(shield) termbridge: Restricted Mode', 'This window is not trusted: termbridge starts no server, and connects only to one that runs');
      return;
    }
    if (this.connection.state !== 'connected') {
      const reason = plainText(this.connection.failure, 200);
      this.write('$(debug-disconnect) termbridge', reason === '' ? 'Not connected' : `Not connected: ${reason}`);
      return;
    }
    const rows = this.store.all();
    const { text, isUrgent } = summaryOf(rows, this.terminals.created().length);
    const elsewhere = rows.filter((row) => !row.isHere && row.state !== 'exited').length;
    const texts = [text];
    const hints = [elsewhere === 0 ? 'Sessions of agents' : `Sessions of agents; ${elsewhere} more in other folders`];
    const shared = this.terminals.shared();
    if (shared.length > 0) {
      texts.push(`${shared.length} shared`);
      hints.push(`Agents can use your ${shared.map(({ name }) => `“${plainText(name, 30)}”`).join(', ')}`);
    }
    if (!isTrusted) {
      texts.push('Restricted Mode');
      hints.push('This window is not trusted: agents get no terminal of this window');
    }
    const clipped = this.front.clippedSize();
    if (clipped !== undefined) {
      texts.push(`showing part of ${clipped.columns}×${clipped.rows}`);
      const move = this.front.canScroll() ? 'the wheel moves the view' : 'scroll back for what is above';
      hints.push(`The panel is smaller than the session in front: ${move}; enlarge the panel, take over, or press Fit Session to Panel above the terminal`);
    }
    this.write(`$(terminal) termbridge: ${texts.join(', ')}`, hints.join('\n'), isUrgent);
  }

  private write(text: string, tooltip: string, isUrgent = false): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.backgroundColor = isUrgent ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.item.accessibilityInformation = { label: `${text.replace(/\$\([^)]*\) /, '')}. ${tooltip}`, role: 'button' };
  }
}
