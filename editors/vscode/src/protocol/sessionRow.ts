// What the server reports about one of its sessions.

import { type Fields, isFields, numberOf, textOf } from './message.js';

/** Rows that are read from one `welcome`. */
const MAX_ROWS = 2_000;
/** Largest size of a terminal that is believed. */
const MAX_SIZE = 10_000;

export type SessionState = 'running' | 'needs_input' | 'exited';
export type Driver = 'agent' | 'person';

export interface SessionRow {
  readonly sessionId: string;
  /** The name for people. */
  readonly title: string;
  /** Who it is for, in words for people; empty when nobody in particular. */
  readonly agent: string;
  readonly folder: string;
  /** Its folder is one of this window's. */
  readonly isHere: boolean;
  readonly state: SessionState;
  /** The command that runs. */
  readonly running: string;
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly cols: number;
  readonly rows: number;
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** It was ended on request, or because nobody used it. */
  readonly stopped: boolean;
  readonly driver: Driver;
  /** The person of this window drives. */
  readonly isDriver: boolean;
  /** This window's panel sets its size, though an agent drives. */
  readonly isFitted: boolean;
  /** A person has paused its agent. */
  readonly paused: boolean;
  /** The line that asks for a password, while the session waits for one. */
  readonly secret: string | undefined;
  /** The program that reads it; empty where that is not known. */
  readonly secretReader: string;
  /** That program is a shell: an agent's own command reads it. */
  readonly isReadByShell: boolean;
}

/** Whether a session is there and has not ended. */
export function isLive(row: SessionRow | undefined): row is SessionRow {
  return row !== undefined && row.state !== 'exited';
}

/** Reads a row; `undefined` when it lacks what nothing works without. */
export function readRow(fields: Fields): SessionRow | undefined {
  const sessionId = textOf(fields, 'sessionId');
  if (sessionId === undefined || sessionId === '') {
    return undefined;
  }
  const state = textOf(fields, 'state');
  return {
    sessionId,
    title: textOf(fields, 'title') ?? textOf(fields, 'name') ?? sessionId,
    agent: textOf(fields, 'agent') ?? '',
    folder: textOf(fields, 'folder') ?? '',
    isHere: fields['isHere'] === true,
    state: state === 'needs_input' || state === 'exited' ? state : 'running',
    running: textOf(fields, 'running') ?? '',
    cwd: textOf(fields, 'cwd') ?? '',
    created: numberOf(fields, 'created') ?? 0,
    cols: sizeOf(fields, 'cols', 80),
    rows: sizeOf(fields, 'rows', 24),
    exitCode: numberOf(fields, 'exitCode'),
    signal: textOf(fields, 'signal'),
    stopped: fields['stopped'] === true,
    driver: textOf(fields, 'driver') === 'person' ? 'person' : 'agent',
    // Of a session that was driven when it ended, the server still says who drove.
    isDriver: fields['isDriver'] === true && state !== 'exited',
    isFitted: fields['isFitted'] === true,
    paused: fields['paused'] === true,
    secret: textOf(fields, 'secret'),
    secretReader: textOf(fields, 'secretReader') ?? '',
    isReadByShell: fields['isReadByShell'] === true,
  };
}

/** The rows of a `welcome`, without those that cannot be read. */
export function readRows(value: unknown): SessionRow[] {
  if (!Array.isArray(value)) {
    return [];
  }
  const rows = value.slice(0, MAX_ROWS).map((row: unknown) => (isFields(row) ? readRow(row) : undefined));
  return rows.filter((row) => row !== undefined);
}

/** A number of columns or rows. */
export function sizeOf(fields: Fields, name: string, otherwise: number): number {
  const value = numberOf(fields, name);
  return value !== undefined && value >= 1 && value <= MAX_SIZE ? Math.floor(value) : otherwise;
}
