// Whether the window answers. Extensions go on without it where they run elsewhere: in a browser's server or over SSH, after the
// window was closed, reloaded or cut off. What they ask of it then waits for its return, and agents are to know that.

import * as vscode from 'vscode';

/** How often the window is asked. */
const ASK_MS = 15_000;
/** How long it may take to answer. */
const ANSWER_MS = 10_000;
/** The same before something is done there that it would do when it is back, however late. */
const ANSWER_NOW_MS = 5_000;

export class WindowPresence implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** It is away, or back. */
  readonly onDidChange = this.changed.event;
  private away = false;
  private timer: NodeJS.Timeout | undefined;

  constructor() {
    this.askLater();
  }

  get isAway(): boolean {
    return this.away;
  }

  /** Whether the window answers now. */
  async answers(): Promise<boolean> {
    if (this.away) {
      return false;
    }
    const isThere = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), ANSWER_NOW_MS);
      void this.question().then(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    if (!isThere && this.timer !== undefined) {
      clearTimeout(this.timer);
      this.set(true);
      this.ask();
    }
    return isThere;
  }

  /** Resolves when the window answers. */
  async returned(): Promise<void> {
    await this.question();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.changed.dispose();
  }

  private askLater(): void {
    this.timer = setTimeout(() => this.ask(), ASK_MS);
  }

  private ask(): void {
    this.timer = setTimeout(() => this.set(true), ANSWER_MS);
    const answered = (): void => {
      if (this.timer !== undefined) {
        clearTimeout(this.timer);
        this.set(false);
        this.askLater();
      }
    };
    void this.question().then(answered);
  }

  /** The window keeps what menus depend on: this changes nothing, and is answered by the window itself. */
  private async question(): Promise<void> {
    try {
      await vscode.commands.executeCommand('setContext', 'termbridge.isAsked', true);
    } catch {
      // An answer all the same.
    }
  }

  private set(away: boolean): void {
    if (away !== this.away) {
      this.away = away;
      this.changed.fire();
    }
  }
}
