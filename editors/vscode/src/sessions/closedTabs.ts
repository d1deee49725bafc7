// What becomes of live sessions whose tabs a person closes: they are stopped, or their agents keep them.
//
// The editor closes a tab first and tells afterwards, so it is asked for then. Tabs that are closed together are one question.

import * as vscode from 'vscode';
import { type Log, reasonOf } from '../log.js';
import { plainText } from '../plainText.js';
import type { SessionRow } from '../protocol/sessionRow.js';
import type { SessionRequests } from './sessionTerminal.js';

/** Tabs that are closed within this time are asked for at once. */
const TOGETHER_MS = 100;
/** Sessions that a question names. */
const MAX_NAMED = 3;

export type OnTabClose = 'ask' | 'stop' | 'keep';

export interface ClosedTabsOptions {
  /** The setting. */
  onTabClose(): OnTabClose;
  /** Sets it. */
  remember(choice: OnTabClose): Thenable<void>;
  isLive(sessionId: string): boolean;
}

export class ClosedTabs implements vscode.Disposable {
  private closed: SessionRow[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly server: SessionRequests,
    private readonly options: ClosedTabsOptions,
    private readonly log: Log,
  ) {}

  /** A person closed the tab of a live session. */
  add(row: SessionRow): void {
    this.closed.push(row);
    this.timer ??= setTimeout(() => void this.decide(), TOGETHER_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private async decide(): Promise<void> {
    this.timer = undefined;
    const rows = this.closed.filter(({ sessionId }) => this.options.isLive(sessionId));
    this.closed = [];
    if (rows.length === 0) {
      return;
    }
    const setting = this.options.onTabClose();
    if ((setting === 'ask' ? await this.ask(rows) : setting) === 'stop') {
      await Promise.all(rows.map((row) => this.stop(row)));
    }
  }

  private async ask(rows: readonly SessionRow[]): Promise<OnTabClose> {
    const [stop, keep, alwaysStop, alwaysKeep] = ['Stop', 'Keep Running', 'Always Stop', 'Always Keep Running'];
    const names = rows.slice(0, MAX_NAMED).map((row) => `“${plainText(row.title, 40) || 'session'}”`);
    const more = rows.length > MAX_NAMED ? ` and ${rows.length - MAX_NAMED} more` : '';
    const question =
      rows.length === 1
        ? `The agent’s session ${names[0] ?? ''} is still running. Stop it?`
        : `The agents’ sessions ${names.join(', ')}${more} are still running. Stop them?`;
    const pressed = await vscode.window.showWarningMessage(question, stop, keep, alwaysStop, alwaysKeep);
    const choice = pressed === stop || pressed === alwaysStop ? 'stop' : 'keep';
    if (pressed === alwaysStop || pressed === alwaysKeep) {
      await this.options.remember(choice);
    }
    return choice;
  }

  private async stop({ sessionId, title }: SessionRow): Promise<void> {
    if (!this.options.isLive(sessionId)) {
      return;
    }
    try {
      await this.server.request('stop', { sessionId });
    } catch (error) {
      this.log.warn(`stop of session ${sessionId}: ${reasonOf(error)}`);
      void vscode.window.showWarningMessage(`${plainText(title, 40)} was not stopped: ${plainText(reasonOf(error), 200)}`);
    }
  }
}
