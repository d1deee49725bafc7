// The folder in which servers of this user are found: `$XDG_RUNTIME_DIR/termbridge`, else `/tmp/termbridge-UID`.
//
// Whoever can put a socket there can run commands in this editor, so the folder has to be this user's alone and no
// other user may be able to replace it. The same rules as the server's own (crates/mcp/src/socket/folder.rs), except
// that nothing is created and no mode is changed here.

import { type Stats } from 'node:fs';
import { lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import * as path from 'node:path';
import { isFields, numberOf, textOf } from '../protocol/message.js';

const NAME = 'termbridge';
const SOCKET = 'server.sock';
/** Records that are looked at. */
const MAX_RECORDS = 1024;
/** Longest record that is read. */
const MAX_RECORD_BYTES = 64 * 1024;
const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;

/** The folder exists and is not used; the message says why and what to do. */
export class UnsafeFolderError extends Error {}

/** Where the folder is, by the environment; `undefined` on a system without users' numbers. */
export function runtimeFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const user = process.getuid?.();
  if (user === undefined) {
    return undefined;
  }
  const runtime = env['XDG_RUNTIME_DIR'];
  if (runtime !== undefined && path.isAbsolute(runtime)) {
    return path.join(runtime, NAME);
  }
  return path.join(env['TMPDIR'] || '/tmp', `${NAME}-${user}`);
}

/** The sockets at which a server may answer, the newest server first; none when there is no folder. */
export async function serverSockets(folder: string): Promise<string[]> {
  if (!(await isSafe(folder))) {
    return [];
  }
  const records = path.join(folder, 'servers');
  const found = (await isPrivate(records)) ? await readRecords(records) : [];
  found.sort((a, b) => b.started - a.started);
  // A record can be missing for a moment while its server already listens.
  return [...new Set([...found.map((record) => record.socket), path.join(folder, SOCKET)])];
}

/** Whether a server left its socket behind, as one does that was killed: one that was stopped removes it. */
export async function hasStaleSocket(folder: string): Promise<boolean> {
  try {
    return (await lstat(path.join(folder, SOCKET))).isSocket();
  } catch {
    return false;
  }
}

async function isSafe(folder: string): Promise<boolean> {
  const parent = await realpath(path.dirname(folder)).catch(() => undefined);
  if (parent === undefined || !(await isPrivate(folder))) {
    return false;
  }
  for (let place = parent; ; place = path.dirname(place)) {
    const found = await stat(place);
    const isTrusted = found.uid === 0 || found.uid === process.getuid?.();
    const isClosed = (found.mode & WRITABLE_BY_OTHERS) === 0 || (found.mode & STICKY) !== 0;
    if (!isTrusted || !isClosed) {
      throw new UnsafeFolderError(
        `others can rename what is in ${place}: set XDG_RUNTIME_DIR to a folder of your own`,
      );
    }
    if (place === path.dirname(place)) {
      return true;
    }
  }
}

/** Whether the folder is there; throws when it is not this user's alone. */
async function isPrivate(folder: string): Promise<boolean> {
  let found: Stats;
  try {
    found = await lstat(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return false;
    }
    throw error;
  }
  if (!found.isDirectory()) {
    throw new UnsafeFolderError(`${folder} is not a folder (a link, or a file): remove it`);
  }
  if (found.uid !== process.getuid?.()) {
    throw new UnsafeFolderError(
      `${folder} belongs to another user (uid ${found.uid}): remove it, or set XDG_RUNTIME_DIR`,
    );
  }
  if ((found.mode & OPEN_TO_OTHERS) !== 0) {
    const mode = (found.mode & 0o777).toString(8);
    throw new UnsafeFolderError(`${folder} is open to others (mode ${mode}): run \`chmod 700 ${folder}\``);
  }
  return true;
}

interface ServerRecord {
  readonly socket: string;
  readonly started: number;
}

async function readRecords(folder: string): Promise<ServerRecord[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json')).slice(0, MAX_RECORDS);
  const records = await Promise.all(files.map((name) => readRecord(path.join(folder, name))));
  return records.filter((record) => record !== undefined);
}

/** A record that cannot be read, or is half removed, counts as none: its server may have ended just now. */
async function readRecord(file: string): Promise<ServerRecord | undefined> {
  try {
    const handle = await open(file, 'r');
    try {
      const bytes = Buffer.alloc(MAX_RECORD_BYTES);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      const record: unknown = JSON.parse(bytes.toString('utf8', 0, bytesRead));
      const socket = isFields(record) ? textOf(record, 'socket') : undefined;
      if (!isFields(record) || socket === undefined || !path.isAbsolute(socket)) {
        return undefined;
      }
      return { socket, started: numberOf(record, 'started') ?? 0 };
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
