import { expect, test } from 'vitest';
import { readMessage, writeMessage } from '../src/protocol/message.js';
import { readRow, readRows } from '../src/protocol/sessionRow.js';

test('what is written is read', () => {
  const text = writeMessage('input', 'e1', { data: 'ü\n' });
  expect(text).not.toContain('\n');
  expect(readMessage(text)).toEqual({ message: { type: 'input', id: 'e1', data: { data: 'ü\n' } } });
});

test('a notice has no id, and data may be missing', () => {
  expect(readMessage('{"type":"ping"}')).toEqual({ message: { type: 'ping', id: undefined, data: {} } });
  expect(readMessage('{"type":"ping","id":null,"data":null}')).toEqual({
    message: { type: 'ping', id: undefined, data: {} },
  });
  expect(readMessage('{"type":"ping","id":7}')).toMatchObject({ message: { id: '7' } });
});

test.each(['', '{', '[]', '7', 'null', '{}', '{"type":7}', '{"type":""}', '{"type":"a","id":{}}', '{"type":"a","data":[]}'])(
  '%j is no message, and the reason does not quote it',
  (text) => {
    const read = readMessage(text);
    expect(read).toHaveProperty('unreadable');
  },
);

test('a server that answers as to an MCP client is recognised', () => {
  expect(readMessage('{"jsonrpc":"2.0","id":1,"error":{"code":-32700}}')).toEqual({ foreign: 'JSON-RPC' });
});

test('a row needs an id; everything else has a default', () => {
  expect(readRow({ title: 'x' })).toBeUndefined();
  expect(readRow({ sessionId: 's', cols: -3, rows: 'many', state: 'odd', driver: 'cat', isHere: 'yes' })).toEqual({
    sessionId: 's',
    title: 's',
    agent: '',
    folder: '',
    isHere: false,
    state: 'running',
    running: '',
    cwd: '',
    created: 0,
    cols: 80,
    rows: 24,
    exitCode: undefined,
    signal: undefined,
    stopped: false,
    driver: 'agent',
    isDriver: false,
    isFitted: false,
    paused: false,
    secret: undefined,
    secretReader: '',
    isReadByShell: false,
  });
  expect(readRows([{ sessionId: 'a' }, 7, {}, { sessionId: 'b' }]).map((row) => row.sessionId)).toEqual(['a', 'b']);
  expect(readRows('none')).toEqual([]);
});
