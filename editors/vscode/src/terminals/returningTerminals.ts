// The terminals of agents in a file of the workspace: a window that is loaded anew knows them again by their processes.
//
//     kept: id, process, last command ──reload──► the editor restores a terminal with that process ──► the same terminal again
//                                                    └── none comes within RETURN_MS ──► gone
//
// The editor restores terminals only after extensions have started, and says nothing of them but the process. Until then their
// ids are reported as before, and requests about them wait. Whose they are is the server's to know: one that it does not know
// is disowned. The editor's own memory is not used: what was written there just before a reload is lost. Shared terminals are not
// kept: a person who loads the window anew shares them anew.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { type Log, reasonOf } from '../log.js';
import { type Fields, isFields, numberOf, textOf } from '../protocol/message.js';
import type { ExecutionEnd } from './executionRecord.js';

/** How long the editor may take to restore its terminals. */
const RETURN_MS = 20_000;

/** What is kept of a terminal. */
export interface KeptTerminal {
  readonly terminalId: string;
  readonly pid: number;
  readonly agent: string;
  /** When it was created, in milliseconds since 1970. */
  readonly since: number;
  /** The last command of an agent; without an end where it ran when this was written. */
  readonly last:
    | { readonly executionId: string; readonly command: string; readonly typed: string; readonly end: ExecutionEnd | undefined }
    | undefined;
}

export interface Returns {
  /** The editor has restored it. */
  returned(kept: KeptTerminal, terminal: vscode.Terminal): void;
  /** It did not, and its process has ended. */
  ended(kept: KeptTerminal): void;
}

export class ReturningTerminals implements vscode.Disposable {
  private readonly awaited = new Map<string, KeptTerminal>();
  private readonly arrivals = new Set<() => void>();
  private readonly opened: vscode.Disposable | undefined;
  private readonly timer: NodeJS.Timeout | undefined;
  private written: string | undefined;

  constructor(
    /** `undefined` where nothing can be kept: the window has no workspace. */
    private readonly file: string | undefined,
    private readonly returns: Returns,
    private readonly log: Log,
  ) {
    for (const kept of readKept(file)) {
      this.awaited.set(kept.terminalId, kept);
    }
    if (this.awaited.size > 0) {
      this.opened = vscode.window.onDidOpenTerminal((terminal) => void this.recognise(terminal));
      vscode.window.terminals.forEach((terminal) => void this.recognise(terminal));
      this.timer = setTimeout(() => this.giveUp(), RETURN_MS);
    }
  }

  ids(): string[] {
    return [...this.awaited.keys()];
  }

  /** Resolves when a terminal is back, or is no longer waited for. */
  async arrival(terminalId: string): Promise<void> {
    while (this.awaited.has(terminalId)) {
      await new Promise<void>((resolve) => this.arrivals.add(resolve));
    }
  }

  /** Writes down the terminals that there are, beside those that may still come. */
  keep(terminals: readonly KeptTerminal[]): void {
    const text = JSON.stringify([...this.awaited.values(), ...terminals]);
    if (this.file === undefined || text === this.written) {
      return;
    }
    try {
      // At once: a command is written down before it runs.
      mkdirSync(path.dirname(this.file), { recursive: true });
      writeFileSync(this.file, text, { mode: 0o600 });
      this.written = text;
    } catch (error) {
      this.log.warn(`the terminals of agents are not kept: ${reasonOf(error)}`);
    }
  }

  dispose(): void {
    this.opened?.dispose();
    clearTimeout(this.timer);
    this.awaited.clear();
    this.wake();
  }

  private async recognise(terminal: vscode.Terminal): Promise<void> {
    const pid = await terminal.processId;
    const kept = [...this.awaited.values()].find((one) => one.pid === pid);
    if (kept !== undefined) {
      this.awaited.delete(kept.terminalId);
      this.returns.returned(kept, terminal);
      this.wake();
    }
  }

  private giveUp(): void {
    this.opened?.dispose();
    const left = [...this.awaited.values()];
    this.awaited.clear();
    // One whose process runs may be another window's on the same workspace.
    left.filter(({ pid }) => !isAlive(pid)).forEach((kept) => this.returns.ended(kept));
    this.wake();
  }

  private wake(): void {
    this.arrivals.forEach((resolve) => resolve());
    this.arrivals.clear();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readKept(file: string | undefined): KeptTerminal[] {
  let value: unknown;
  try {
    value = file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // There is none, or none that this version wrote.
  }
  return (Array.isArray(value) ? value : []).filter(isFields).flatMap((fields) => {
    const [terminalId, pid] = [textOf(fields, 'terminalId'), numberOf(fields, 'pid')];
    if (terminalId === undefined || pid === undefined) {
      return [];
    }
    const { last } = fields;
    return { terminalId, pid, agent: textOf(fields, 'agent') ?? '', since: numberOf(fields, 'since') ?? 0, last: readLast(last) };
  });
}

function readLast(value: unknown): KeptTerminal['last'] {
  const executionId = isFields(value) ? textOf(value, 'executionId') : undefined;
  if (!isFields(value) || executionId === undefined) {
    return undefined;
  }
  const end = isFields(value['end']) ? readEnd(value['end']) : undefined;
  const command = textOf(value, 'command') ?? '';
  return { executionId, command, typed: textOf(value, 'typed') ?? command, end };
}

function readEnd(end: Fields): ExecutionEnd {
  return { exitCode: numberOf(end, 'exitCode') ?? null, cwd: textOf(end, 'cwd') };
}
