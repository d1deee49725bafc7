// Which sessions have a terminal in this window, and when it is brought to the front.
//
// A session of one of this window's folders gets one when it appears, unless the person closed it before or turned that
// off; any other gets one when the person asks for it. A terminal that the person may be using is never pushed aside
// (`PanelFront`): a session only comes to the front where none is, or one of an agent's that the person does not drive.

import * as vscode from 'vscode';
import type { Log } from '../log.js';
import type { Message } from '../protocol/message.js';
import { textOf } from '../protocol/message.js';
import type { SessionRow } from '../protocol/sessionRow.js';
import type { PanelFront, TerminalUser } from '../terminals/panelFront.js';
import type { ClosedTabs } from './closedTabs.js';
import type { SessionStore } from './sessionStore.js';
import { SessionTerminal, type SessionRequests } from './sessionTerminal.js';

/** Terminals that are opened unasked. */
const MAX_UNASKED = 32;
/** Terminals of ended sessions that stay; of more, those that ended first are closed. */
const MAX_ENDED = 8;
const CLOSED_KEY = 'closedSessions';
const NAMES_KEY = 'terminalNames';
const DRIVEN_KEY = 'drivenSessions';
/** How long a terminal may take to say whether it has a process. */
const PROCESS_MS = 5_000;
/** How long new terminals may take to open before old ones are closed: without any the editor would hide the panel. */
const OPENING_MS = 1_000;

export type ShowTerminals = 'always' | 'background' | 'never';

export interface SessionTerminalsOptions {
  showTerminals(): ShowTerminals;
  /** Where it is kept which sessions the person closed and drives: a reloaded window does not open those, and drives these. */
  readonly memory: vscode.Memento;
  readonly front: Pick<PanelFront, 'bring'>;
  readonly closedTabs: Pick<ClosedTabs, 'add'>;
}

interface Shown {
  readonly pty: SessionTerminal;
  readonly terminal: vscode.Terminal;
}

export class SessionTerminals implements vscode.Disposable {
  private readonly shown = new Map<string, Shown>();
  /** Those whose session is over, in the order of their ends. */
  private readonly ended = new Set<vscode.Terminal>();
  private readonly subscriptions: vscode.Disposable[];
  private readonly closedByPerson: Set<string>;
  private readonly clipping = new vscode.EventEmitter<void>();
  /** Only a part of a session is shown from now on, or all of it. */
  readonly onDidChangeClipping = this.clipping.event;
  private leftovers: readonly vscode.Terminal[];
  /** The sessions that the person drove before this window was reloaded; none once a server was connected to. */
  private drivenBefore: readonly string[];
  private leftoversTimer: NodeJS.Timeout | undefined;
  private isDisposed = false;

  constructor(
    private readonly store: SessionStore,
    private readonly server: SessionRequests,
    private readonly options: SessionTerminalsOptions,
    private readonly log: Log,
  ) {
    this.closedByPerson = new Set(options.memory.get<string[]>(CLOSED_KEY, []));
    this.drivenBefore = options.memory.get<string[]>(DRIVEN_KEY, []);
    this.leftovers = leftovers(new Set(options.memory.get<string[]>(NAMES_KEY, [])));
    this.subscriptions = [
      store.onDidChangeSession(({ row, before }) => this.onChanged(row, before)),
      vscode.window.onDidCloseTerminal((terminal) => this.onClosed(terminal)),
      vscode.window.onDidChangeActiveTerminal((terminal) => void this.find(terminal)?.pty.shown()),
      store.onDidRemoveSession((row) => this.shown.get(row.sessionId)?.pty.endSoon({ text: 'ended', outcome: 'stopped' })),
    ];
  }

  /** A server was connected to, and the store has its sessions. */
  online(): void {
    for (const [sessionId, { pty }] of this.shown) {
      const row = this.store.get(sessionId);
      if (row === undefined) {
        pty.end({ text: 'ended with the server', outcome: 'stopped' });
      } else {
        pty.goOnline(row);
      }
    }
    this.forgetClosed();
    this.showDrivenBefore();
    this.showAll();
    if (this.leftovers.length > 0) {
      this.leftoversTimer ??= setTimeout(() => void this.closeLeftovers(), OPENING_MS);
    }
  }

