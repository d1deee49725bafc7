// A view that shows only a part of its session, because the panel is smaller.
//
// Where the server says so (`canScroll`: a full-screen program), the part is moved by the wheel, which the view reports as a
// mouse, and by commands. Elsewhere it is scrolled back like any terminal, and the server has no say in that.

import * as vscode from 'vscode';
import { type Log, reasonOf } from '../log.js';

/** Rows and columns that one turn of the wheel moves the part by. */
const WHEEL_ROWS = 3;
const WHEEL_COLS = 6;
/** No screen is larger. */
const MAX_DISTANCE = 100_000;
/** A mouse report (SGR) of a button that was pressed. */
const PRESSED = /\x1b\[<(\d+);\d+;\d+M/g;
/** Its bits: the wheel, the wheel to the side, Shift and Alt, and the rest of what tells the direction. */
const WHEEL = 64;
const SIDEWAYS = 2;
const SHIFT_OR_ALT = 4 | 8;
const FORWARD = 1;
const OTHER_BUTTONS = 128;

/** What ends the mouse reports that the server's frames began. */
const NO_MOUSE = '\x1b[?1006l\x1b[?1000l';

/** To the bottom and to the right. */
export interface Distance {
  readonly rows: number;
  readonly cols: number;
}

/** How far the wheel was turned in what came from the view. With Shift or Alt it goes to the side. */
export function wheelDistance(data: string): Distance {
  let rows = 0;
  let cols = 0;
  for (const [, button] of data.matchAll(PRESSED)) {
    const bits = Number(button);
    if ((bits & WHEEL) === 0 || bits >= OTHER_BUTTONS) {
      continue;
    }
    const sign = (bits & FORWARD) === 0 ? -1 : 1;
    if ((bits & (SIDEWAYS | SHIFT_OR_ALT)) === 0) {
      rows += sign * WHEEL_ROWS;
    } else {
      cols += sign * WHEEL_COLS;
    }
  }
  return { rows, cols };
}

export class ClippedView implements vscode.Disposable {
  private readonly changing = new vscode.EventEmitter<void>();
  /** Only a part of the session is shown from now on, or all of it, or it is moved in another way. */
  readonly onDidChange = this.changing.event;
  private clipped = false;
  private scrollable = false;
  private ahead: Distance = { rows: 0, cols: 0 };
  private isSending = false;
  private hasFailed = false;

  constructor(
    private readonly send: (distance: Distance) => Promise<unknown>,
    private readonly log: Log,
  ) {}

  get isClipped(): boolean {
    return this.clipped;
  }

  get canScroll(): boolean {
    return this.scrollable;
  }

  /** What gives the wheel back to the view, at the end of the session. */
  get release(): string {
    return this.scrollable ? NO_MOUSE : '';
  }

  set({ isClipped, canScroll }: { readonly isClipped: boolean; readonly canScroll: boolean }): void {
    if (isClipped !== this.clipped || canScroll !== this.scrollable) {
      this.clipped = isClipped;
      this.scrollable = canScroll;
      this.changing.fire();
    }
  }

  /** Moves the part. What comes while a request is under way goes with the next one. */
  scroll({ rows, cols }: Distance): void {
    const bounded = (distance: number): number => Math.max(-MAX_DISTANCE, Math.min(MAX_DISTANCE, distance));
    this.ahead = { rows: bounded(this.ahead.rows + rows), cols: bounded(this.ahead.cols + cols) };
    if (!this.isSending) {
      this.isSending = true;
      void this.sendAll();
    }
  }

  dispose(): void {
    this.changing.dispose();
  }

  private async sendAll(): Promise<void> {
    while (this.ahead.rows !== 0 || this.ahead.cols !== 0) {
      const distance = this.ahead;
      this.ahead = { rows: 0, cols: 0 };
      try {
        await this.send(distance);
      } catch (error) {
        // Once: the wheel is turned often.
        if (!this.hasFailed) {
          this.hasFailed = true;
          this.log.warn(`scroll: ${reasonOf(error)}`);
        }
      }
    }
    this.isSending = false;
  }
}
