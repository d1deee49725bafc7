// The sessions that the server has, as it last reported them. Empty while there is no connection.

import * as vscode from 'vscode';
import type { SessionRow } from '../protocol/sessionRow.js';

/** Sessions that are kept; the server reports those that are left out again when they change. */
const MAX_SESSIONS = 2_000;
const CLEARED_KEY = 'clearedSessions';

export interface SessionChange {
  readonly row: SessionRow;
  /** What was known before; absent for a new session. */
  readonly before: SessionRow | undefined;
}

export class SessionStore implements vscode.Disposable {
  private readonly rows = new Map<string, SessionRow>();
  private readonly changed = new vscode.EventEmitter<SessionChange>();
  private readonly gone = new vscode.EventEmitter<SessionRow>();
  private readonly reset = new vscode.EventEmitter<void>();
  private readonly anything = new vscode.EventEmitter<void>();
  readonly onDidChangeSession = this.changed.event;
  readonly onDidRemoveSession = this.gone.event;
  /** All sessions are others: a server was connected to, or lost. */
  readonly onDidReset = this.reset.event;
  /** Any of the above, after it. */
  readonly onDidChange = this.anything.event;

  /** Ended sessions that the person has cleared from the lists. */
  private readonly cleared: Set<string>;

  constructor(
    /** Where it is kept which those are. */
    private readonly memory?: vscode.Memento,
  ) {
    this.cleared = new Set(memory?.get<string[]>(CLEARED_KEY, []));
  }

  /** The person of this window has driven one of them at some time. */
  hasDriven = false;

  get(sessionId: string): SessionRow | undefined {
    return this.rows.get(sessionId);
  }

  all(): SessionRow[] {
    return [...this.rows.values()];
  }

  replaceAll(rows: readonly SessionRow[]): void {
    this.rows.clear();
    for (const row of rows.slice(0, MAX_SESSIONS)) {
      if (!this.isCleared(row)) {
        this.rows.set(row.sessionId, row);
      }
    }
    this.reset.fire();
    this.anything.fire();
  }

  put(row: SessionRow): void {
    const before = this.rows.get(row.sessionId);
    if (this.isCleared(row) || (before === undefined && this.rows.size >= MAX_SESSIONS)) {
      return;
    }
    this.rows.set(row.sessionId, row);
    this.hasDriven ||= row.isDriver;
    this.changed.fire({ row, before });
    this.anything.fire();
  }

  /** Takes the sessions that have ended out of the lists. */
  clearEnded(): void {
    for (const row of this.all().filter(({ state }) => state === 'exited')) {
      this.remove(row.sessionId);
      this.cleared.add(row.sessionId);
    }
    this.remember();
  }

  remove(sessionId: string): void {
    if (this.cleared.delete(sessionId)) {
      this.remember();
    }
    const row = this.rows.get(sessionId);
    if (row !== undefined) {
      this.rows.delete(sessionId);
      this.gone.fire(row);
      this.anything.fire();
    }
  }

  dispose(): void {
    for (const emitter of [this.changed, this.gone, this.reset, this.anything]) {
      emitter.dispose();
    }
  }

  /** One that was started again is shown again, and when it ends once more. */
  private isCleared({ sessionId, state }: SessionRow): boolean {
    if (state !== 'exited' && this.cleared.delete(sessionId)) {
      this.remember();
    }
    return this.cleared.has(sessionId);
  }

  private remember(): void {
    void this.memory?.update(CLEARED_KEY, [...this.cleared].slice(-MAX_SESSIONS));
  }
}