  /** Shows what is to be shown unasked. */
  showAll(): void {
    for (const row of this.store.all()) {
      this.showUnasked(row);
    }
  }

  /** Whether the person drives a session, and its terminal is in front. */
  isInHand(row: SessionRow): boolean {
    const front = this.front();
    return front?.pty.sessionId === row.sessionId && front.pty.isDriven;
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
  }

  /** Shows a session because the person asked for it. */
  show(row: SessionRow, options: { readonly preserveFocus: boolean }): void {
    this.closedByPerson.delete(row.sessionId);
    this.remember();
    this.terminalOf(row).terminal.show(options.preserveFocus);
  }

  /** Gives a session the size of its panel. */
  async fitToPanel(row: SessionRow): Promise<void> {
    this.show(row, { preserveFocus: false });
    await this.shown.get(row.sessionId)?.pty.fitToPanel();
  }

  /** Closes the tabs of sessions that have ended. */
  closeEnded(): void {
    [...this.ended].forEach((terminal) => terminal.dispose());
  }

  async takeOver(row: SessionRow): Promise<void> {
    this.show(row, { preserveFocus: false });
    await this.shown.get(row.sessionId)?.pty.takeOver();
  }

  /** The session whose terminal is in front. */
  active(): SessionRow | undefined {
    const { activeTerminal } = vscode.window;
    return activeTerminal && this.rowOf(activeTerminal);
  }

  /** The session that a terminal shows. */
  rowOf(terminal: vscode.Terminal): SessionRow | undefined {
    const found = this.find(terminal);
    return found && this.store.get(found.pty.sessionId);
  }

  /** What the person can do with the session in front, for the buttons of its terminal. */
  buttons(): { readonly canHandBack: boolean; readonly canFit: boolean; readonly isFitted: boolean } {
    const pty = this.front()?.pty;
    return { canHandBack: pty?.isDriven === true, canFit: pty?.canFit === true, isFitted: pty?.isFitted === true };
  }

  /** The size of the session in front, where only a part of it is shown. */
  clippedSize(): vscode.TerminalDimensions | undefined {
    return this.front()?.pty.clippedSize;
  }

  /** Whether what is shown of the session in front is a part that can be moved. */
  canScroll(): boolean {
    return this.front()?.pty.canScroll === true;
  }

  /** Moves that part by so many panels. */
  scroll(down: number, right: number): void {
    if (!this.canScroll()) {
      throw new Error('no full-screen program that is larger than its panel is in front');
    }
    this.front()?.pty.scroll(down, right);
  }

  /** Whether it shows a session, and is none of the editor's own. */
  isSession(terminal: vscode.Terminal): boolean {
    return this.find(terminal) !== undefined;
  }

  /** Who uses a terminal that shows a session. */
  userOf(terminal: vscode.Terminal): TerminalUser {
    const found = this.find(terminal);
    if (found === undefined) {
      return undefined;
    }
    return found.pty.isDriven ? 'person' : 'agent';
  }

