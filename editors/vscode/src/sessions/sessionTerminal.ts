// A session of the server as a terminal of the editor.
//
//     open ──watch──► dump ──► output … ──► ended
//              ▲       ▲  │
//              │       └──┴── frame …       while an agent drives a session that is larger than the panel
//              └── again after the panel was resized, after a flood, and with a new server
//
// One side decides on the size. While an agent drives, the session keeps its own and the view takes it over, where the panel
// is large enough; where it is not, the server sends frames that fit. While the person of this window drives, the session
// follows the panel. Typing takes over. Closing the view stops nothing but the notices.

import * as vscode from 'vscode';
import { type Log, reasonOf } from '../log.js';
import { plainText } from '../plainText.js';
import { type Fields, numberOf, textOf } from '../protocol/message.js';
import { type SessionRow, sizeOf } from '../protocol/sessionRow.js';
import { typedInput } from './typedInput.js';

/** Typed characters that may wait for the server; more are dropped, with a beep. */
const MAX_UNSENT_INPUT = 4 * 1024 * 1024;
/** Largest part of them in one message. */
const MAX_INPUT = 256 * 1024;
/** The size of a panel that was never shown. */
const UNSEEN_PANEL: vscode.TerminalDimensions = { columns: 80, rows: 30 };

/**
 * The editor draws all that it is given, however far behind it is. Output beyond `MAX_BURST` in `BURST_MS` is therefore
 * skipped, and after `CATCH_UP_MS` the server is asked for the screen as it is then.
 */
const MAX_BURST = 1024 * 1024;
const BURST_MS = 250;
const CATCH_UP_MS = 500;
/** How long the panel keeps its size before the screen is asked for anew: a person who drags its edge changes it often. */
const RESIZED_MS = 100;
/** How long the last output of a session may take to come after its end was reported. */
const ENDED_MS = 1_000;

/** RIS: nothing of what was shown before is left, scrollback and modes included. */
const RESET = '\x1bc';
/** Where a frame erases the screen, the editor moves the frame before it to the scrollback. */
const FORGET_SCROLLBACK = '\x1b[3J';
const BELL = '\x07';

/** The part of the connection that a session's terminal uses. */
export interface SessionRequests {
  request(type: string, data: object): Promise<Fields>;
}

type View = 'nothing' | 'whole' | 'clipped';

export class SessionTerminal implements vscode.Pseudoterminal {
  private readonly writing = new vscode.EventEmitter<string>();
  private readonly sizing = new vscode.EventEmitter<vscode.TerminalDimensions | undefined>();
  private readonly naming = new vscode.EventEmitter<string>();
  private readonly closing = new vscode.EventEmitter<void>();
  private readonly closed = new vscode.EventEmitter<void>();
  readonly onDidWrite = this.writing.event;
  readonly onDidOverrideDimensions = this.sizing.event;
  readonly onDidChangeName = this.naming.event;
  readonly onDidClose = this.closing.event;
  /** The person closed the view, or the editor did. */
  readonly onDidCloseView = this.closed.event;

  private panel = UNSEEN_PANEL;
  /** The size that what is shown was made for. */
  private size = UNSEEN_PANEL;
  private override: vscode.TerminalDimensions | undefined;
  private view: View = 'nothing';
  private isOpen = false;
  private isOnline = true;
  private ending: string | undefined;
  private name: string;
  private input = '';
  private isSending = false;
  private burst = { since: 0, length: 0 };
  private watchTimer: NodeJS.Timeout | undefined;
  private endTimer: NodeJS.Timeout | undefined;

  constructor(
    private row: SessionRow,
    private readonly server: SessionRequests,
    private readonly log: Log,
  ) {
    this.name = nameOf(row, '');
  }

  get sessionId(): string {
    return this.row.sessionId;
  }

  /** What the terminal's tab says. */
  get currentName(): string {
    return this.name;
  }

  get hasEnded(): boolean {
    return this.ending !== undefined;
  }

  open(panel: vscode.TerminalDimensions | undefined): void {
    this.isOpen = true;
    this.panel = panel ?? this.panel;
    this.rename();
    this.watch();
  }

  close(): void {
    if (this.isOpen && this.isOnline && !this.hasEnded) {
      this.send('unwatch', {});
    }
    this.isOpen = false;
    this.clearTimers();
    this.closed.fire();
  }

