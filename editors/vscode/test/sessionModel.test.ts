import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { activityOf, ageOf, contextOf, contextOfAgent, describeSession, groupByAgent, iconOf, summaryOf } from '../src/sessions/sessionModel.js';
import { SessionStore } from '../src/sessions/sessionStore.js';
import { SessionTree, type TreeNode } from '../src/sessions/sessionTree.js';
import type { AgentTerminal } from '../src/terminals/editorTerminals.js';
import { sessionRow } from './support.js';
import { EventEmitter, editor } from './vscode.js';

beforeEach(() => editor.reset());

test('sessions are grouped by agent, those of this window first, the newest first', () => {
  const groups = groupByAgent([
    sessionRow('old', { created: 1 }),
    sessionRow('far', { agent: 'aider', isHere: false, folder: '/other' }),
    sessionRow('new', { created: 2 }),
    sessionRow('far2', { isHere: false, folder: '/other' }),
    sessionRow('nobody', { agent: '' }),
  ]);
  expect(groups.map((group) => [group.name, group.folder, group.sessions.map((row) => row.sessionId)])).toEqual([
    ['claude-code', '', ['new', 'old']],
    ['No agent', '', ['nobody']],
    ['aider', '/other', ['far']],
    ['claude-code', '/other', ['far2']],
  ]);
});

test.each([
  [{ running: 'npm test' }, 'npm test', 'play'],
  [{}, '', 'terminal'],
  [{ state: 'needs_input', running: 'gh auth' }, 'gh auth · waits for input', 'question'],
  [{ state: 'needs_input' }, 'waits for input', 'question'],
  [{ state: 'needs_input', running: 'sudo', secret: 'Password:' }, 'waits for a password', 'key'],
  [{ state: 'exited', exitCode: 0 }, 'exit code 0', 'pass'],
  [{ state: 'exited', exitCode: 2 }, 'exit code 2', 'error'],
  [{ state: 'exited', signal: 'SIGSEGV' }, 'SIGSEGV', 'error'],
  [{ state: 'exited', signal: 'SIGHUP' }, 'SIGHUP', 'stop-circle'],
  [{ state: 'exited', signal: 'SIGTERM' }, 'SIGTERM', 'stop-circle'],
  [{ state: 'exited', signal: 'SIGKILL' }, 'SIGKILL', 'stop-circle'],
  [{ state: 'exited', signal: 'SIGHUP', stopped: true }, 'stopped', 'stop-circle'],
  [{ state: 'exited' }, 'ended', 'stop-circle'],
  [{ driver: 'person', isDriver: true }, '', 'person'],
])('%j reads %j', (fields, activity, icon) => {
  const row = sessionRow('s', fields);
  expect(activityOf(row)).toBe(activity);
  expect(iconOf(row).icon).toBe(icon);
});

test('red is for what failed only', () => {
  const color = (fields: object) => iconOf(sessionRow('s', { state: 'exited', ...fields })).color;
  expect(color({ exitCode: 1 })).toBe('testing.iconFailed');
  expect(color({ signal: 'SIGABRT' })).toBe('testing.iconFailed');
  expect(color({ exitCode: 0 })).toBe('testing.iconPassed');
  expect(color({ signal: 'SIGHUP' })).toBeUndefined();
  // A program that gives the signal it was stopped with as its exit code.
  expect(color({ exitCode: 15, stopped: true })).toBeUndefined();
  expect(color({})).toBeUndefined();
});

test('ages have one unit', () => {
  const now = 1_700_000_000_000;
  const ages = [0, 59, 60, 3_599, 3_600, 86_399, 86_400, 864_000].map((seconds) => ageOf(now - seconds * 1000, now));
  expect(ages).toEqual(['just now', 'just now', '1 min', '59 min', '1 h', '23 h', '1 d', '10 d']);
  expect(ageOf(now + 5_000, now)).toBe('just now');
  expect(ageOf(0, now)).toBe('');
});

