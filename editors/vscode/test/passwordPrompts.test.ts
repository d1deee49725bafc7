import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PasswordPrompts } from '../src/sessions/passwordPrompts.js';
import { SessionStore } from '../src/sessions/sessionStore.js';
import { RecordedRequests, recordingLog, sessionRow, settled } from './support.js';
import { editor } from './vscode.js';

beforeEach(() => editor.reset());

afterEach(() => void vi.useRealTimers());

function prompts({ blindMs = 0, isInHand = false } = {}) {
  const store = new SessionStore();
  const server = new RecordedRequests();
  const log = recordingLog();
  const options = { isInHand: () => isInHand, blindMs };
  return { store, server, log, prompts: new PasswordPrompts(store, server, log, options) };
}

const waiting = (sessionId = 's1', fields: object = {}) =>
  sessionRow(sessionId, { running: 'sudo make', secret: '[sudo] password for dev: ', ...fields });
const openBoxes = () => editor.inputBoxes.filter((box) => box.isOpen);

test('the text goes to the server by `secret`, and nowhere else', async () => {
  const { store, server, log } = prompts();
  store.put(waiting());
  const [box] = openBoxes();
  expect(box).toMatchObject({ password: true, ignoreFocusOut: true, title: 'Password for s1 (claude-code)' });
  expect(box?.prompt).toContain('[sudo] password for dev — asked by sudo make.');
  box?.submit('hunter2');
  await settled();
  expect(server.requests).toEqual([{ type: 'secret', data: { sessionId: 's1', text: 'hunter2' } }]);
  expect(openBoxes()).toEqual([]);
  expect(JSON.stringify([log.lines, editor.messages])).not.toContain('hunter2');
});

test('a text that is refused is in no message either', async () => {
  const { store, server, log } = prompts();
  server.failing.set('secret', new Error('nobody asks for one'));
  store.put(waiting());
  openBoxes()[0]?.submit('hunter2');
  await settled();
  expect(editor.messages).toEqual(['The password was not typed: nobody asks for one']);
  expect(JSON.stringify([log.lines, editor.messages])).not.toContain('hunter2');
});

test('the box closes when the session no longer waits, or is gone', () => {
  const { store, server } = prompts();
  store.put(waiting());
  store.put(sessionRow('s1'));
  expect(openBoxes()).toEqual([]);
  store.put(waiting());
  expect(openBoxes()).toHaveLength(1);
  store.remove('s1');
  expect(openBoxes()).toEqual([]);
  store.put(waiting());
  store.replaceAll([]);
  expect(openBoxes()).toEqual([]);
  expect(server.requests).toEqual([]);
});

test('a dismissed box comes again for the next wait, or when it is asked for', () => {
  const { store, prompts: asked } = prompts();
  store.put(waiting());
  openBoxes()[0]?.hide();
  store.put(waiting('s1', { running: 'sudo other' }));
  expect(openBoxes()).toEqual([]);
  asked.ask(waiting());
  expect(openBoxes()).toHaveLength(1);
  openBoxes()[0]?.hide();
  store.put(sessionRow('s1'));
  store.put(waiting());
  expect(openBoxes()).toHaveLength(1);
});

test('keys that were on their way elsewhere when the box opened are dropped', async () => {
  vi.useFakeTimers();
  const { store, server } = prompts({ blindMs: 1_000 });
  store.put(waiting());
  const [box] = openBoxes();
  expect(box?.prompt).toContain('In a moment');
  box?.submit('ls -l');
  expect(box).toMatchObject({ isOpen: true, value: '' });
  expect(box?.validationMessage).toContain('dropped');
  vi.advanceTimersByTime(900);
  box?.submit('ls');
  vi.advanceTimersByTime(999);
  box?.submit('x');
  vi.advanceTimersByTime(1_000);
  expect(server.requests).toEqual([]);
  expect(box?.validationMessage).toBeUndefined();
  expect(box?.prompt).toContain('no agent sees it');
  box?.submit('hunter2');
  await vi.runAllTimersAsync();
  expect(server.ofType('secret')).toEqual([{ sessionId: 's1', text: 'hunter2' }]);
});

test('a box that the person asked for takes text at once', () => {
  const { store, server, prompts: asked } = prompts({ blindMs: 1_000 });
  store.put(waiting());
  asked.ask(waiting());
  openBoxes()[0]?.submit('hunter2');
  expect(server.ofType('secret')).toEqual([{ sessionId: 's1', text: 'hunter2' }]);
});

test('none opens for a session that the person is typing into', () => {
  const { store } = prompts({ isInHand: true });
  store.put(waiting());
  expect(openBoxes()).toEqual([]);
});

test('one box at a time, the next when the first is done', async () => {
  const { store, server } = prompts();
  store.put(waiting('s1'));
  store.put(waiting('s2'));
  expect(openBoxes().map((box) => box.title)).toEqual(['Password for s1 (claude-code)']);
  openBoxes()[0]?.submit('one');
  expect(openBoxes().map((box) => box.title)).toEqual(['Password for s2 (claude-code)']);
  openBoxes()[0]?.submit('two');
  await settled();
  expect(server.ofType('secret')).toEqual([
    { sessionId: 's1', text: 'one' },
    { sessionId: 's2', text: 'two' },
  ]);
});

test('sessions of other windows ask there', () => {
  const { store } = prompts();
  store.put(waiting('s1', { isHere: false }));
  expect(openBoxes()).toEqual([]);
});

test('disposing closes the box and sends nothing', () => {
  const { store, server, prompts: asked } = prompts();
  store.put(waiting());
  asked.dispose();
  expect(openBoxes()).toEqual([]);
  store.put(waiting('s2'));
  expect(openBoxes()).toEqual([]);
  expect(server.requests).toEqual([]);
});