  setDimensions(panel: vscode.TerminalDimensions): void {
    if (panel.columns === this.panel.columns && panel.rows === this.panel.rows) {
      return;
    }
    this.panel = panel;
    this.resizeView();
    if (!this.isOnline || this.hasEnded) {
      return;
    }
    if (this.row.isDriver) {
      this.send('resize', this.panelSize());
    } else {
      // On the way to this size the editor may have had a smaller one for a moment, which cuts what is shown.
      this.watchAfter(RESIZED_MS);
    }
  }

  handleInput(data: string): void {
    if (this.hasEnded) {
      // As in the editor's own terminals: a key closes what has ended.
      this.closing.fire();
      return;
    }
    const typed = typedInput(data, { isDriver: this.row.isDriver });
    if (typed === '') {
      return;
    }
    if (!this.isOnline || this.input.length + typed.length > MAX_UNSENT_INPUT) {
      this.writing.fire(BELL);
      return;
    }
    this.input += typed;
    void this.sendInput();
  }

  /** The server reported the session anew. */
  update(row: SessionRow): void {
    this.row = row;
    this.resizeView();
    this.rename();
    if (row.state === 'exited') {
      this.endSoon(endingOf(row.exitCode, row.signal));
    }
  }

  /** The session is over, but what it printed last may still be under way: `ended` follows that. */
  endSoon(how: string): void {
    if (!this.isOpen || this.view === 'nothing') {
      this.end(how);
    } else if (!this.hasEnded) {
      this.endTimer ??= setTimeout(() => this.end(how), ENDED_MS);
    }
  }

  /** A notice about this session. */
  onNotice(type: string, data: Fields): void {
    const text = textOf(data, 'data') ?? '';
    switch (type) {
      case 'dump':
        this.onDump(sizeOf(data, 'cols', this.row.cols), sizeOf(data, 'rows', this.row.rows), text);
        break;
      case 'output':
        this.onOutput(text);
        break;
      case 'frame':
        this.onFrame(text);
        break;
      case 'ended':
        this.end(endingOf(numberOf(data, 'exitCode'), textOf(data, 'signal')));
        break;
      default:
        this.log.warn(`dropped the notice ${type} of session ${this.sessionId}`);
    }
  }

  /** The connection was lost: what is shown stays, and nothing can be typed. */
  goOffline(): void {
    this.isOnline = false;
    this.input = '';
    this.rename();
  }

  /** A server has this session again. */
  goOnline(row: SessionRow): void {
    this.row = row;
    this.isOnline = true;
    this.rename();
    this.watch();
  }

  /** The session is over; the view stays until a key is pressed. */
  end(how: string): void {
    if (this.hasEnded) {
      return;
    }
    this.clearTimers();
    this.ending = how;
    // Out of the alternate screen, whose program can no longer leave it; a grey line; no cursor.
    this.writing.fire(`\x1b[?1049l\x1b[0m\r\n\x1b[2m[${how}; press any key to close]\x1b[0m\x1b[?25l`);
    this.rename();
  }

  async takeOver(): Promise<void> {
    await this.server.request('take_over', { sessionId: this.sessionId, ...this.panelSize() });
  }

  dispose(): void {
    this.clearTimers();
    for (const emitter of [this.writing, this.sizing, this.naming, this.closing, this.closed]) {
      emitter.dispose();
    }
  }

  private onDump(cols: number, rows: number, text: string): void {
    this.view = 'whole';
    this.size = { columns: cols, rows };
    this.resizeView();
    this.writing.fire(RESET + text);
  }

  private onOutput(text: string): void {
    if (this.view !== 'whole') {
      return;
    }
    const now = Date.now();
    if (now - this.burst.since > BURST_MS) {
      this.burst = { since: now, length: 0 };
    }
    this.burst.length += text.length;
    if (this.burst.length > MAX_BURST) {
      this.view = 'nothing';
      this.watchAfter(CATCH_UP_MS);
      return;
    }
    this.writing.fire(text);
  }

  private onFrame(text: string): void {
    if (this.view === 'clipped') {
      this.writing.fire(text + FORGET_SCROLLBACK);
      return;
    }
    this.view = 'clipped';
    this.resizeView();
    this.writing.fire(RESET + text + FORGET_SCROLLBACK);
  }

