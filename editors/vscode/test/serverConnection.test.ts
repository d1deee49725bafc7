// Over real sockets: the greeting, `hello`, and everything that can go wrong with a connection.

import { existsSync, mkdirSync } from 'node:fs';
import * as path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ConnectionOptions, ServerConnection } from '../src/connection/serverConnection.js';
import { MAX_MESSAGE_BYTES } from '../src/protocol/message.js';
import { ScriptedServer, wireRow } from './scriptedServer.js';
import { nextEvent, recordingLog, scriptedServer, temporaryFolder } from './support.js';
import { editor } from './vscode.js';

beforeEach(() => editor.reset());

function connectionTo(folder: string, options: Partial<ConnectionOptions> = {}) {
  const log = recordingLog();
  const connection = new ServerConnection(log, {
    folder,
    identity: { window: 'w1', editor: 'Fake Code', version: '9' },
    describe: () => ({ folders: ['/work'], trusted: true, away: false, settings: { maxOutputLines: 5 } }),
    terminals: () => ['t1', 'shared-2'],
    driving: () => ['s2'],
    autoConnect: () => true,
    mayStart: () => false,
    remote: async () => undefined,
    start: async () => undefined,
    ...options,
  });
  onTestFinished(() => connection.dispose());
  return { connection, log };
}

const runtimeFolder = () => path.join(temporaryFolder(), 'termbridge');

test('the greeting and hello say who connects, and the rows of welcome arrive', async () => {
  const server = await scriptedServer({ rows: [wireRow('s1'), { broken: true }, wireRow('s2')] });
  const { connection, log } = connectionTo(server.folder);
  const states: string[] = [];
  connection.onDidChangeState((state) => states.push(state));
  const rows = nextEvent(connection.onDidConnect);
  await connection.connect();
  expect((await rows).map((row) => row.sessionId)).toEqual(['s1', 's2']);
  expect(states).toEqual(['connecting', 'connected']);
  const peer = await server.nextPeer();
  expect(peer.greeting).toBe('{"termbridge":{"protocol":1,"editor":true}}');
  expect((await peer.next('hello')).data).toEqual({
    protocol: 1,
    window: 'w1',
    editor: 'Fake Code',
    version: '9',
    folders: ['/work'],
    trusted: true,
    away: false,
    settings: { maxOutputLines: 5 },
    terminals: ['t1', 'shared-2'],
    driving: ['s2'],
  });
  expect(log.lines.some((line) => line.includes('2 sessions'))).toBe(true);
});

test('what is asked together with the welcome is done after it is handled', async () => {
  const server = await scriptedServer({
    hello: (peer, { id }) => {
      const messages = [
        { type: 'welcome', id, data: { protocol: 1, version: '1', pid: 1, sessions: [] } },
        { type: 'execute', id: 'r1', data: { command: 'make' } },
        { type: 'dance', id: 'r2', data: {} },
      ];
      peer.sendRaw(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    },
  });
  const { connection } = connectionTo(server.folder);
  const order: string[] = [];
  connection.onDidConnect(() => order.push('connected'));
  connection.handleRequests((type) => {
    order.push(type);
    return type === 'execute' ? Promise.resolve({ type: 'success', data: {} }) : undefined;
  });
  await connection.connect();
  const peer = await server.nextPeer();
  await peer.next('success');
  await peer.next('error');
  expect(order).toEqual(['connected', 'execute', 'dance']);
});

test('an idle connection has one timer, which notices a silent server', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await scriptedServer();
  const { connection } = connectionTo(server.folder);
  await connection.connect();
  await connection.request('watch', {});
  expect(vi.getTimerCount()).toBe(1);
});

test('notices that come in one piece with the welcome come after it', async () => {
  const server = await scriptedServer({
    hello: (peer, message) => {
      const welcome = { type: 'welcome', id: message.id, data: { protocol: 1, version: '1', pid: 1, sessions: [] } };
      const notice = { type: 'session', data: wireRow('s1') };
      peer.sendRaw(`${JSON.stringify(welcome)}\n${JSON.stringify(notice)}\n`);
    },
  });
  const { connection } = connectionTo(server.folder);
  const events: string[] = [];
  connection.onDidConnect(() => events.push('welcome'));
  const notice = nextEvent(connection.onDidReceiveNotice);
  connection.onDidReceiveNotice((message) => events.push(message.type));
  await connection.connect();
  await notice;
  expect(events).toEqual(['welcome', 'session']);
});

