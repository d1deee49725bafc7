// A session of the server as a terminal of the editor.
//
//     open ──watch──► dump ──► output … ──► ended
//              ▲       ▲  │
//              │       └──┴── frame …       while an agent drives a session that is larger than the panel
//              └── again after the panel was resized, after a flood, and with a new server
//
// One side decides on the size. While an agent drives, the session keeps its own and the view takes it over, where the panel
// is large enough; where it is not, the server sends frames that fit (clippedView.ts). While the person of this window drives, the
// session follows the panel, as it does where the person fitted it. Typing takes over. Closing the view stops nothing but the
// notices (closedTabs.ts asks what becomes of the session).

import * as vscode from 'vscode';
import { type Log, reasonOf } from '../log.js';
import { type Fields, textOf } from '../protocol/message.js';
import { type SessionRow, sizeOf } from '../protocol/sessionRow.js';
import { ClippedView, wheelDistance } from './clippedView.js';
import { OutputBurst } from './outputBurst.js';
import { PanelSize, WHOLE_PANEL, isSameSize, sizeAnswer } from './panelSize.js';
import { SessionInput } from './sessionInput.js';
import { type Ending, RESET, TabName, endLine, endingOf, inLines, notShown, placeOfEnd, reportedEnding } from './sessionTexts.js';
import { typedInput } from './typedInput.js';
import { WheelGuard } from './wheelGuard.js';

/** How long the panel's size may take to be known after it was shown, and how long the first key waits for that. */
const SHOWN_MS = 1_000;
const TYPED_MS = 300;

/** When the server is asked for the screen as it is then, after a burst of output was skipped. */
const CATCH_UP_MS = 500;
/** How long the panel keeps its size before the screen is asked for anew: a person who drags its edge changes it often. */
const RESIZED_MS = 100;
/** How long the last output of a session may take to come after its end was reported. */
const ENDED_MS = 1_000;
/**
 * How long nothing was typed before Enter closes what has ended. Whoever types when a session ends goes on for a moment: were
 * the view closed by that, the rest would go to the terminal that comes to the front instead.
 */
