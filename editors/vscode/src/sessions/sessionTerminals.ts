// Which sessions have a terminal in this window, and when it is brought to the front.
//
// A session of one of this window's folders gets one when it appears, unless the person closed it before or turned that
// off; any other gets one when the person asks for it. A terminal that the person uses is never pushed aside: a session
// only comes to the front where none is, or another session's that the person does not drive.

import * as vscode from 'vscode';
import type { Log } from '../log.js';
import type { Message } from '../protocol/message.js';
import { textOf } from '../protocol/message.js';
import type { SessionRow } from '../protocol/sessionRow.js';
import type { SessionStore } from './sessionStore.js';
import { SessionTerminal, type SessionRequests } from './sessionTerminal.js';

/** Terminals that are opened unasked. */
const MAX_UNASKED = 32;
/** Terminals of ended sessions that stay; older ones are closed. */
const MAX_ENDED = 8;
const CLOSED_KEY = 'closedSessions';

export type ShowTerminals = 'always' | 'background' | 'never';

export interface SessionTerminalsOptions {
  showTerminals(): ShowTerminals;
  /** Where it is kept which sessions the person closed, so that a reloaded window does not open them again. */
  readonly memory: vscode.Memento;
}

interface Shown {
  readonly pty: SessionTerminal;
  readonly terminal: vscode.Terminal;
}

export class SessionTerminals implements vscode.Disposable {
  private readonly shown = new Map<string, Shown>();
  private readonly subscriptions: vscode.Disposable[];
  private readonly closedByPerson: Set<string>;
  private isDisposed = false;

  constructor(
    private readonly store: SessionStore,
    private readonly server: SessionRequests,
    private readonly options: SessionTerminalsOptions,
    private readonly log: Log,
  ) {
    this.closedByPerson = new Set(options.memory.get<string[]>(CLOSED_KEY, []));
    this.subscriptions = [
      store.onDidChangeSession(({ row, before }) => this.onChanged(row, before)),
      store.onDidRemoveSession((row) => this.shown.get(row.sessionId)?.pty.endSoon('ended')),
    ];
  }

  /** A server was connected to, and the store has its sessions. */
  online(): void {
    for (const [sessionId, { pty }] of this.shown) {
      const row = this.store.get(sessionId);
      if (row === undefined) {
        pty.end('ended with the server');
      } else {
        pty.goOnline(row);
      }
    }
    this.forgetClosed();
    for (const row of this.store.all()) {
      this.showUnasked(row);
    }
  }

  offline(): void {
    for (const { pty } of this.shown.values()) {
      pty.goOffline();
    }
  }

  /** A notice to a window that watches, or `focus`. */
  onNotice(message: Message): void {
    const sessionId = textOf(message.data, 'sessionId') ?? '';
    if (message.type === 'focus') {
      this.onFocus(sessionId);
      return;
    }
    // Those that were under way when the person closed the terminal are of no more use.
    this.shown.get(sessionId)?.pty.onNotice(message.type, message.data);
    if (message.type === 'ended') {
      this.closeOldest();
    }
  }

  /** Shows a session because the person asked for it. */
  show(row: SessionRow, options: { readonly preserveFocus: boolean }): void {
    this.closedByPerson.delete(row.sessionId);
    this.remember();
    this.terminalOf(row).terminal.show(options.preserveFocus);
  }

  async takeOver(row: SessionRow): Promise<void> {
    this.show(row, { preserveFocus: false });
    await this.shown.get(row.sessionId)?.pty.takeOver();
  }

  /** The session whose terminal is in front. */
  active(): SessionRow | undefined {
    const { activeTerminal } = vscode.window;
    const found = [...this.shown.values()].find(({ terminal }) => terminal === activeTerminal);
    return found && this.store.get(found.pty.sessionId);
  }

  /** Whether it shows a session, and is none of the editor's own. */
  isSession(terminal: vscode.Terminal): boolean {
    return [...this.shown.values()].some((shown) => shown.terminal === terminal);
  }

  dispose(): void {
    this.isDisposed = true;
    vscode.Disposable.from(...this.subscriptions).dispose();
    for (const { pty, terminal } of this.shown.values()) {
      // The end of the connection ends the notices too.
      pty.goOffline();
      terminal.dispose();
      pty.dispose();
    }
    this.shown.clear();
  }

  private onChanged(row: SessionRow, before: SessionRow | undefined): void {
    const shown = this.shown.get(row.sessionId);
    if (shown !== undefined) {
      shown.pty.update(row);
      if (row.state === 'exited') {
        this.closeOldest();
      }
      return;
    }
    if (before?.isHere !== true) {
      this.showUnasked(row, { isNew: true });
    }
  }

  private onFocus(sessionId: string): void {
    const row = this.store.get(sessionId);
    if (row !== undefined) {
      this.showUnasked(row, { isNew: true });
    }
  }

  private showUnasked(row: SessionRow, how: { readonly isNew: boolean } = { isNew: false }): void {
    const mode = this.options.showTerminals();
    const isUnwanted = mode === 'never' || this.closedByPerson.has(row.sessionId);
    const isKnown = this.shown.has(row.sessionId);
    if (!row.isHere || row.state === 'exited' || isUnwanted || (!isKnown && this.shown.size >= MAX_UNASKED)) {
      return;
    }
    const mayComeToFront = how.isNew && mode === 'always' && !this.isPersonsTerminalInFront();
    const { terminal } = this.terminalOf(row);
    if (mayComeToFront) {
      terminal.show(true);
    }
  }

  private isPersonsTerminalInFront(): boolean {
    const { activeTerminal } = vscode.window;
    return activeTerminal !== undefined && (!this.isSession(activeTerminal) || this.active()?.isDriver === true);
  }

  private terminalOf(row: SessionRow): Shown {
    const known = this.shown.get(row.sessionId);
    if (known !== undefined) {
      return known;
    }
    const pty = new SessionTerminal(row, this.server, this.log);
    const terminal = vscode.window.createTerminal({
      name: pty.currentName,
      pty,
      iconPath: new vscode.ThemeIcon('hubot'),
      // The server keeps it: what the editor would revive after a reload is a second, dead terminal.
      isTransient: true,
    });
    pty.onDidCloseView(() => this.onClosed(row.sessionId));
    const shown = { pty, terminal };
    this.shown.set(row.sessionId, shown);
    this.log.info(`session ${row.sessionId} has a terminal`);
    return shown;
  }

  private onClosed(sessionId: string): void {
    const shown = this.shown.get(sessionId);
    if (shown === undefined || this.isDisposed) {
      return;
    }
    this.shown.delete(sessionId);
    shown.pty.dispose();
    if (!shown.pty.hasEnded) {
      this.closedByPerson.add(sessionId);
      this.remember();
    }
  }

  private closeOldest(): void {
    const ended = [...this.shown.values()].filter(({ pty }) => pty.hasEnded);
    for (const { terminal } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) {
      terminal.dispose();
    }
  }

  private forgetClosed(): void {
    for (const sessionId of this.closedByPerson) {
      if (this.store.get(sessionId) === undefined) {
        this.closedByPerson.delete(sessionId);
      }
    }
    this.remember();
  }

  private remember(): void {
    void this.options.memory.update(CLOSED_KEY, [...this.closedByPerson]);
  }
}