test('messages that are cut anywhere arrive whole', async () => {
  const server = await scriptedServer();
  const { connection } = connectionTo(server.folder);
  await connection.connect();
  const peer = await server.nextPeer();
  const bytes = Buffer.from('{"type":"output","data":{"sessionId":"s","data":"ä€😀"}}\n');
  for (let cut = 1; cut < bytes.length; cut += 7) {
    const received = nextEvent(connection.onDidReceiveNotice);
    peer.sendRaw(bytes.subarray(0, cut));
    await new Promise((resolve) => setImmediate(resolve));
    peer.sendRaw(bytes.subarray(cut));
    expect((await received).data).toEqual({ sessionId: 's', data: 'ä€😀' });
  }
});

test('garbage and a huge line are logged and dropped, and the connection stays', async () => {
  const server = await scriptedServer();
  const { connection, log } = connectionTo(server.folder);
  await connection.connect();
  const peer = await server.nextPeer();
  const received = nextEvent(connection.onDidReceiveNotice);
  peer.sendRaw('not json\n[]\n{"type":"reply","id":"nobody-asked"}\n\n');
  peer.sendRaw(`"${'x'.repeat(MAX_MESSAGE_BYTES)}"\n`);
  peer.notify('session_gone', { sessionId: 's' });
  expect((await received).type).toBe('session_gone');
  expect(connection.state).toBe('connected');
  const dropped = log.lines.filter((line) => line.startsWith('dropped'));
  expect(dropped).toHaveLength(4);
  expect(dropped.at(-1)).toBe(`dropped a line of ${MAX_MESSAGE_BYTES + 2} bytes`);
});

test('requests and replies go both ways', async () => {
  const server = await scriptedServer({
    answer: (message) => (message.type === 'stop' ? { type: 'error', data: { error: 'no', code: 'denied' } } : undefined),
  });
  const { connection } = connectionTo(server.folder);
  connection.handleRequests((type, id) =>
    type === 'create_terminal' ? Promise.resolve({ type: 'terminal_created', data: { terminalId: id } }) : undefined,
  );
  await connection.connect();
  const peer = await server.nextPeer();
  expect(await connection.request('watch', { sessionId: 's' })).toEqual({});
  await expect(connection.request('stop', {})).rejects.toMatchObject({ message: 'no', code: 'denied' });
  expect(await peer.request('create_terminal', {}, 'r1')).toMatchObject({ type: 'terminal_created', data: { terminalId: 'r1' } });
  connection.notify('terminal_closed', { terminalId: 'r1' });
  expect((await peer.next('terminal_closed')).id).toBeUndefined();
  await connection.update();
  expect((await peer.next('update')).data).toEqual({ folders: ['/work'], trusted: true, away: false, settings: { maxOutputLines: 5 } });
});

