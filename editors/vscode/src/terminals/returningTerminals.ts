// The terminals of agents in files, one of each window: a window that is loaded anew knows them again by their processes.
//
//     kept: id, process, last command ──reload──► the editor restores a terminal with that process ──► the same terminal again
//                                                    └── not within RETURN_MS ──► it is none of this window's
//
// The editor restores terminals only after extensions have started, and says nothing of them but the process. Which window was
// loaded anew nothing tells: not the folders, which two windows may have open, nor the editor's memory of a workspace, which
// may be another's then. So all files are read, and a terminal belongs to the window in which it appears. Whose it is, is the
// server's to know: one that it does not know is disowned. Shared terminals are not kept: a person who loads the window anew
// shares them anew.

import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { type Log, reasonOf } from '../log.js';
import { type Fields, isFields, numberOf, textOf } from '../protocol/message.js';
import type { ExecutionEnd } from './executionRecord.js';

/** How long the editor may take to restore its terminals. */
const RETURN_MS = 20_000;
/** Windows that had a terminal, of which the server knows one; the last ones are kept. */
const MAX_WINDOWS = 8;
/** Bytes of a file that are read. */
const MAX_FILE = 4 * 1024 * 1024;
const ENDING = '.json';

/** What is kept of a terminal. */
export interface KeptTerminal {
  readonly terminalId: string;
  readonly pid: number;
  /** The windows that had it, the last one last. */
  readonly windows: readonly string[];
  readonly agent: string;
  /** When it was created, in milliseconds since 1970. */
  readonly since: number;
  /** The last command of an agent; without an end where it ran when this was written. */
  readonly last:
    | { readonly executionId: string; readonly command: string; readonly typed: string; readonly end: ExecutionEnd | undefined }
    | undefined;
}

/** Where the terminals are kept, and by which window. */
export interface KeepingPlace {
  readonly folder: string;
  readonly window: string;
}

export class ReturningTerminals implements vscode.Disposable {
  /** By process, with the file that has it. */
  private readonly awaited = new Map<number, { readonly kept: KeptTerminal; readonly file: string }>();
  private readonly opened: vscode.Disposable | undefined;
  private readonly timer: NodeJS.Timeout | undefined;
  private readonly file: string;
  private written: string | undefined;

  constructor(
    private readonly place: KeepingPlace,
    /** The editor has restored one. */
    private readonly returned: (kept: KeptTerminal, terminal: vscode.Terminal) => void,
    private readonly log: Log,
  ) {
    this.file = path.join(place.folder, place.window + ENDING);
    for (const file of filesOf(place.folder)) {
      const living = readKept(file).filter(isAlive);
      living.forEach((kept) => this.awaited.set(kept.pid, { kept, file }));
      if (living.length === 0) {
        this.write(file, []);
      }
    }
    if (this.awaited.size > 0) {
      this.opened = vscode.window.onDidOpenTerminal((terminal) => void this.recognise(terminal));
      vscode.window.terminals.forEach((terminal) => void this.recognise(terminal));
      this.timer = setTimeout(() => this.opened?.dispose(), RETURN_MS);
    }
  }

  /** Writes down the terminals that there are. */
  keep(terminals: readonly KeptTerminal[]): void {
    const text = JSON.stringify(terminals);
    if (text === this.written) {
      return;
    }
    // At once: a command is written down before it runs.
    if (this.write(this.file, terminals)) {
      this.written = text;
    }
  }

  dispose(): void {
    this.opened?.dispose();
    clearTimeout(this.timer);
    this.awaited.clear();
  }

  private async recognise(terminal: vscode.Terminal): Promise<void> {
    const pid = (await terminal.processId) ?? 0;
    const found = this.awaited.get(pid);
    if (found === undefined) {
      return;
    }
    this.awaited.delete(pid);
    const { kept, file } = found;
    this.returned({ ...kept, windows: [...kept.windows, this.place.window].slice(-MAX_WINDOWS) }, terminal);
    // It is in this window's file now.
    this.write(file, readKept(file).filter((other) => other.pid !== pid));
  }

  /** Writes terminals into a file that only this user reads; none are no file. */
  private write(file: string, terminals: readonly KeptTerminal[]): boolean {
    try {
      if (terminals.length === 0) {
        rmSync(file, { force: true });
      } else {
        mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(file, JSON.stringify(terminals), { mode: 0o600 });
      }
      return true;
    } catch (error) {
      this.log.warn(`the terminals of agents are not kept in ${file}: ${reasonOf(error)}`);
      return false;
    }
  }
}

/** The files of all windows, the one that was written last at the end. */
function filesOf(folder: string): string[] {
  let names: string[] = [];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(ENDING));
  } catch {
    // There is no folder yet.
  }
  return names
    .map((name) => path.join(folder, name))
    .map((file) => ({ file, time: timeOf(file) }))
    .sort((one, other) => one.time - other.time)
    .map(({ file }) => file);
}

/** When it was written. */
function timeOf(file: string): number {
  try {
    return statSync(file).mtimeMs;
  } catch {
    // Another window has removed it, or it leads nowhere.
    return 0;
  }
}

/** Whether its process runs; one from before the machine was started is another that has its number. */
function isAlive({ pid, since }: KeptTerminal): boolean {
  if (since < Date.now() - os.uptime() * 1_000) {
    return false;
  }
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readKept(file: string): KeptTerminal[] {
  let value: unknown;
  try {
    const found = statSync(file);
    value = found.isFile() && found.size <= MAX_FILE ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  } catch {
    // There is none, or none that this version wrote.
  }
  return (Array.isArray(value) ? value : []).filter(isFields).flatMap((fields) => {
    const [terminalId, pid, windows] = [textOf(fields, 'terminalId'), numberOf(fields, 'pid'), fields['windows']];
    if (terminalId === undefined || pid === undefined || !Array.isArray(windows)) {
      return [];
    }
    return {
      terminalId,
      pid,
      windows: windows.filter((window) => typeof window === 'string'),
      agent: textOf(fields, 'agent') ?? '',
      since: numberOf(fields, 'since') ?? 0,
      last: readLast(fields['last']),
    };
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
