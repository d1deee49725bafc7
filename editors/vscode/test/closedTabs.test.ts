import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ClosedTabs, type OnTabClose } from '../src/sessions/closedTabs.js';
import { RecordedRequests, recordingLog, sessionRow } from './support.js';
import { editor } from './vscode.js';

beforeEach(() => {
  editor.reset();
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

function closedTabs(setting: OnTabClose = 'ask') {
  const server = new RecordedRequests();
  const ended = new Set<string>();
  const remembered: OnTabClose[] = [];
  const tabs = new ClosedTabs(
    server,
    {
      onTabClose: () => remembered.at(-1) ?? setting,
      remember: async (choice) => void remembered.push(choice),
      isLive: (sessionId) => !ended.has(sessionId),
    },
    recordingLog(),
  );
  return { server, ended, remembered, tabs };
}

const stopped = (server: RecordedRequests) => server.ofType('stop').map(({ sessionId }) => sessionId);

test('the person is asked, and only a session that is to be stopped is', async () => {
  const { server, tabs } = closedTabs();
  tabs.add(sessionRow('s1', { title: 'tests' }));
  await vi.runAllTimersAsync();
  expect(editor.messages).toEqual(['The agent’s session “tests” is still running. Stop it?']);
  expect(editor.buttons).toEqual(['Stop', 'Keep Running', 'Always Stop', 'Always Keep Running']);
  expect(server.requests).toEqual([]);
  editor.press = 'Keep Running';
  tabs.add(sessionRow('s1'));
  await vi.runAllTimersAsync();
  expect(server.requests).toEqual([]);
  editor.press = 'Stop';
  tabs.add(sessionRow('s1'));
  await vi.runAllTimersAsync();
  expect(stopped(server)).toEqual(['s1']);
});

test('tabs that are closed together are one question', async () => {
  const { server, ended, tabs } = closedTabs();
  editor.press = 'Stop';
  ['a', 'b', 'c', 'd', 'e'].forEach((id) => tabs.add(sessionRow(id)));
  ended.add('b');
  await vi.runAllTimersAsync();
  expect(editor.messages).toEqual(['The agents’ sessions “a”, “c”, “d” and 1 more are still running. Stop them?']);
  expect(stopped(server)).toEqual(['a', 'c', 'd', 'e']);
});

test.each([
  ['Always Stop', 'stop', ['s1', 's2']],
  ['Always Keep Running', 'keep', []],
] as const)('%s is remembered', async (button, choice, expected) => {
  const { server, remembered, tabs } = closedTabs();
  editor.press = button;
  tabs.add(sessionRow('s1'));
  await vi.runAllTimersAsync();
  expect(remembered).toEqual([choice]);
  tabs.add(sessionRow('s2'));
  await vi.runAllTimersAsync();
  expect(editor.messages).toHaveLength(1);
  expect(stopped(server)).toEqual(expected);
});

test('nothing is asked about sessions that have ended, or after the window is gone', async () => {
  const { server, ended, tabs } = closedTabs('stop');
  ended.add('s1');
  tabs.add(sessionRow('s1'));
  await vi.runAllTimersAsync();
  tabs.add(sessionRow('s2'));
  tabs.dispose();
  await vi.runAllTimersAsync();
  expect([editor.messages, server.requests]).toEqual([[], []]);
});

test('a session that cannot be stopped is named', async () => {
  const { server, tabs } = closedTabs('stop');
  server.failing.set('stop', new Error('there is no connection to the server'));
  tabs.add(sessionRow('s1', { title: 'tests' }));
  await vi.runAllTimersAsync();
  expect(editor.messages).toEqual(['tests was not stopped: there is no connection to the server']);
});
