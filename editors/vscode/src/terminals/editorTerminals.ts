// The editor's own terminals that agents may use: those created for them, and those that a person shares.
//
// No other terminal is ever named to the server. Ids: that of the request for a created one, a new one for a shared one. The
// server gets to know what happens to them by notices; after a new connection it is told again what is there, and what the last
// command of each printed: the server may be another, which goes on with the terminals of the one before.

import { randomUUID } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { RequestError } from '../connection/channel.js';
import type { Log } from '../log.js';
import { RunningExecution } from './execution.js';
import { ExecutionRecord } from './executionRecord.js';
import type { TerminalUser } from './panelFront.js';
import { pidOf } from './processOf.js';
import { type KeepingPlace, type KeptTerminal, ReturningTerminals } from './returningTerminals.js';
import { ShellActivity } from './shellActivity.js';
import { shellIntegrationOf } from './shellIntegration.js';
import type { WindowPresence } from '../windowPresence.js';

/** Terminals of agents at once. */
const MAX_TERMINALS = 100;
/**
 * How long a new terminal's process runs before a command is typed. A shell that ends with an error within 500 ms of its start is
 * taken by the editor for one that its shell integration broke, and is started again: the command's end would be lost.
 */
const LAUNCH_MS = 600;
/** How long the editor may take to report the end of a command that the server knows of. */
const UNSEEN_MS = 1_000;
/** How long a person who ran a command in an agent's terminal is taken to use it. */
const PERSON_MS = 10_000;

export interface NoticeSink {
  notify(type: string, data: object): void;
  unsentBytes(): number;
}

export interface TerminalRequest {
  readonly name: string;
  /** Who it is for, in words for people. */
  readonly agent: string;
  readonly cwd: string | undefined;
  readonly env: Record<string, string> | undefined;
  readonly shell: string | undefined;
}

export interface SharedTerminal {
  readonly terminalId: string;
  readonly name: string;
}

/** A terminal that was created for an agent, as people see it. */
export interface AgentTerminal {
  readonly terminalId: string;
  readonly name: string;
  readonly agent: string;
  /** The agent's command that runs; empty where none does. */
  readonly running: string;
  /** Milliseconds since 1970. */
  readonly created: number;
}

type NewTerminal = Pick<KnownTerminal, 'isShared' | 'agent'> & Partial<Pick<KnownTerminal, 'windows' | 'since'>>;

interface KnownTerminal {
  readonly terminalId: string;
  readonly terminal: vscode.Terminal;
  readonly isShared: boolean;
  readonly agent: string;
  /** The windows that had it, this one last. */
  readonly windows: readonly string[];
  /** When it was created, or shared, in milliseconds since 1970. */
  readonly since: number;
  /** When its process was seen to run; `undefined` until then. */
  launched: number | undefined;
  /** Its process; `undefined` until that is known. */
  pid: number | undefined;
  execution: RunningExecution | undefined;
  /** What the editor takes a command for that began before the window was loaded anew. */
  unseen: vscode.TerminalShellExecution | undefined;
  /** The last command of an agent. */
  last: ExecutionRecord | undefined;
  /** When a person last began a command here. */
  personAt: number;
}