describe('a server that is not there', () => {
  const lostTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });

  test('is looked for every 5 s, and found', async () => {
    lostTimers();
    onTestFinished(() => void vi.useRealTimers());
    const folder = runtimeFolder();
    const { connection, log } = connectionTo(folder);
    await connection.connect();
    expect(connection.state).toBe('disconnected');
    expect(connection.failure).toBe('no server runs');
    const server = await scriptedServer({}, folder);
    const connected = nextEvent(connection.onDidConnect);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(connection.state).toBe('disconnected');
    await vi.advanceTimersByTimeAsync(1);
    await connected;
    expect(connection.failure).toBe('');
    expect(server.peers).toHaveLength(1);
    expect(log.lines.filter((line) => line.startsWith('not connected'))).toHaveLength(1);
  });

  test('is connected to again after it died, and open requests fail', async () => {
    const server = await scriptedServer({ silent: ['stop'] });
    const { connection } = connectionTo(server.folder);
    await connection.connect();
    const peer = await server.nextPeer();
    const request = connection.request('stop', {});
    await peer.next('stop');
    lostTimers();
    onTestFinished(() => void vi.useRealTimers());
    const lost = nextEvent(connection.onDidChangeState);
    await server.kill();
    await expect(request).rejects.toThrow('closed the connection');
    expect(await lost).toBe('disconnected');
    const again = await scriptedServer({}, server.folder);
    const connected = nextEvent(connection.onDidConnect);
    await vi.advanceTimersByTimeAsync(5_000);
    await connected;
    expect(again.peers).toHaveLength(1);
  });

  test('is not looked for while auto-connect is off', async () => {
    lostTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { connection } = connectionTo(runtimeFolder(), { autoConnect: () => false });
    await connection.connect();
    expect(connection.state).toBe('disconnected');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is started once, where it may be', async () => {
    const folder = runtimeFolder();
    const started: ScriptedServer[] = [];
    const { connection } = connectionTo(folder, {
      mayStart: () => true,
      start: async () => void started.push(await scriptedServer({}, folder)),
    });
    await connection.connect();
    expect(connection.state).toBe('connected');
    expect(started).toHaveLength(1);
  });

  test('is not started in an untrusted workspace, but on a wish', async () => {
    const folder = runtimeFolder();
    const start = vi.fn(async () => void (await scriptedServer({}, folder)));
    const { connection } = connectionTo(folder, { mayStart: () => false, start });
    await connection.connect();
    expect(start).not.toHaveBeenCalled();
    await connection.connect({ start: true });
    expect(connection.state).toBe('connected');
    expect(start).toHaveBeenCalledOnce();
  });

  test('stays stopped when it ended in order, and is started again when it was killed', async () => {
    const server = await scriptedServer();
    const start = vi.fn(async () => void (await scriptedServer({}, server.folder)));
    const { connection } = connectionTo(server.folder, { mayStart: () => true, start });
    await connection.connect();
    let lost = nextEvent(connection.onDidChangeState);
    await server.close();
    await lost;
    expect(existsSync(server.socketPath)).toBe(false);
    await connection.connect();
    expect(connection.state).toBe('disconnected');
    expect(start).not.toHaveBeenCalled();

    const killed = await scriptedServer({}, server.folder);
    await connection.connect();
    expect(connection.state).toBe('connected');
    lost = nextEvent(connection.onDidChangeState);
    await killed.kill();
    await lost;
    expect(existsSync(server.socketPath)).toBe(true);
    await connection.connect();
    expect(start).toHaveBeenCalledOnce();
    expect(connection.state).toBe('connected');
  });

  test('is started again at once when it was killed soon after its start, but not for ever', async () => {
    const folder = runtimeFolder();
    let server: ScriptedServer | undefined;
    const start = vi.fn(async () => void (server = await scriptedServer({}, folder)));
    const { connection } = connectionTo(folder, { mayStart: () => true, start });
    for (let times = 1; times <= 3; times += 1) {
      await connection.connect();
      expect(connection.state).toBe('connected');
      expect(start).toHaveBeenCalledTimes(times);
      const lost = nextEvent(connection.onDidChangeState);
      await server?.kill();
      await lost;
    }
    await connection.connect();
    expect(connection.state).toBe('disconnected');
    expect(start).toHaveBeenCalledTimes(3);
  });

  test('that does not start is not tried again at once', async () => {
    const start = vi.fn(() => Promise.reject(new Error('termbridge is not installed')));
    const { connection, log } = connectionTo(runtimeFolder(), { mayStart: () => true, start });
    await connection.connect();
    expect(connection.failure).toBe('termbridge is not installed');
    await connection.connect();
    expect(start).toHaveBeenCalledOnce();
    expect(log.lines.filter((line) => line.includes('not installed'))).toHaveLength(1);
  });
});

describe('a server that cannot be used', () => {
  test.each([
    ['{"termbridge":{"error":"hello of protocol 2"}}', 'the server refused: hello of protocol 2'],
    ['{"termbridge":{"protocol":2}}', 'another version'],
    ['nonsense', 'not understood'],
    ['x'.repeat(70_000), 'too long'],
  ])('is left alone: %.60s', async (greeting, reason) => {
    const server = await scriptedServer({ greeting });
    const start = vi.fn(async () => undefined);
    const { connection } = connectionTo(server.folder, { mayStart: () => true, start });
    await connection.connect();
    expect(connection.state).toBe('disconnected');
    expect(connection.failure).toContain(reason);
    expect(start).not.toHaveBeenCalled();
  });

  test('may refuse hello', async () => {
    const server = await scriptedServer({
      hello: (peer, message) => {
        peer.sendRaw(`${JSON.stringify({ type: 'error', id: message.id, data: { error: 'wrong token', code: 'denied' } })}\n`);
        peer.close();
      },
    });
    const { connection } = connectionTo(server.folder);
    await connection.connect();
    expect(connection.failure).toBe('the server refused: wrong token');
  });

  test('stands in a folder that others can open', async () => {
    const folder = path.join(temporaryFolder(), 'termbridge');
    mkdirSync(folder, { mode: 0o755 });
    const server = await new ScriptedServer(folder).listen();
    onTestFinished(() => server.close());
    const { connection } = connectionTo(folder);
    await connection.connect();
    expect(connection.failure).toContain('is open to others');
    expect(server.peers).toHaveLength(0);
  });

  test('is not connected to by an address that is not safe', async () => {
    for (const url of ['ws://example.com:3000/', 'http://localhost:3000/', 'nonsense']) {
      const { connection } = connectionTo(runtimeFolder(), { remote: async () => ({ url, token: 'tok-123' }) });
      await connection.connect();
      expect(connection.failure).toContain('termbridge.serverUrl');
    }
  });
});

test('an attempt that is given up leaves nothing behind', async () => {
  const server = await scriptedServer({ greeting: undefined });
  const { connection } = connectionTo(server.folder);
  const attempt = connection.connect();
  // The greeting is never answered: the attempt would wait for 10 s.
  await vi.waitFor(() => expect(connection.state).toBe('connecting'));
  connection.dispose();
  await attempt;
  expect(connection.state).toBe('disconnected');
});