const QUIET_MS = 1_000;
/** How long the editor may take to open a terminal, after which it takes the first name once more. */
const FIRST_NAME_MS = 1_000;
const ENTER = '\r';

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
  private readonly ended = new vscode.EventEmitter<void>();
  readonly onDidWrite = this.writing.event;
  readonly onDidOverrideDimensions = this.sizing.event;
  readonly onDidChangeName = this.naming.event;
  readonly onDidClose = this.closing.event;
  /** The session is over, and its view says so. */
  readonly onDidEnd = this.ended.event;

  private readonly panel = new PanelSize();
  /** The panel's size that the server knows. */
  private reportedPanel = this.panel.current;
  /** How many want to know the panel's size: the view has that meanwhile, so that it can be asked. */
  private learning = 0;
  /** The size that what is shown was made for. */
  private size = this.panel.current;
  private override = WHOLE_PANEL;
  private view: View = 'nothing';
  /** As `view`, but kept until it is known what is shown next. */
  private readonly clipped: ClippedView;
  private readonly wheel = new WheelGuard();
  private isOpen = false;
  private isOnline = true;
  private ending: Ending | undefined;
  private readonly name: TabName;
  private readonly input: SessionInput;
  /** When something was typed last, or the session ended after that, in milliseconds since 1970. */
  private lastKey = 0;
  private readonly burst = new OutputBurst();
  private watchTimer: NodeJS.Timeout | undefined;
  private endTimer: NodeJS.Timeout | undefined;
  private nameTimer: NodeJS.Timeout | undefined;

  constructor(
    private row: SessionRow,
    private readonly server: SessionRequests,
    private readonly log: Log,
    /** The name that the editor shows. */
    shownName: () => string | undefined = () => undefined,
  ) {
    this.name = new TabName(row, shownName);
    this.clipped = new ClippedView((distance) => server.request('scroll', { sessionId: row.sessionId, ...distance }), log);
    const { sessionId } = row;
    const target = {
      sessionId,
      isOnline: () => this.isOnline,
      hasEnded: () => this.hasEnded,
      prepare: () => this.beforeInput(),
      send: (data: string) => server.request('input', { sessionId, data }),
      write: (text: string) => this.writing.fire(text),
    };
    this.input = new SessionInput(target, log);
    this.wheel.setDriver(row.isDriver);
  }

  get sessionId(): string {
    return this.row.sessionId;
  }

  /** What the terminal's tab says. */
  get currentName(): string {
    return this.name.current;
  }

  /** The person of this window drives it, or drove when the connection was lost. */
  get isDriven(): boolean {
    return this.row.isDriver && !this.hasEnded;
  }

  get hasEnded(): boolean {
    return this.ending !== undefined;
  }

  /** The session's size, where only a part of it is shown. */
  get clippedSize(): vscode.TerminalDimensions | undefined {
    return this.clipped.isClipped && !this.hasEnded ? { columns: this.row.cols, rows: this.row.rows } : undefined;
  }

  /** The session can be given the panel's size, which is smaller. */
  get canFit(): boolean {
    return this.clippedSize !== undefined && this.isOnline && this.row.driver === 'agent';
  }

  /** The session has the panel's size, though its agent drives. */
  get isFitted(): boolean {
    return this.row.isFitted && !this.hasEnded;
  }

  /** Whether the part that is shown can be moved. */
  get canScroll(): boolean {
    return this.clipped.canScroll && !this.hasEnded && this.isOnline && !this.row.isDriver;
  }

  /** Only a part of the session is shown from now on, or all of it. */
  get onDidChangeClipping(): vscode.Event<void> {
    return this.clipped.onDidChange;
  }

  open(panel: vscode.TerminalDimensions | undefined): void {
    this.isOpen = true;
    this.panel.set(panel ?? this.panel.current);
    if (this.ending === undefined) {
      this.watch();
    } else {
      void this.showEnded(this.ending);
    }
    // One that was driven before a reload has the size of the panel that was.
    if (this.isDriven && this.panel.isKnown) {
      this.send('resize', this.panelSize());
    }
    // Until this has returned the editor takes no other name than the first, and a moment later it takes the first once more.
    queueMicrotask(() => this.naming.fire(this.name.current));
    this.nameTimer = setTimeout(() => this.naming.fire(this.name.again), FIRST_NAME_MS);
  }

  close(): void {
    if (this.isOpen && this.isOnline && !this.hasEnded) {
      this.send('unwatch', {});
    }
    this.isOpen = false;
    clearTimeout(this.nameTimer);
    this.clearTimers();
  }

  setDimensions(panel: vscode.TerminalDimensions): void {
    if (isSameSize(panel, this.panel.current)) {
      return;
    }
    this.panel.set(panel);
    this.resizeView();
    const isLive = this.isOnline && !this.hasEnded;
    if (isLive && (this.row.isDriver || this.row.isFitted)) {
      this.send('resize', this.panelSize());
    } else if (isLive) {
      // On the way to this size the editor may have had a smaller one for a moment, which cuts what is shown.
      this.watchAfter(RESIZED_MS);
    }
  }

  handleInput(data: string): void {
    const answer = this.learning > 0 ? sizeAnswer(data) : undefined;
    if (answer !== undefined) {
      this.setDimensions(answer);
    }
    if (this.canScroll) {
      this.clipped.scroll(wheelDistance(data));
    }
    const typed = typedInput(data, { isDriver: this.row.isDriver && !this.hasEnded });
    if (typed === '') {
      return;
    }
    const now = Date.now();
    const isQuiet = now - this.lastKey >= QUIET_MS;
    this.lastKey = now;
    if (this.hasEnded) {
      if (typed === ENTER && isQuiet) {
        this.closing.fire();
      }
      return;
    }
    this.input.add(typed);
  }

  /** The server reported the session anew. */
  update(row: SessionRow): void {
    const hasTakenOver = row.isDriver && !this.row.isDriver;
    this.row = row;
    this.followDriver();
    this.resizeView();
    this.rename();
    // The panel's size may have come while taking over was under way.
    if (hasTakenOver && !isSameSize({ columns: row.cols, rows: row.rows }, this.panel.current)) {
      this.send('resize', this.panelSize());
    }
    if (row.state === 'exited') {
      this.endSoon(endingOf(row));
    }
  }

  /** The session is over, but what it printed last may still be under way: `ended` follows that. */
  endSoon(ending: Ending): void {
    if (!this.isOpen || this.view === 'nothing') {
      this.end(ending);
    } else if (!this.hasEnded) {
      this.endTimer ??= setTimeout(() => this.end(ending), ENDED_MS);
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
        this.onFrame(text, data['canScroll'] === true);
        break;
      case 'ended':
        this.end(reportedEnding(data));
        break;
      default:
        this.log.warn(`dropped the notice ${type} of session ${this.sessionId}`);
    }
  }

  /** The connection was lost: what is shown stays, and nothing can be typed. */
  goOffline(): void {
    this.isOnline = false;
    this.input.goOffline();
    this.rename();
  }

  /** A server has this session again. */
  goOnline(row: SessionRow): void {
    this.row = row;
    this.isOnline = true;
    this.input.goOnline();
    this.followDriver();
    this.rename();
    this.watch();
    if (row.isDriver && row.state !== 'exited') {
      this.send('resize', this.panelSize());
    }
  }

  /** The session is over; the view stays until Enter is pressed, or it is closed. */
  end(ending: Ending): void {
    if (this.hasEnded) {
      return;
    }
    this.clearTimers();
    this.ending = ending;
    this.lastKey = Date.now();
    this.resizeView();
    // What is written before the editor has opened the view is lost.
    if (this.isOpen) {
      void this.writeEnd(ending);
    }
    this.rename();
    this.ended.fire();
  }

  /** The editor shows it from now on. */
  async shown(): Promise<void> {
    await this.learnPanel(SHOWN_MS);
  }

  /** Moves the part that is shown by so many panels, less a row for the eye to go on from; to the side by halves of them. */
  scroll(down: number, right: number): void {
    const { rows, columns } = this.panel.current;
    this.clipped.scroll({ rows: down * Math.max(1, rows - 1), cols: right * Math.max(1, columns >> 1) });
  }

  /** Takes over in the size of the panel, which may have been shown just now. */
  async takeOver(): Promise<void> {
    await this.learnPanel(SHOWN_MS);
    await this.server.request('take_over', { sessionId: this.sessionId, ...this.panelSize() });
  }

  /** Gives the session the panel's size until `restoreSize`, and leaves it to its agent. */
  async fitToPanel(): Promise<void> {
    await this.learnPanel(SHOWN_MS);
    await this.server.request('fit_to_panel', { sessionId: this.sessionId, ...this.panelSize() });
  }

  dispose(): void {
    this.clearTimers();
    this.panel.dispose();
    for (const emitter of [this.writing, this.sizing, this.naming, this.closing, this.ended, this.clipped]) {
      emitter.dispose();
    }
  }

  private onDump(cols: number, rows: number, text: string): void {
    this.view = 'whole';
    this.clipped.set({ isClipped: false, canScroll: false });
    this.size = { columns: cols, rows };
    this.resizeView();
    this.wheel.reset();
    this.writing.fire(RESET + this.wheel.filter(text));
  }

  private onOutput(text: string): void {
    if (this.view !== 'whole') {
      return;
    }
    if (this.burst.isTooMuch(text.length)) {
      this.view = 'nothing';
      this.watchAfter(CATCH_UP_MS);
      return;
    }
    const shown = this.wheel.filter(text);
    if (shown !== '') {
      this.writing.fire(shown);
    }
  }

  private onFrame(text: string, canScroll: boolean): void {
    this.clipped.set({ isClipped: true, canScroll });
    if (this.view === 'clipped') {
      this.writing.fire(text);
      return;
    }
    this.view = 'clipped';
    this.resizeView();
    this.wheel.reset();
    this.writing.fire(RESET + text);
  }

  private resizeView(): void {
    const { size } = this;
    const panel = this.panel.current;
    const fits = size.columns <= panel.columns && size.rows <= panel.rows && !isSameSize(size, panel);
    const keepsOwnSize = this.view === 'whole' && !this.row.isDriver && fits && this.learning === 0;
    // After the end the view grows: what the last lines pushed out of it comes back.
    const own = this.hasEnded ? { columns: size.columns, rows: WHOLE_PANEL.rows } : size;
    const wanted = keepsOwnSize ? own : WHOLE_PANEL;
    if (!isSameSize(wanted, this.override)) {
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
        void this.showNotWatched(reasonOf(error));
      }
    });
  }

  /** A session that is over may not be watched any more; what it printed can still be read. */
  private async showNotWatched(reason: string): Promise<void> {
    await this.showTranscript();
    this.end(this.row.state === 'exited' ? endingOf(this.row) : notShown(reason));
  }

  /** The session was over before the editor opened the view. */
  private async showEnded({ text }: Ending): Promise<void> {
    await this.showTranscript();
    this.writing.fire(`\r\n${endLine(text)}`);
  }

  private async showTranscript(): Promise<void> {
    let text = '';
    try {
      text = await this.transcript();
    } catch (error) {
      this.log.warn(`transcript of session ${this.sessionId}: ${reasonOf(error)}`);
    }
    this.writing.fire(RESET + inLines(text));
  }

  /** Writes that the session is over, without a loss of what its last screen shows. */
  private async writeEnd({ text }: Ending): Promise<void> {
    const { release } = this.clipped;
    if (!this.isOnline || this.view === 'nothing') {
      this.writing.fire(`${release}\r\n${endLine(text)}`);
      return;
    }
    const held = await this.transcript().catch(() => undefined);
    const rows = Math.min(this.view === 'clipped' ? Infinity : this.size.rows, this.panel.current.rows);
    const leave = (this.wheel.showsAlternate || release !== '') && held !== undefined ? this.wheel.filter('\x1b[?1049l') : undefined;
    this.writing.fire(release + placeOfEnd(held, rows, leave) + endLine(text));
  }

  private async transcript(): Promise<string> {
    return textOf(await this.server.request('transcript', { sessionId: this.sessionId }), 'text') ?? '';
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

  private async learnPanel(limitMs: number): Promise<void> {
    if (this.panel.isKnown || this.hasEnded) {
      return;
    }
    this.learning += 1;
    this.resizeView();
    await this.panel.learn(limitMs, (question) => this.writing.fire(question));
    this.learning -= 1;
    this.resizeView();
  }

  /** The panel's size for a request, from which the server knows it. */
  private panelSize(): { cols: number; rows: number } {
    const { columns: cols, rows } = this.panel.current;
    this.reportedPanel = this.panel.current;
    return { cols, rows };
  }

  /** Whoever takes over by typing does it in the panel's size. */
  private beforeInput(): Promise<void> | undefined {
    if (!this.row.isDriver && !this.panel.isKnown) {
      return this.learnPanel(TYPED_MS).then(() => this.reportPanel());
    }
    this.reportPanel();
    return undefined;
  }

  private reportPanel(): void {
    if (this.isOnline && !isSameSize(this.reportedPanel, this.panel.current)) {
      this.send('resize', this.panelSize());
    }
  }

  private send(type: string, data: object): void {
    this.server.request(type, { sessionId: this.sessionId, ...data }).catch((error: unknown) => {
      this.log.warn(`${type} of session ${this.sessionId}: ${reasonOf(error)}`);
    });
  }

  private followDriver(): void {
    const change = this.wheel.setDriver(this.row.isDriver);
    if (change !== '') {
      this.writing.fire(change);
    }
  }

  private rename(): void {
    const name = this.name.change(this.row, { ending: this.ending, isOnline: this.isOnline });
    if (name !== undefined) {
      this.naming.fire(name);
    }
  }
}
