// One command that runs in a terminal of the editor, read through its shell integration.
//
//     executeCommand ──► start event ──► output … ──► end event
//            │                └── of another execution: the editor read the command line otherwise, and it is this command
//            └── no start: the reply does not wait for it (START_LIMIT_MS), and it counts as over after NEVER_STARTED_MS
//
// `read()` is called right after `executeCommand`: from the start event on, the output of a fast command would be missed. The
// end is reported after all output. The exit code is what the shell reports, which for some commands is nothing. A shell that
// shows its prompt has ended the command, also where it does not say so.

import * as vscode from 'vscode';

/** How long the caller waits for the shell to report that a command runs. It was typed: after that it counts as running. */
const START_LIMIT_MS = 1_000;
/** The editor types within 5 s. What has not started long after that, as a comment, never will. */
const NEVER_STARTED_MS = 10_000;
/** How long a prompt is shown before the command counts as over: the lines of a longer command have prompts between them. */
const PROMPT_MS = 1_000;
/** How long output may still come after the shell reported the end. */
const LAST_OUTPUT_MS = 2_000;
/** Longest output in one notice, in characters. */
const MAX_NOTICE = 256 * 1024;
/** Bytes on their way to the server beyond which output is not read on. */
const MAX_UNSENT_OUTPUT = 8 * 1024 * 1024;
const UNSENT_CHECK_MS = 20;

/** The shell's marks in the output: A and B around its prompt, C before the output of a command, D after it. */
const MARK = /\x1b\](?:633|133);([ABCD])/g;
/** Of a mark that two parts of the output share, at most this much is in the first. */
const MARK_LENGTH = 7;

export interface ExecutionReports {
  output(data: string): void;
  /** The command ended; called once, not after `dispose`. */
  ended(exitCode: number | undefined): void;
  unsentBytes(): number;
  /** Resolves when the window answers. */
  windowReturned(): Promise<void>;
}

/** All that were given to the editor: the start of one that was given up may come late. */
const given = new WeakSet<vscode.TerminalShellExecution>();

export class RunningExecution implements vscode.Disposable {
  /** Resolves when the command runs, or is taken to, or when this is disposed of. */
  readonly started: Promise<void>;

  private execution: vscode.TerminalShellExecution;
  private stream: AsyncIterable<string>;
  private readonly subscriptions: vscode.Disposable[];
  private readonly shellEnded: Promise<number | undefined>;
  private readonly timers = new Set<NodeJS.Timeout>();
  private onStarted: () => void = () => undefined;
  private onEnded: (exitCode: number | undefined) => void = () => undefined;
  private hasStarted = false;
  private printed: Promise<void> | undefined;
  private prompt: NodeJS.Timeout | undefined;
  private lastCharacters = '';
  private isDisposed = false;

  constructor(
    readonly id: string,
    terminal: vscode.Terminal,
    integration: vscode.TerminalShellIntegration,
    command: string,
    private readonly reports: ExecutionReports,
  ) {
    this.started = new Promise((resolve) => (this.onStarted = resolve));
    this.shellEnded = new Promise((resolve) => (this.onEnded = resolve));
    this.subscriptions = [
      vscode.window.onDidStartTerminalShellExecution((event) => {
        const isAnother = event.execution !== this.execution && given.has(event.execution);
        if (event.terminal === terminal && !this.hasStarted && !isAnother) {
          this.start(event.execution);
        }
      }),
      vscode.window.onDidEndTerminalShellExecution((event) => {
        if (event.execution === this.execution) {
          this.hasStarted = true;
          this.onStarted();
          this.onEnded(event.exitCode);
        }
      }),
    ];
    this.execution = integration.executeCommand(command);
    given.add(this.execution);
    this.stream = this.execution.read();
    this.after(START_LIMIT_MS, () => this.onStarted());
    this.after(NEVER_STARTED_MS, () => void this.endUnlessStarted());
  }

  /** What the editor has for the command. */
  get current(): vscode.TerminalShellExecution {
    return this.execution;
  }

  /** Reports what was printed so far, all that follows, and the end. */
  report(): void {
    this.printed = this.reportOutput(this.stream);
    void this.reportEnd();
  }

  /** The shell is at its prompt, as the server saw; its marks do not tell. */
  giveUp(): void {
    if (!this.isDisposed) {
      this.dispose();
      this.reports.ended(undefined);
    }
  }

  dispose(): void {
    this.isDisposed = true;
    this.onStarted();
    vscode.Disposable.from(...this.subscriptions).dispose();
    for (const timer of this.timers) {
      clearTimeout(timer);
    }
  }

  private async endUnlessStarted(): Promise<void> {
    // A window that was cut off types it when it is back.
    const asked = Date.now();
    await this.reports.windowReturned();
    if (this.isDisposed) {
      return;
    }
    if (Date.now() - asked > START_LIMIT_MS) {
      this.after(NEVER_STARTED_MS, () => void this.endUnlessStarted());
    } else if (!this.hasStarted) {
      this.onEnded(undefined);
    }
  }

  private start(execution: vscode.TerminalShellExecution): void {
    this.hasStarted = true;
    if (execution !== this.execution) {
      this.execution = execution;
      this.stream = execution.read();
      if (this.printed !== undefined) {
        this.printed = this.reportOutput(this.stream);
      }
    }
    this.onStarted();
  }

  private async reportEnd(): Promise<void> {
    const exitCode = await this.shellEnded;
    // What never started prints nothing, and its stream never ends.
    if (this.hasStarted) {
      await Promise.race([this.printed, new Promise<void>((resolve) => this.after(LAST_OUTPUT_MS, resolve))]);
    }
    if (!this.isDisposed) {
      this.dispose();
      this.reports.ended(exitCode);
    }
  }

  private async reportOutput(stream: AsyncIterable<string>): Promise<void> {
    for await (const data of stream) {
      this.watchForPrompt(data);
      for (let at = 0; at < data.length; at += MAX_NOTICE) {
        if (this.isDisposed) {
          return;
        }
        this.reports.output(data.slice(at, at + MAX_NOTICE));
      }
      while (this.reports.unsentBytes() > MAX_UNSENT_OUTPUT && !this.isDisposed) {
        await new Promise<void>((resolve) => this.after(UNSENT_CHECK_MS, resolve));
      }
    }
  }

  /** The editor restarts a shell that failed early, in the same terminal, without a word about the command. */
  private watchForPrompt(data: string): void {
    const text = this.lastCharacters + data;
    this.lastCharacters = text.slice(-MARK_LENGTH);
    const last = [...text.matchAll(MARK)].at(-1)?.[1];
    if (last === undefined) {
      return;
    }
    if (this.prompt !== undefined) {
      clearTimeout(this.prompt);
      this.timers.delete(this.prompt);
    }
    this.prompt = last === 'A' || last === 'B' ? this.after(PROMPT_MS, () => this.onEnded(undefined)) : undefined;
  }

  /** Acts after a time; never once this is disposed of. */
  private after(milliseconds: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      act();
    }, milliseconds);
    this.timers.add(timer);
    return timer;
  }
}