  private resizeView(): void {
    const { size, panel } = this;
    const fits = size.columns <= panel.columns && size.rows <= panel.rows;
    const isPanel = size.columns === panel.columns && size.rows === panel.rows;
    const keepsOwnSize = this.view === 'whole' && !this.row.isDriver && fits && !isPanel;
    const wanted = keepsOwnSize ? size : undefined;
    if (wanted?.columns !== this.override?.columns || wanted?.rows !== this.override?.rows) {
      this.override = wanted;
      this.sizing.fire(wanted);
    }
  }

  private watch(): void {
    clearTimeout(this.watchTimer);
    if (this.hasEnded || !this.isOnline || !this.isOpen) {
      return;
    }
    this.view = 'nothing';
    this.server.request('watch', { sessionId: this.sessionId, ...this.panelSize() }).catch((error: unknown) => {
      this.log.warn(`watch of session ${this.sessionId}: ${reasonOf(error)}`);
      // A lost connection is shown by the name, and is followed by another `watch`.
      if (this.isOnline && this.isOpen) {
        void this.showTranscript(reasonOf(error));
      }
    });
  }

  /** A session that is over may not be watched any more; what it printed can still be read. */
  private async showTranscript(reason: string): Promise<void> {
    let text = '';
    try {
      const reply = await this.server.request('transcript', { sessionId: this.sessionId });
      text = textOf(reply, 'text') ?? '';
    } catch (error) {
      this.log.warn(`transcript of session ${this.sessionId}: ${reasonOf(error)}`);
    }
    this.writing.fire(RESET + text.trimEnd().replace(/\r?\n/g, '\r\n'));
    const { state, exitCode, signal } = this.row;
    this.end(state === 'exited' ? endingOf(exitCode, signal) : `not shown: ${plainText(reason, 200)}`);
  }

  private clearTimers(): void {
    clearTimeout(this.watchTimer);
    clearTimeout(this.endTimer);
    this.endTimer = undefined;
  }

  private watchAfter(milliseconds: number): void {
    clearTimeout(this.watchTimer);
    this.watchTimer = setTimeout(() => this.watch(), milliseconds);
  }

  private panelSize(): { cols: number; rows: number } {
    return { cols: this.panel.columns, rows: this.panel.rows };
  }

  /** What is typed while a message is under way goes with the next one: the order stays, and few are open. */
  private async sendInput(): Promise<void> {
    if (this.isSending) {
      return;
    }
    this.isSending = true;
    try {
      while (this.input !== '') {
        const data = this.input.slice(0, MAX_INPUT);
        this.input = this.input.slice(MAX_INPUT);
        await this.server.request('input', { sessionId: this.sessionId, data });
      }
    } catch (error) {
      this.input = '';
      this.writing.fire(BELL);
      this.log.warn(`input to session ${this.sessionId}: ${reasonOf(error)}`);
    } finally {
      this.isSending = false;
    }
  }

  private send(type: string, data: object): void {
    this.server.request(type, { sessionId: this.sessionId, ...data }).catch((error: unknown) => {
      this.log.warn(`${type} of session ${this.sessionId}: ${reasonOf(error)}`);
    });
  }

  private rename(): void {
    const note = this.hasEnded ? 'ended' : this.isOnline ? driverNote(this.row) : 'offline';
    const name = nameOf(this.row, note);
    if (name !== this.name) {
      this.name = name;
      this.naming.fire(name);
    }
  }
}

/** How a session ended, in words. */
export function endingOf(exitCode: number | undefined, signal: string | undefined): string {
  if (signal !== undefined && signal !== '') {
    return `ended by ${plainText(signal, 20)}`;
  }
  return exitCode === undefined ? 'ended' : `ended with exit code ${exitCode}`;
}

function nameOf(row: SessionRow, note: string): string {
  const title = plainText(row.title, 40) || 'session';
  // The note first: the list of terminals is narrow, and cuts the end.
  return note === '' ? title : `${note} · ${title}`;
}

function driverNote(row: SessionRow): string {
  if (row.isDriver) {
    return 'you';
  }
  return row.driver === 'person' ? 'another person' : '';
}
