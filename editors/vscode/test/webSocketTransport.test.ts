import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type TransportEvents } from '../src/connection/transport.js';
import { connectWebSocket, refusedUrl } from '../src/connection/webSocketTransport.js';
import { MAX_MESSAGE_BYTES } from '../src/protocol/message.js';

/** The platform's WebSocket, as far as it is used. */
class FakeWebSocket {
  static last: FakeWebSocket;
  bufferedAmount = 0;
  isClosed = false;
  readonly sent: string[] = [];
  private readonly listeners = new Map<string, (event: object) => void>();

  constructor(readonly url: string) {
    FakeWebSocket.last = this;
  }

  addEventListener(type: string, listener: (event: object) => void): void {
    this.listeners.set(type, listener);
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.isClosed = true;
  }

  emit(type: string, event: object = {}): void {
    this.listeners.get(type)?.(event);
  }
}

function recordingEvents() {
  const events = { messages: [] as string[], garbage: [] as string[], closed: [] as string[] };
  const handlers: TransportEvents = {
    onMessage: (text) => void events.messages.push(text),
    onGarbage: (what) => void events.garbage.push(what),
    onClose: (reason) => void events.closed.push(reason),
  };
  return { ...events, handlers };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', FakeWebSocket);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const never = new AbortController().signal;

async function opened(events = recordingEvents()) {
  const connecting = connectWebSocket('ws://localhost:3000/', events.handlers, never);
  FakeWebSocket.last.emit('open');
  return { transport: await connecting, socket: FakeWebSocket.last, events };
}

test.each([
  ['wss://example.com/', true],
  ['ws://localhost:3000/', true],
  ['ws://127.0.0.1:3000/', true],
  ['ws://[::1]:3000/', true],
  ['ws://example.com/', false],
  ['ws://localhost.example.com/', false],
  ['ws://127.0.0.1.example.com/', false],
  ['http://localhost/', false],
  ['localhost:3000', false],
])('%s may be used: %s', (url, isAllowed) => {
  expect(refusedUrl(url) === undefined).toBe(isAllowed);
});

test('one message per text frame, both ways', async () => {
  const { transport, socket, events } = await opened();
  transport.send('{"type":"hello"}');
  expect(socket.sent).toEqual(['{"type":"hello"}']);
  socket.emit('message', { data: '{"type":"welcome"}' });
  socket.emit('message', { data: Buffer.from('binary') });
  socket.emit('message', { data: 'x'.repeat(MAX_MESSAGE_BYTES + 1) });
  expect(events.messages).toEqual(['{"type":"welcome"}']);
  expect(events.garbage).toHaveLength(2);
});

test('the end is reported once, and not after close', async () => {
  const { socket, events } = await opened();
  socket.emit('error');
  socket.emit('close', { reason: 'bye' });
  expect(events.closed).toEqual(['the connection failed']);
  const other = await opened();
  other.transport.close();
  other.socket.emit('close', {});
  other.socket.emit('message', { data: '{}' });
  expect(other.events.closed).toEqual([]);
  expect(other.events.messages).toEqual([]);
});

test('a server that does not read loses the connection', async () => {
  const { transport, socket, events } = await opened();
  socket.bufferedAmount = 100_000_000;
  transport.send('more');
  expect(events.closed).toEqual(['the server does not read']);
});

describe('a connection that is not made', () => {
  test('for a server that refuses, is silent, or when it is given up', async () => {
    const { handlers } = recordingEvents();
    const refused = connectWebSocket('ws://localhost:1/', handlers, never);
    FakeWebSocket.last.emit('error');
    await expect(refused).rejects.toThrow('failed');

    const silent = connectWebSocket('ws://localhost:1/', handlers, never);
    const failed = expect(silent).rejects.toThrow('silent');
    await vi.advanceTimersByTimeAsync(10_000);
    await failed;

    const abort = new AbortController();
    const given = connectWebSocket('ws://localhost:1/', handlers, abort.signal);
    abort.abort();
    await expect(given).rejects.toThrow('given up');
    expect(FakeWebSocket.last.isClosed).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('in an editor without a WebSocket', async () => {
    vi.stubGlobal('WebSocket', undefined);
    await expect(connectWebSocket('ws://localhost:1/', recordingEvents().handlers, never)).rejects.toThrow('update');
  });
});
