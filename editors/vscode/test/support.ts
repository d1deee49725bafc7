// What several tests use.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Log } from '../src/log.js';
import { type SessionRow, readRow } from '../src/protocol/sessionRow.js';
import { type ScriptedServerOptions, ScriptedServer, wireRow } from './scriptedServer.js';

/** A folder that ends with the test; short, as a socket's path has to be. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tb-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A server that listens in a runtime folder until the test ends. */
export async function scriptedServer(
  options: ScriptedServerOptions = {},
  folder = path.join(temporaryFolder(), 'termbridge'),
): Promise<ScriptedServer> {
  const server = await new ScriptedServer(folder, options).listen();
  onTestFinished(() => server.close());
  return server;
}

export interface RecordingLog extends Log {
  readonly lines: string[];
}

export function recordingLog(): RecordingLog {
  const lines: string[] = [];
  const write = (message: string): void => void lines.push(message);
  return { lines, debug: write, info: write, warn: write, error: write };
}

export function sessionRow(sessionId: string, fields: object = {}): SessionRow {
  const row = readRow(wireRow(sessionId, fields) as Record<string, unknown>);
  if (row === undefined) {
    throw new Error('not a row');
  }
  return row;
}

/** Requests to a server that only a test sees. */
export class RecordedRequests {
  readonly requests: { type: string; data: Record<string, unknown> }[] = [];
  /** Fails the next requests of these types. */
  readonly failing = new Map<string, Error>();
  /** What requests of these types are answered with. */
  readonly answers = new Map<string, Record<string, unknown>>();
  private held: (() => void)[] | undefined;

  request = async (type: string, data: object): Promise<Record<string, unknown>> => {
    this.requests.push({ type, data: { ...data } });
    const error = this.failing.get(type);
    if (error !== undefined) {
      throw error;
    }
    if (this.held !== undefined) {
      await new Promise<void>((resolve) => this.held?.push(resolve));
    }
    return this.answers.get(type) ?? {};
  };

  /** Answers nothing until `release`. */
  hold(): void {
    this.held = [];
  }

  release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    held.forEach((resolve) => resolve());
  }

  ofType(type: string): Record<string, unknown>[] {
    return this.requests.filter((request) => request.type === type).map((request) => request.data);
  }
}

/** The next event of the editor's kind. */
export function nextEvent<T>(event: (listener: (value: T) => unknown) => { dispose(): unknown }): Promise<T> {
  return new Promise((resolve) => {
    const subscription = event((value) => {
      subscription.dispose();
      resolve(value);
    });
  });
}

/** Lets everything that is already under way without timers or sockets finish. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
