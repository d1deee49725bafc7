// The size of the panel that shows a session.
//
// A terminal that the editor does not show yet is opened with `UNSEEN_PANEL`. When it is shown, the editor takes the size of
// another terminal for its own before it measures, and reports only what differs from that: mostly nothing. The view itself
// has the right size by then, and is asked for it.

import type { TerminalDimensions } from 'vscode';

/** What the editor reports of a panel that was never shown. */
const UNSEEN_PANEL: TerminalDimensions = { columns: 80, rows: 30 };
/**
 * The editor ignores `undefined`, which is documented to end an override, and never makes a view larger than its panel: this
 * size means that of the panel, whatever it is.
 */
export const WHOLE_PANEL: TerminalDimensions = { columns: 10_000, rows: 10_000 };
/** Time between two questions: a view that was shown just now answers with its old size for a moment. */
const ASK_AGAIN_MS = 50;
/** XTWINOPS 18, and the answer to it. */
const ASK_SIZE = '\x1b[18t';
const SIZE_ANSWER = /\x1b\[8;(\d+);(\d+)t/;

export class PanelSize {
  private size = UNSEEN_PANEL;
  /** Those who wait for another size. */
  private readonly waiting = new Set<() => void>();
  private isDisposed = false;

  get current(): TerminalDimensions {
    return this.size;
  }

  /** The panel was shown, and its size reported. One that really is as large as an unseen one is asked each time. */
  get isKnown(): boolean {
    return !isSameSize(this.size, UNSEEN_PANEL);
  }

  set(size: TerminalDimensions): void {
    this.size = size;
    this.wake();
  }

  /** Asks the view, which has to have the panel's size, until that is known or the time is over. */
  async learn(limitMs: number, write: (question: string) => void): Promise<void> {
    const end = Date.now() + limitMs;
    while (!this.isKnown && !this.isDisposed && Date.now() < end) {
      write(ASK_SIZE);
      await new Promise<void>((resolve) => {
        const finish = (): void => {
          clearTimeout(timer);
          this.waiting.delete(finish);
          resolve();
        };
        const timer = setTimeout(finish, ASK_AGAIN_MS);
        this.waiting.add(finish);
      });
    }
  }

  dispose(): void {
    this.isDisposed = true;
    this.wake();
  }

  private wake(): void {
    this.waiting.forEach((finish) => finish());
  }
}

/** The size that the view answers with. */
export function sizeAnswer(data: string): TerminalDimensions | undefined {
  const [, rows, columns] = SIZE_ANSWER.exec(data) ?? [];
  return rows === undefined ? undefined : { columns: Number(columns), rows: Number(rows) };
}

export function isSameSize(a: TerminalDimensions, b: TerminalDimensions): boolean {
  return a.columns === b.columns && a.rows === b.rows;
}
