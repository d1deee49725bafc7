import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  Channel,
  type ChannelHandlers,
  MAX_OPEN_REQUESTS,
  REQUEST_LIMIT_MS,
  RequestError,
  SILENCE_LIMIT_MS,
  ServerError,
} from '../src/connection/channel.js';
import { recordingLog } from './support.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function channelWith(handlers: Partial<ChannelHandlers> = {}) {
  const sent: { type: string; id?: string; data?: Record<string, unknown> }[] = [];
  const log = recordingLog();
  const closed: string[] = [];
  const channel = new Channel(log, {
    onRequest: () => undefined,
    onNotice: () => undefined,
    onClose: (reason) => closed.push(reason),
    ...handlers,
  });
  const transport = { peer: 'a test', send: (text: string) => void sent.push(JSON.parse(text)), unsentBytes: () => 0, close: vi.fn() };
  channel.use(transport);
  return { channel, sent, log, closed, transport };
}

const flush = () => vi.advanceTimersByTimeAsync(0);

test('a reply belongs to the request of its id, in any order', async () => {
  const { channel, sent } = channelWith();
  const first = channel.request('stop', { sessionId: 'a' });
  const second = channel.request('stop', { sessionId: 'b' });
  const [a, b] = sent;
  expect(a?.id).not.toBe(b?.id);
  channel.onMessage(JSON.stringify({ type: 'success', id: b?.id, data: { n: 2 } }));
  channel.onMessage(JSON.stringify({ type: 'error', id: a?.id, data: { error: 'no such session', code: 'not_found' } }));
  expect((await second).data).toEqual({ n: 2 });
  const error = await first.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ message: 'no such session', code: 'not_found' });
});

test('a request without a reply fails after its limit, and a late reply is dropped', async () => {
  const { channel, sent, log } = channelWith();
  const request = channel.request('stop', {});
  const failed = expect(request).rejects.toThrow('did not answer');
  await vi.advanceTimersByTimeAsync(REQUEST_LIMIT_MS - 1);
  expect(log.lines.join()).not.toContain('no reply');
  await vi.advanceTimersByTimeAsync(1);
  await failed;
  channel.onMessage(JSON.stringify({ type: 'success', id: sent[0]?.id }));
  expect(log.lines.at(-1)).toContain('dropped success');
});

test('a ping is answered with its id', () => {
  const { channel, sent } = channelWith();
  channel.onMessage('{"type":"ping","id":"p1"}');
  channel.onMessage('{"type":"ping"}');
  expect(sent).toEqual([{ type: 'pong', id: 'p1' }, { type: 'pong' }]);
});

test('a server that is silent for three pings counts as gone', async () => {
  const { channel, closed, transport } = channelWith();
  await vi.advanceTimersByTimeAsync(SILENCE_LIMIT_MS - 1);
  channel.onMessage('{"type":"ping","id":"p"}');
  await vi.advanceTimersByTimeAsync(SILENCE_LIMIT_MS - 1);
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(closed).toEqual(['the server is silent']);
  expect(transport.close).toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('requests of the server are answered with what the handler returns, or its error', async () => {
  const { channel, sent } = channelWith({
    onRequest: (type) => {
      if (type === 'create_terminal') {
        return Promise.resolve({ type: 'terminal_created', data: { terminalId: 't' } });
      }
      return type === 'execute' ? Promise.reject(new RequestError('Terminal x not found', 'not_found')) : undefined;
    },
  });
  channel.onMessage('{"type":"create_terminal","id":"1"}');
  channel.onMessage('{"type":"execute","id":"2","data":{}}');
  channel.onMessage('{"type":"fly","id":"3"}');
  await flush();
  expect(sent).toEqual([
    { type: 'terminal_created', id: '1', data: { terminalId: 't' } },
    { type: 'error', id: '2', data: { error: 'Terminal x not found', code: 'not_found' } },
  ]);
});

test('a request of the server with the id of one of ours is not taken for its reply', async () => {
  const { channel, sent } = channelWith({ onRequest: () => Promise.resolve({ type: 'success', data: {} }) });
  const request = channel.request('stop', {});
  const id = sent[0]?.id;
  channel.onMessage(JSON.stringify({ type: 'show_terminal', id, data: {} }));
  await flush();
  expect(sent.at(-1)).toEqual({ type: 'success', id, data: {} });
  channel.onMessage(JSON.stringify({ type: 'success', id, data: { mine: true } }));
  expect((await request).data).toEqual({ mine: true });
});

test('both sides may have so many requests open and no more', async () => {
  const { channel, sent } = channelWith({ onRequest: () => new Promise(() => undefined) });
  const open = Array.from({ length: MAX_OPEN_REQUESTS }, () => channel.request('stop', {}).catch(() => undefined));
  await expect(channel.request('stop', {})).rejects.toThrow('too many requests');
  for (let id = 0; id <= MAX_OPEN_REQUESTS; id += 1) {
    channel.onMessage(`{"type":"execute","id":"s${id}"}`);
  }
  expect(sent.at(-1)).toMatchObject({ type: 'error', id: `s${MAX_OPEN_REQUESTS}`, data: { code: 'busy' } });
  channel.close();
  await Promise.all(open);
});

test('closing fails what is open and leaves no timer', async () => {
  const { channel, closed } = channelWith();
  const request = channel.request('stop', {});
  channel.close();
  await expect(request).rejects.toThrow('was lost');
  await expect(channel.request('stop', {})).rejects.toThrow('no connection');
  expect(closed).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a server without the editor protocol is named as the reason', async () => {
  const { channel, closed } = channelWith();
  const request = channel.request('hello', {});
  channel.onMessage('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}');
  await expect(request).rejects.toThrow('too old');
  expect(closed).toHaveLength(1);
});

test('neither what is sent nor what comes is in the log', async () => {
  const { channel, log } = channelWith();
  void channel.request('secret', { sessionId: 's', text: 'hunter2' }).catch(() => undefined);
  void channel.request('input', { sessionId: 's', data: 'my-typing' }).catch(() => undefined);
  channel.onMessage('{"type":"output","data":{"sessionId":"s","data":"terminal-contents"}}');
  channel.onMessage('{"type":"odd-thing","id":"9","data":{"x":"terminal-contents"}}');
  channel.onMessage('terminal-contents');
  channel.close();
  await flush();
  expect(log.lines.length).toBeGreaterThan(3);
  expect(log.lines.join('\n')).not.toMatch(/hunter2|my-typing|terminal-contents/);
});