test('the line beside a session names command, driver and age', () => {
  const row = sessionRow('s', { running: 'vim', driver: 'person', isDriver: true, created: 1_000 });
  expect(describeSession(row, 121_000)).toBe('vim · you drive · 2 min');
  expect(describeSession({ ...row, isDriver: false }, 121_000)).toBe('vim · another person drives · 2 min');
});

test('ended sessions are below those that live', () => {
  const rows = [
    sessionRow('over', { state: 'exited', created: 4_000 }),
    sessionRow('old', { created: 1_000 }),
    sessionRow('new', { created: 2_000 }),
    sessionRow('over before', { state: 'exited', created: 3_000 }),
  ];
  expect(groupByAgent(rows)[0]?.sessions.map(({ sessionId }) => sessionId)).toEqual(['new', 'old', 'over', 'over before']);
});

test('ended sessions that were cleared stay so, also after a reload, until they are started again', () => {
  const values: Record<string, unknown> = {};
  const memory = {
    get: (key: string, otherwise: unknown) => values[key] ?? otherwise,
    update: async (key: string, value: unknown) => void (values[key] = value),
  } as never;
  const over = sessionRow('over', { state: 'exited' });
  const store = new SessionStore(memory);
  const ids = (of = store) => of.all().map(({ sessionId }) => sessionId);
  store.replaceAll([sessionRow('lives'), over]);
  store.clearEnded();
  store.put(over);
  expect(ids()).toEqual(['lives']);
  const reloaded = new SessionStore(memory);
  reloaded.replaceAll([sessionRow('lives'), over]);
  expect(ids(reloaded)).toEqual(['lives']);
  reloaded.put(sessionRow('over'));
  reloaded.put(over);
  expect(ids(reloaded)).toEqual(['lives', 'over']);
  store.remove('over');
  expect(values['clearedSessions']).toEqual([]);
});

test('the menus know what can be done', () => {
  expect(contextOf(sessionRow('s'))).toBe('session live theirs');
  expect(contextOf(sessionRow('s', { isDriver: true, driver: 'person' }))).toBe('session live mine');
  expect(contextOf(sessionRow('s', { state: 'exited' }))).toBe('session over theirs');
  expect(contextOf(sessionRow('s', { state: 'exited', isDriver: true, driver: 'person' }))).toBe('session over theirs');
  expect(contextOf(sessionRow('s', { secret: 'Password:' }))).toBe('session live theirs secret');
  const agent = (fields: object) => groupByAgent([sessionRow('s', fields)]).map(contextOfAgent);
  expect([...agent({}), ...agent({ paused: true })]).toEqual(['agent active', 'agent paused']);
  expect(contextOfAgent({ name: 'a', folder: '', sessions: [], terminals: [], paused: false })).toBe('agent');
});

test('the status bar counts the living sessions of this window', () => {
  const rows = [sessionRow('a'), sessionRow('b', { isHere: false }), sessionRow('c', { state: 'exited' })];
  expect(summaryOf([])).toEqual({ text: '0 sessions', isUrgent: false });
  expect(summaryOf(rows)).toEqual({ text: '1 session', isUrgent: false });
  expect(summaryOf([...rows, sessionRow('d', { isDriver: true })])).toEqual({ text: '2 sessions, you drive', isUrgent: false });
  expect(summaryOf(rows, 2).text).toBe('3 sessions');
  expect(summaryOf([], 1).text).toBe('1 session');
  expect(summaryOf([sessionRow('a', { secret: 'P:' })])).toEqual({ text: '1 session, password needed', isUrgent: true });
});