export class EditorTerminals implements vscode.Disposable {
  private readonly known = new Map<string, KnownTerminal>();
  private readonly changed = new vscode.EventEmitter<void>();
  /** There are others, or one does something else. */
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];
  private readonly ending = new AbortController();
  private readonly activity = new ShellActivity();
  private unnamed = 0;
  private readonly returning: ReturningTerminals;

  constructor(
    private readonly server: NoticeSink,
    private readonly log: Log,
    /** Where the terminals are kept for a reload. */
    private readonly place: KeepingPlace,
    private readonly presence: Pick<WindowPresence, 'returned'>,
    /** Less only in tests. */
    private readonly launchMs = LAUNCH_MS,
  ) {
    this.returning = new ReturningTerminals(place, (kept, terminal) => void this.goOnWith(kept, terminal), log);
    this.subscriptions = [
      this.activity,
      this.returning,
      vscode.window.onDidCloseTerminal((terminal) => this.onClosed(terminal)),
      vscode.window.onDidChangeTerminalShellIntegration(({ terminal }) => {
        const known = this.find(terminal);
        if (known !== undefined) {
          this.reportIntegration(known);
        }
      }),
      vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => {
        const known = this.find(terminal);
        if (known === undefined || known.execution !== undefined) {
          return;
        }
        // When it ends, the editor takes what stands behind its prompt for a command, which ends at once.
        if (isRunning(known) && execution.commandLine.value.startsWith(known.last?.typed ?? '')) {
          known.unseen = execution;
          return;
        }
        known.personAt = Date.now();
        this.endUnseen(known, undefined);
      }),
      vscode.window.onDidEndTerminalShellExecution(({ terminal, execution, exitCode }) => {
        const known = this.find(terminal);
        if (known?.unseen === execution) {
          this.endUnseen(known, exitCode);
        }
      }),
    ];
  }

  /** The name of a terminal for which none was given. */
  nextName(shell = vscode.env.shell): string {
    this.unnamed += 1;
    return `agent: ${path.basename(shell).replace(/\.exe$/i, '') || 'shell'} ${this.unnamed}`;
  }

  /** Opens a terminal for an agent. */
  create(terminalId: string, request: TerminalRequest): vscode.Terminal {
    if (this.known.has(terminalId)) {
      throw new RequestError(`Terminal ${terminalId} exists`);
    }
    if (this.known.size >= MAX_TERMINALS) {
      throw new RequestError(`There are ${MAX_TERMINALS} terminals already; close one`, 'too_many');
    }
    const terminal = vscode.window.createTerminal({
      name: request.name,
      iconPath: new vscode.ThemeIcon('hubot'),
      ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
      ...(request.env === undefined ? {} : { env: request.env }),
      ...(request.shell === undefined ? {} : { shellPath: request.shell }),
    });
    this.add(terminalId, terminal, { isShared: false, agent: request.agent });
    return terminal;
  }

  get(terminalId: string): KnownTerminal {
    const known = this.known.get(terminalId);
    if (known === undefined) {
      throw new RequestError(`Terminal ${terminalId} not found`, 'not_found');
    }
    return known;
  }

  /** Runs a command whose output and end are reported; resolves when it runs. */
  async execute(terminalId: string, executionId: string, command: string, shown = command): Promise<void> {
    const known = this.get(terminalId);
    this.refuseWhileBusy(known);
    const integration = await shellIntegrationOf(known.terminal, known.since, this.ending.signal);
    if (integration === undefined) {
      throw new RequestError(
        `The shell of terminal ${terminalId} has no shell integration: its output cannot be read`,
        'no_integration',
      );
    }
    await this.launchOf(known);
    // The terminal may have been closed, or another command come first, while the shell started.
    if (this.get(terminalId) !== known) {
      throw new RequestError(`Terminal ${terminalId} not found`, 'not_found');
    }
    this.refuseWhileBusy(known);
    const record = new ExecutionRecord(executionId, shown, command);
    const execution = new RunningExecution(executionId, known.terminal, integration, command, {
      output: (data) => this.server.notify('execution_output', { terminalId, executionId, ...record.add(data) }),
      ended: (exitCode) => {
        known.execution = undefined;
        this.activity.markEnded(known.terminal, execution.current);
        record.end = { exitCode: exitCode ?? null, cwd: known.terminal.shellIntegration?.cwd?.fsPath };
        this.server.notify('execution_ended', { terminalId, executionId, ...record.end });
        this.change();
      },
      unsentBytes: () => this.server.unsentBytes(),
      windowReturned: () => this.presence.returned(),
    });
    known.execution = execution;
    known.last = record;
    this.change();
    await execution.started;
    // Not before the reply, which names the execution, is on its way.
    setImmediate(() => execution.report());
  }

  /** The command is over, though the editor has not learned so; resolves when that is reported. */
  async endExecution(terminalId: string, executionId: string): Promise<void> {
    const known = this.get(terminalId);
    if (known.execution?.id === executionId) {
      known.execution.giveUp();
    } else if (known.last?.executionId === executionId) {
      // The server may have seen the prompt before the editor reports it.
      await this.pause(UNSEEN_MS);
      this.endUnseen(known, undefined, executionId);
    }
  }

  close(terminalId: string): void {
    const known = this.get(terminalId);
    if (known.isShared) {
      throw new RequestError(`Terminal ${terminalId} is a person's: agents cannot close it`, 'not_yours');
    }
    known.terminal.dispose();
  }

  /** A person lets agents use a terminal. */
  async share(terminal: vscode.Terminal): Promise<void> {
    if (this.find(terminal) === undefined) {
      const known = this.add(`shared-${randomUUID()}`, terminal, { isShared: true, agent: '' });
      this.notifyShared(known, await pidOf(terminal));
    }
  }

  /** A person takes a terminal back. */
  unshare(terminal: vscode.Terminal): void {
    const known = this.find(terminal);
    if (known?.isShared === true) {
      this.forget(known);
      this.server.notify('terminal_unshared', { terminalId: known.terminalId });
    }
  }

  /** Whether agents may use it. */
  has(terminal: vscode.Terminal): boolean {
    return this.find(terminal) !== undefined;
  }

  isShared(terminal: vscode.Terminal): boolean {
    return this.find(terminal)?.isShared === true;
  }

  /** The ids of all that agents may use. */
  ids(): string[] {
    return [...this.known.keys()];
  }

  /** The terminals that are shared, for people. */
  shared(): SharedTerminal[] {
    return this.sharedTerminals().map(({ terminalId, terminal }) => ({ terminalId, name: terminal.name }));
  }

  /** The terminals that were created for agents, for people. */
  created(): AgentTerminal[] {
    return [...this.known.values()]
      .filter((known) => !known.isShared)
      .map(({ terminalId, terminal, agent, last, since }) => ({
        terminalId,
        name: terminal.name,
        agent,
        running: isRunning({ last }) ? (last?.command ?? '') : '',
        created: since,
      }));
  }

  terminalOf({ terminalId }: { readonly terminalId: string }): vscode.Terminal | undefined {
    return this.known.get(terminalId)?.terminal;
  }

  /** Who uses a terminal that agents may use. */
  userOf(terminal: vscode.Terminal): TerminalUser {
    const known = this.find(terminal);
    if (known === undefined) {
      return undefined;
    }
    const isPersons = known.isShared || Date.now() - known.personAt < PERSON_MS;
    const runsPersons = known.execution === undefined && this.activity.isRunning(terminal);
    return isPersons || runsPersons ? 'person' : 'agent';
  }

  /** A server was connected to, which may be another than before. */
  async online(): Promise<void> {
    // Before anything else is reported: what a command prints from now on follows what it printed before.
    await Promise.all([...this.known.values()].map((known) => this.resume(known)));
    for (const known of this.known.values()) {
      this.reportIntegration(known);
    }
  }

  /** The server does not know a terminal that agents had: from now on it is the person's. */
  disown(terminalId: string): void {
    const known = this.known.get(terminalId);
    if (known !== undefined) {
      this.log.info(`the server does not know terminal ${terminalId}: it is no agent's any more`);
      this.forget(known);
    }
  }

  dispose(): void {
    this.ending.abort();
    vscode.Disposable.from(...this.subscriptions, this.changed).dispose();
    for (const known of this.known.values()) {
      known.execution?.dispose();
    }
    this.known.clear();
  }

  private sharedTerminals(): KnownTerminal[] {
    return [...this.known.values()].filter((known) => known.isShared);
  }

  private find(terminal: vscode.Terminal): KnownTerminal | undefined {
    return [...this.known.values()].find((known) => known.terminal === terminal);
  }

  private add(
    terminalId: string,
    terminal: vscode.Terminal,
    { isShared, agent, windows = [this.place.window], since = Date.now() }: NewTerminal,
  ): KnownTerminal {
    const known: KnownTerminal = {
      terminalId,
      terminal,
      isShared,
      agent,
      windows,
      since,
      launched: undefined,
      pid: undefined,
      execution: undefined,
      unseen: undefined,
      last: undefined,
      personAt: 0,
    };
    this.known.set(terminalId, known);
    void terminal.processId.then((pid) => {
      known.launched = Date.now();
      known.pid = pid;
      this.keep();
    });
    this.changed.fire();
    this.log.info(`terminal ${terminalId} is ${isShared ? 'shared with agents' : 'created for an agent'}`);
    return known;
  }

  /** Resolves when the terminal's process is no longer one that just started. */
  private async launchOf({ terminal, isShared, launched }: KnownTerminal): Promise<void> {
    if (isShared) {
      return;
    }
    if (launched === undefined) {
      await pidOf(terminal);
    }
    const left = (launched ?? Date.now()) + this.launchMs - Date.now();
    if (left > 0) {
      await this.pause(left);
    }
  }

  /** Resolves after a time, or when this is disposed of. */
  private pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.ending.signal.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, milliseconds);
      this.ending.signal.addEventListener('abort', finish);
    });
  }

  private refuseWhileBusy(known: KnownTerminal): void {
    const { terminalId, terminal } = known;
    if (isRunning(known)) {
      throw new RequestError(`Terminal ${terminalId} runs another command`, 'busy');
    }
    if (this.activity.isRunning(terminal)) {
      throw new RequestError(`Terminal ${terminalId} runs a command of a person's: wait until it has ended`, 'busy');
    }
  }

  private forget(known: KnownTerminal): void {
    this.known.delete(known.terminalId);
    known.execution?.dispose();
    this.change();
  }

  private change(): void {
    this.keep();
    this.changed.fire();
  }

  private keep(): void {
    // What is known no longer is not to be forgotten by the next window.
    if (this.ending.signal.aborted) {
      return;
    }
    const created = [...this.known.values()].filter((known) => !known.isShared);
    this.returning.keep(
      created.flatMap(({ terminalId, pid, windows, agent, since, last }) =>
        pid === undefined ? [] : { terminalId, pid, windows, agent, since, last: last?.summary() },
      ),
    );
  }

  /** A terminal that agents had before the window was loaded anew. */
  private async goOnWith(kept: KeptTerminal, terminal: vscode.Terminal): Promise<void> {
    const known = this.add(kept.terminalId, terminal, { isShared: false, ...kept });
    known.pid = kept.pid;
    known.last = kept.last && new ExecutionRecord(kept.last.executionId, kept.last.command, kept.last.typed, kept.last.end, true);
    this.change();
    await this.resume(known);
    this.reportIntegration(known);
  }

  /** A command that began before the window was loaded anew is over; what it printed since then, the editor does not report. */
  private endUnseen(known: KnownTerminal, exitCode: number | undefined, executionId = known.last?.executionId): void {
    const { terminalId, terminal, last } = known;
    if (last !== undefined && last.end === undefined && last.executionId === executionId) {
      last.end = { exitCode: exitCode ?? null, cwd: terminal.shellIntegration?.cwd?.fsPath };
      this.server.notify('execution_ended', { terminalId, executionId: last.executionId, ...last.end });
      this.change();
    }
  }

  private onClosed(terminal: vscode.Terminal): void {
    const known = this.find(terminal);
    // The window is closed or loaded anew: what runs there may run on, and come back.
    const isShutdown = terminal.exitStatus?.reason === vscode.TerminalExitReason.Shutdown;
    if (known !== undefined && !isShutdown) {
      this.forget(known);
      const exitCode = terminal.exitStatus?.code ?? null;
      this.server.notify('terminal_closed', { terminalId: known.terminalId, exitCode });
    }
  }

  private async resume(known: KnownTerminal): Promise<void> {
    // Nothing is waited for that is known: no command begins in between.
    if (known.isShared && known.pid === undefined) {
      await pidOf(known.terminal);
    }
    if (known.isShared) {
      this.notifyShared(known, known.pid);
    }
    const { terminalId, windows, last } = known;
    if (this.known.get(terminalId) !== known) {
      return;
    }
    const executionId = last?.executionId;
    const isReloaded = last?.isReloaded;
    this.server.notify('terminal_resumed', { terminalId, windows, executionId, isRunning: isRunning(known), isReloaded });
    for (const piece of last?.pieces() ?? []) {
      this.server.notify('execution_output', { terminalId, executionId, ...piece });
    }
    if (last?.end !== undefined) {
      this.server.notify('execution_ended', { terminalId, executionId, ...last.end });
    }
  }

  private reportIntegration({ terminalId, terminal }: KnownTerminal): void {
    const integration = terminal.shellIntegration;
    if (integration !== undefined) {
      const data = { terminalId, shell: terminal.state.shell, cwd: integration.cwd?.fsPath };
      this.server.notify('terminal_integration', data);
    }
  }

  private notifyShared({ terminalId, terminal }: KnownTerminal, pid: number | undefined): void {
    if (!this.known.has(terminalId)) {
      return;
    }
    const cwd = terminal.shellIntegration?.cwd?.fsPath;
    const { shell } = terminal.state;
    this.server.notify('terminal_shared', { terminalId, terminalName: terminal.name, pid, cwd, shell });
  }
}

/** Whether an agent's command runs there. */
function isRunning({ last }: Pick<KnownTerminal, 'last'>): boolean {
  return last !== undefined && last.end === undefined;
}
