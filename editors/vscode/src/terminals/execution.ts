// One command that runs in a terminal of the editor, read through its shell integration.
//
// `read()` is called right after `executeCommand`: from the start event on, the output of a fast command would be missed. The
// end is reported after all output. The exit code is what the shell reports, which for some commands is nothing.

import * as vscode from 'vscode';

/** How long the shell may take to report that a command runs. It was typed: after that it counts as running. */
const START_LIMIT_MS = 5_000;
/** How long output may still come after the shell reported the end. */
const LAST_OUTPUT_MS = 2_000;
/** Longest output in one notice, in characters. */
const MAX_NOTICE = 256 * 1024;
/** Bytes on their way to the server beyond which output is not read on. */
const MAX_UNSENT_OUTPUT = 8 * 1024 * 1024;
const UNSENT_CHECK_MS = 20;

export interface ExecutionReports {
  output(data: string): void;
  /** The command ended; called once, not after `dispose`. */
  ended(exitCode: number | undefined): void;
  unsentBytes(): number;
}

export class RunningExecution implements vscode.Disposable {
  /** Resolves when the command runs, or when this is disposed of. */
  readonly started: Promise<void>;

  private readonly execution: vscode.TerminalShellExecution;
  private readonly stream: AsyncIterable<string>;
  private readonly subscriptions: vscode.Disposable[];
  private readonly shellEnded: Promise<number | undefined>;
  private readonly timers = new Set<NodeJS.Timeout>();
  private onStarted: () => void = () => undefined;
  private isDisposed = false;

  constructor(
    integration: vscode.TerminalShellIntegration,
    command: string,
    private readonly reports: ExecutionReports,
  ) {
    let onEnded: (exitCode: number | undefined) => void = () => undefined;
    this.started = new Promise((resolve) => (this.onStarted = resolve));
    this.shellEnded = new Promise((resolve) => (onEnded = resolve));
    this.subscriptions = [
      vscode.window.onDidStartTerminalShellExecution((event) => {
        if (event.execution === this.execution) {
          this.onStarted();
        }
      }),
      vscode.window.onDidEndTerminalShellExecution((event) => {
        if (event.execution === this.execution) {
          this.onStarted();
          onEnded(event.exitCode);
        }
      }),
    ];
    this.execution = integration.executeCommand(command);
    this.stream = this.execution.read();
    void this.after(START_LIMIT_MS).then(() => this.onStarted());
  }

  /** Reports what was printed so far, all that follows, and the end. */
  report(): void {
    void this.reportAll();
  }

  dispose(): void {
    this.isDisposed = true;
    this.onStarted();
    vscode.Disposable.from(...this.subscriptions).dispose();
    for (const timer of this.timers) {
      clearTimeout(timer);
    }
  }

  private async reportAll(): Promise<void> {
    const printed = this.reportOutput();
    const exitCode = await this.shellEnded;
    await Promise.race([printed, this.after(LAST_OUTPUT_MS)]);
    if (!this.isDisposed) {
      this.dispose();
      this.reports.ended(exitCode);
    }
  }

  private async reportOutput(): Promise<void> {
    for await (const data of this.stream) {
      for (let at = 0; at < data.length; at += MAX_NOTICE) {
        if (this.isDisposed) {
          return;
        }
        this.reports.output(data.slice(at, at + MAX_NOTICE));
      }
      while (this.reports.unsentBytes() > MAX_UNSENT_OUTPUT && !this.isDisposed) {
        await this.after(UNSENT_CHECK_MS);
      }
    }
  }

  /** Resolves after a time; never once this is disposed of. */
  private after(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        resolve();
      }, milliseconds);
      this.timers.add(timer);
    });
  }
}