describe('the tree', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function treeWith() {
    const store = new SessionStore();
    const terminalsChanged = new EventEmitter<void>();
    const created: AgentTerminal[] = [];
    const shared: { terminalId: string; name: string }[] = [];
    const connection = { failure: '', onDidChangeFailure: new EventEmitter<void>().event as never };
    const terminals = { onDidChange: terminalsChanged.event as never, shared: () => shared, created: () => created };
    const tree = new SessionTree(store, terminals, connection);
    const drawn = vi.fn();
    tree.onDidChangeTreeData(drawn);
    return { store, tree, shared, created, terminalsChanged, drawn };
  }

  test('shows agents, their sessions, and shared terminals', () => {
    const { store, tree, shared } = treeWith();
    store.put(sessionRow('s1', { title: 'tests', running: 'npm test' }));
    shared.push({ terminalId: 't', name: 'zsh' });
    const [agent, terminals] = tree.getChildren() as [TreeNode, TreeNode];
    expect(tree.getTreeItem(agent)).toMatchObject({ label: 'claude-code', collapsibleState: 2 });
    const [session] = tree.getChildren(agent) as [TreeNode];
    const item = tree.getTreeItem(session);
    expect(item).toMatchObject({ label: 'tests', id: 'session s1', contextValue: 'session live theirs' });
    expect(item.command).toMatchObject({ command: 'termbridge.showSession', arguments: [{ kind: 'session' }] });
    expect(item.accessibilityInformation?.label).toMatch(/^tests, npm test/);
    expect(tree.getTreeItem(terminals).label).toBe('Shared with agents');
    expect(tree.getChildren(terminals).map((node) => tree.getTreeItem(node).label)).toEqual(['zsh']);
    expect(tree.getChildren(session)).toEqual([]);
    tree.dispose();
  });

  test('shows the terminals of this editor with the agent that has them', async () => {
    const { store, tree, created, terminalsChanged, drawn } = treeWith();
    store.put(sessionRow('s1', { title: 'tests' }));
    await vi.advanceTimersByTimeAsync(1_000);
    drawn.mockClear();
    const since = Date.now() - 120_000;
    created.push(
      { terminalId: 't1', name: 'build', agent: 'claude-code', running: 'make -j', created: since },
      { terminalId: 't2', name: 'idle', agent: 'cursor', running: '', created: since },
    );
    terminalsChanged.fire();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(drawn).toHaveBeenCalledOnce();
    const groups = tree.getChildren();
    expect(groups.map((node) => tree.getTreeItem(node).label)).toEqual(['claude-code', 'cursor']);
    const nodes = groups.flatMap((group) => tree.getChildren(group));
    expect(nodes.map((node) => node.kind)).toEqual(['session', 'terminal', 'terminal']);
    const item = tree.getTreeItem(nodes[1] as TreeNode);
    expect(item).toMatchObject({ label: 'build', description: 'make -j · in the editor · 2 min', contextValue: 'terminal' });
    expect(item.command).toMatchObject({ command: 'termbridge.showTerminal', arguments: [nodes[1]] });
    expect(tree.getTreeItem(nodes[2] as TreeNode).description).toBe('in the editor · 2 min');
    tree.dispose();
  });

  test('is drawn once for many changes', async () => {
    const { store, tree, drawn } = treeWith();
    for (let index = 0; index < 50; index += 1) {
      store.put(sessionRow(`s${index}`));
    }
    await vi.advanceTimersByTimeAsync(1_000);
    expect(drawn).toHaveBeenCalledOnce();
    tree.dispose();
  });

  test('draws ages anew only while it is seen', async () => {
    const { tree, drawn } = treeWith();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(drawn).not.toHaveBeenCalled();
    editor.treeView.visibility.fire({ visible: true });
    await vi.advanceTimersByTimeAsync(120_200);
    expect(drawn).toHaveBeenCalledTimes(2);
    editor.treeView.visibility.fire({ visible: false });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(drawn).toHaveBeenCalledTimes(2);
    editor.treeView.visibility.fire({ visible: true });
    tree.dispose();
    expect(vi.getTimerCount()).toBe(0);
  });
});