  /** The sessions that the person of this window drives, or drove when the connection was lost. */
  driving(): string[] {
    const driven = [...this.shown.values()].filter(({ pty }) => pty.isDriven).map(({ pty }) => pty.sessionId);
    return [...new Set([...this.drivenBefore, ...driven])];
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.leftoversTimer);
    vscode.Disposable.from(...this.subscriptions, this.clipping).dispose();
    for (const { pty, terminal } of this.shown.values()) {
      // The end of the connection ends the notices too.
      pty.goOffline();
      terminal.dispose();
      pty.dispose();
    }
    this.shown.clear();
  }

  private find(terminal: vscode.Terminal | undefined): Shown | undefined {
    return [...this.shown.values()].find((shown) => shown.terminal === terminal);
  }

  private front(): Shown | undefined {
    return this.find(vscode.window.activeTerminal);
  }

  private onChanged(row: SessionRow, before: SessionRow | undefined): void {
    const shown = this.shown.get(row.sessionId);
    if (shown !== undefined) {
      const wasDriven = shown.pty.isDriven;
      shown.pty.update(row);
      if (shown.pty.isDriven !== wasDriven) {
        void this.options.memory.update(DRIVEN_KEY, this.driving());
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
    // For a new terminal in an untrusted window the editor asks whether to trust it, in front of whatever the person does.
    if (!isKnown && !vscode.workspace.isTrusted) {
      return;
    }
    const { terminal } = this.terminalOf(row);
    if (how.isNew && mode === 'always') {
      this.options.front.bring(terminal);
    }
  }

  private terminalOf(row: SessionRow): Shown {
    const known = this.shown.get(row.sessionId);
    if (known !== undefined) {
      return known;
    }
    const pty = new SessionTerminal(row, this.server, this.log, () => this.shown.get(row.sessionId)?.terminal.name);
    const terminal = vscode.window.createTerminal({
      name: pty.currentName,
      pty,
      iconPath: new vscode.ThemeIcon('hubot'),
      // The server keeps it: what the editor would revive after a reload is a second, dead terminal.
      isTransient: true,
    });
    pty.onDidChangeClipping(() => this.clipping.fire());
    pty.onDidEnd(() => {
      this.clipping.fire();
      this.ended.add(terminal);
      this.closeFirstEnded();
    });
    const shown = { pty, terminal };
    this.shown.set(row.sessionId, shown);
    this.rememberNames();
    this.log.info(`session ${row.sessionId} has a terminal`);
    return shown;
  }

  private onClosed(terminal: vscode.Terminal): void {
    const shown = this.find(terminal);
    const reason = terminal.exitStatus?.reason;
    // The tabs of a window that is closed or reloaded are not closed by the person.
    if (shown === undefined || this.isDisposed || reason === vscode.TerminalExitReason.Shutdown) {
      return;
    }
    const { sessionId, hasEnded } = shown.pty;
    this.shown.delete(sessionId);
    this.ended.delete(terminal);
    this.rememberNames();
    shown.pty.dispose();
    if (hasEnded) {
      return;
    }
    this.closedByPerson.add(sessionId);
    this.remember();
    const row = this.store.get(sessionId);
    if (row !== undefined && reason === vscode.TerminalExitReason.User) {
      this.options.closedTabs.add(row);
    }
  }

  /** Shows the sessions that the person still drives after a reload, those of other folders too. */
  private showDrivenBefore(): void {
    for (const sessionId of this.drivenBefore) {
      const row = this.store.get(sessionId);
      if (row?.isDriver === true) {
        this.options.front.bring(this.terminalOf(row).terminal);
      }
    }
    this.drivenBefore = [];
    void this.options.memory.update(DRIVEN_KEY, this.driving());
  }

  /** Once, and after the sessions have got terminals anew. */
  private async closeLeftovers(): Promise<void> {
    const terminals = this.leftovers;
    this.leftovers = [];
    for (const terminal of terminals) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<number>((resolve) => (timer = setTimeout(() => resolve(1), PROCESS_MS)));
      const pid = await Promise.race([terminal.processId, late]);
      clearTimeout(timer);
      // The editor's number for no process is -1.
      if (!this.isDisposed && (pid === undefined || pid < 0)) {
        this.log.info('closed a terminal of an extension host that was killed');
        terminal.dispose();
      }
    }
  }

  private closeFirstEnded(): void {
    // What is in front may be what the person reads.
    const closable = [...this.ended].filter((terminal) => terminal !== vscode.window.activeTerminal);
    for (const terminal of closable.slice(0, Math.max(0, this.ended.size - MAX_ENDED))) {
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

  private rememberNames(): void {
    const names = [...this.shown.values()].map(({ terminal }) => terminal.creationOptions.name ?? '');
    void this.options.memory.update(NAMES_KEY, names);
  }

  private remember(): void {
    void this.options.memory.update(CLOSED_KEY, [...this.closedByPerson]);
  }
}

/**
 * What may be terminals of an extension host that was killed: the editor keeps them, and nothing is behind them. They have the
 * first name that they were given here, and no shell.
 */
function leftovers(names: ReadonlySet<string>): vscode.Terminal[] {
  return vscode.window.terminals.filter(({ creationOptions: options }) => {
    const isOurs = options.name !== undefined && names.has(options.name);
    return isOurs && !('pty' in options) && options.shellPath === undefined;
  });
}
