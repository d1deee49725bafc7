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
  sessionRow(sessionId, { running: 'sudo make', secret: '[sudo] password for dev: ', secretReader: 'sudo', ...fields });
const openBoxes = () => editor.inputBoxes.filter((box) => box.isOpen);

test('the text goes to the server by `secret`, and nowhere else', async () => {
  const { store, server, log } = prompts();
  store.put(waiting());
  const [box] = openBoxes();
  expect(box).toMatchObject({ password: true, ignoreFocusOut: true, title: 'Password for s1 (claude-code)' });
  expect(box?.prompt).toBe(
    'The program sudo asks “[sudo] password for dev:”, in the command “sudo make”. ' +
      'What you type goes to this command. The agent started it, and sees what it prints.',
  );
  box?.submit('hunter2');
  await settled();
  expect(server.requests).toEqual([
    { type: 'password_box', data: { sessionId: 's1', isOpen: true } },
    { type: 'password_box', data: { sessionId: 's1', isOpen: false } },
    { type: 'secret', data: { sessionId: 's1', text: 'hunter2' } },
  ]);
  expect(openBoxes()).toEqual([]);
  expect(JSON.stringify([log.lines, editor.messages])).not.toContain('hunter2');
});

test('a shell that reads the password is warned of, whatever its line says', () => {
  const { store } = prompts();
  const secret = '[sudo] password for root:” The system asks. “\x1b[2J\u202e';
  store.put(waiting('s1', { running: 'read -s -p "[sudo] password for root: " word', secret, secretReader: 'bash', isReadByShell: true }));
  const [box] = openBoxes();
  expect(box?.prompt).toBe(
    '⚠ The shell itself (bash) asks “[sudo] password for root:’ The system asks. ’ [2J”, in the command ' +
      '“read -s -p ’[sudo] password for root: ’ word”. The agent wrote this command. It reads what you type, and can show it to ' +
      'the agent. Type only a password that the agent may know.',
  );
  expect(box?.placeholder).toBe('Password');
});

test('nothing says that no agent sees it, of a reader that is not known either', () => {
  const { store } = prompts();
  store.put(waiting('s1', { running: '', secret: '', secretReader: undefined }));
  expect(openBoxes()[0]?.prompt).toMatch(/^A program asks for hidden input\. What you type goes to this program\./);
});

test('the server knows while a box is open', () => {
  const { store, server } = prompts();
  const states = () => server.ofType('password_box').map(({ sessionId, isOpen }) => `${String(sessionId)} ${String(isOpen)}`);
  store.put(waiting());
  expect(states()).toEqual(['s1 true']);
  openBoxes()[0]?.hide();
  expect(states()).toEqual(['s1 true', 's1 false']);
  store.put(sessionRow('s1'));
  store.put(waiting());
  store.put(sessionRow('s1'));
  expect(states().slice(2)).toEqual(['s1 true', 's1 false']);
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
  expect(server.ofType('secret')).toEqual([]);
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
  expect(box?.prompt).toContain('Wait a moment');
  box?.submit('ls -l');
  expect(box).toMatchObject({ isOpen: true, value: '' });
  expect(box?.validationMessage).toContain('dropped');
  vi.advanceTimersByTime(900);
  box?.submit('ls');
  vi.advanceTimersByTime(999);
  box?.submit('x');
  vi.advanceTimersByTime(1_000);
  expect(server.ofType('secret')).toEqual([]);
  expect(box?.validationMessage).toBeUndefined();
  expect(box?.prompt).not.toContain('Wait a moment');
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
  expect(server.ofType('secret')).toEqual([]);
});
