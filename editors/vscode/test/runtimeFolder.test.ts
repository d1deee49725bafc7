import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findBinary, usualFolders } from '../src/connection/binary.js';
import { UnsafeFolderError, runtimeFolder, serverSockets } from '../src/connection/runtimeFolder.js';
import { temporaryFolder } from './support.js';

const user = process.getuid?.();

function runtime(): string {
  const folder = path.join(temporaryFolder(), 'termbridge');
  mkdirSync(path.join(folder, 'servers'), { recursive: true });
  chmodSync(folder, 0o700);
  chmodSync(path.join(folder, 'servers'), 0o700);
  return folder;
}

const record = (folder: string, pid: number, fields: object): void =>
  writeFileSync(path.join(folder, 'servers', `${pid}.json`), JSON.stringify({ pid, version: '1', ...fields }));

describe('where the folder is', () => {
  test('by XDG_RUNTIME_DIR, where that is an absolute path', () => {
    expect(runtimeFolder({ XDG_RUNTIME_DIR: '/run/user/7' })).toBe('/run/user/7/termbridge');
    expect(runtimeFolder({ XDG_RUNTIME_DIR: 'relative' })).toBe(`/tmp/termbridge-${user}`);
    expect(runtimeFolder({ XDG_RUNTIME_DIR: '' })).toBe(`/tmp/termbridge-${user}`);
  });

  test('else in the temporary folder, with the number of the user', () => {
    expect(runtimeFolder({})).toBe(`/tmp/termbridge-${user}`);
    expect(runtimeFolder({ TMPDIR: '/var/tmp' })).toBe(`/var/tmp/termbridge-${user}`);
  });
});

describe('which sockets are tried', () => {
  test('none where there is no folder', async () => {
    expect(await serverSockets(path.join(temporaryFolder(), 'termbridge'))).toEqual([]);
    expect(await serverSockets('/nowhere/at/all/termbridge')).toEqual([]);
  });

  test('those of the records, the newest first, and the usual one', async () => {
    const folder = runtime();
    record(folder, 1, { started: 10, socket: '/a.sock' });
    record(folder, 2, { started: 20, socket: '/b.sock' });
    record(folder, 3, { started: 30, socket: 'relative.sock' });
    record(folder, 4, { started: 40 });
    writeFileSync(path.join(folder, 'servers', '5.json'), '{"socket":');
    writeFileSync(path.join(folder, 'servers', '6.new'), '{"socket":"/c.sock"}');
    expect(await serverSockets(folder)).toEqual(['/b.sock', '/a.sock', path.join(folder, 'server.sock')]);
  });

  test('none in a folder that others can open', async () => {
    const folder = runtime();
    chmodSync(folder, 0o750);
    await expect(serverSockets(folder)).rejects.toThrow(UnsafeFolderError);
    await expect(serverSockets(folder)).rejects.toThrow('chmod 700');
  });

  test('none through a link', async () => {
    const folder = runtime();
    const link = path.join(temporaryFolder(), 'termbridge');
    symlinkSync(folder, link);
    await expect(serverSockets(link)).rejects.toThrow('not a folder');
  });

  test('none below a folder in which others can rename', async () => {
    const parent = temporaryFolder();
    const folder = path.join(parent, 'termbridge');
    mkdirSync(folder, { mode: 0o700 });
    chmodSync(parent, 0o777);
    await expect(serverSockets(folder)).rejects.toThrow('others can rename');
  });

  test.runIf(user === 0)('none in a folder of another user', async () => {
    const folder = runtime();
    const { chownSync } = await import('node:fs');
    chownSync(folder, 12345, 12345);
    await expect(serverSockets(folder)).rejects.toThrow('another user (uid 12345)');
  });
});

describe('which program is started', () => {
  const program = (folder: string, mode = 0o755): string => {
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, 'termbridge');
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, mode);
    return file;
  };

  test('that of the setting, else the bundled one, else the one on PATH', async () => {
    const [extension, one, other] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    const onPath = program(one);
    const places = { setting: '', extension, searchPath: `relative:${other}:${one}`, usual: [] };
    expect(await findBinary(places)).toBe(onPath);
    const bundled = program(path.join(extension, 'bin'));
    expect(await findBinary(places)).toBe(bundled);
    expect(await findBinary({ ...places, setting: onPath })).toBe(onPath);
  });

  test('none instead of a setting that is wrong', async () => {
    const extension = temporaryFolder();
    program(path.join(extension, 'bin'));
    const file = program(temporaryFolder(), 0o644);
    for (const setting of ['/nowhere/termbridge', './termbridge', 'termbridge', extension, file]) {
      await expect(findBinary({ setting, extension, searchPath: '', usual: [] })).rejects.toThrow('termbridge.path');
    }
  });

  test('what to do when there is none', async () => {
    const [extension, folder, home] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    const places = { setting: '', extension, searchPath: folder, usual: [path.join(home, '.cargo', 'bin')] };
    await expect(findBinary(places)).rejects.toMatchObject({
      message: 'termbridge is not installed',
      kind: 'missing',
      detail: `searched for termbridge in: ${extension}/bin, ${folder}, ${home}/.cargo/bin`,
    });
    const cargos = program(path.join(home, '.cargo', 'bin'));
    expect(await findBinary(places)).toBe(cargos);
    expect(await findBinary({ ...places, searchPath: path.dirname(program(temporaryFolder())) })).not.toBe(cargos);
    expect(usualFolders('/home/dev')).toEqual(['/home/dev/.cargo/bin', '/home/dev/.local/bin', '/usr/local/bin', '/opt/homebrew/bin']);
  });
});
