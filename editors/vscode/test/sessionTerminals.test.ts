import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SessionRow } from '../src/protocol/sessionRow.js';
import { SessionStore } from '../src/sessions/sessionStore.js';
import { SessionTerminals, type ShowTerminals } from '../src/sessions/sessionTerminals.js';
import { PanelFront } from '../src/terminals/panelFront.js';
import { RecordedRequests, recordingLog, sessionRow } from './support.js';
import { TabInputTerminal, TerminalExitReason, editor, window, workspace } from './vscode.js';

beforeEach(() => editor.reset());

function memory(values: Record<string, unknown> = {}) {
  return {
    values,
    keys: () => Object.keys(values),
    get: (key: string, otherwise: unknown) => values[key] ?? otherwise,
    update: async (key: string, value: unknown) => void (values[key] = value),
  };
}

function terminalsWith(mode: ShowTerminals = 'always', kept = memory()) {
  const store = new SessionStore();
  const server = new RecordedRequests();
  const front = new PanelFront();
  const closed: string[] = [];
  const closedTabs = { add: (row: SessionRow) => void closed.push(row.sessionId) };
  const options = { showTerminals: () => mode, memory: kept as never, front, closedTabs };
  const terminals = new SessionTerminals(store, server, options, recordingLog());
  front.know((terminal) => terminals.userOf(terminal));
  return { store, server, terminals, kept, closed };
}

const names = () => editor.terminals.map((terminal) => terminal.name);

describe('which sessions get a terminal', () => {
  test('those of this window that live', () => {
    const { store } = terminalsWith();
    store.put(sessionRow('here'));
    store.put(sessionRow('elsewhere', { isHere: false }));
    store.put(sessionRow('over', { state: 'exited', exitCode: 0 }));
    expect(names()).toEqual(['here']);
    expect(editor.terminals[0]?.creationOptions.isTransient).toBe(true);
  });

  test('none in an untrusted window, where the editor would ask for trust each time; all once it is trusted', () => {
    workspace.isTrusted = false;
    const { store, terminals } = terminalsWith();
    store.put(sessionRow('a'));
    terminals.online();
    expect(names()).toEqual([]);
    workspace.isTrusted = true;
    terminals.showAll();
    expect(names()).toEqual(['a']);
  });

  test('one each, however often it is reported', () => {
    const { store } = terminalsWith();
    store.put(sessionRow('a'));
    store.put(sessionRow('a', { running: 'ls' }));
    store.put(sessionRow('a', { state: 'needs_input' }));
    expect(names()).toEqual(['a']);
  });

  test('one that comes here later', () => {
    const { store } = terminalsWith();
    store.put(sessionRow('a', { isHere: false }));
    store.put(sessionRow('a'));
    expect(names()).toEqual(['a']);
  });

  test('none where it is turned off, but when the person asks', () => {
    const { store, terminals } = terminalsWith('never');
    store.put(sessionRow('a'));
    expect(names()).toEqual([]);
    terminals.show(sessionRow('a'), { preserveFocus: false });
    expect(names()).toEqual(['a']);
  });

  test('named after who drives from the start: the editor takes no other name while it opens one', () => {
    const { store } = terminalsWith();
    store.put(sessionRow('a', { driver: 'person' }));
    store.put(sessionRow('b', { driver: 'person', isDriver: true }));
    expect(names()).toEqual(['other · a', 'you · b']);
  });

  test('named anew once they are open, when the driver changed before', async () => {
    const { store } = terminalsWith();
    store.put(sessionRow('a', { driver: 'person' }));
    const terminal = editor.terminal('other · a');
    store.put(sessionRow('a'));
    terminal.name = 'other · a';
    terminal.pty.open({ columns: 80, rows: 24 });
    await Promise.resolve();
    expect(names()).toEqual(['a']);
  });

  test('called as the person calls them', () => {
    const { store } = terminalsWith();
    store.put(sessionRow('a'));
    editor.terminal('a').name = 'mine';
    store.put(sessionRow('a', { driver: 'person', isDriver: true }));
    expect(names()).toEqual(['you · mine']);
    store.put(sessionRow('a'));
    expect(names()).toEqual(['mine']);
    editor.terminal('mine').name = 'still mine';
    store.put(sessionRow('a', { state: 'exited', exitCode: 0 }));
    expect(names()).toEqual(['✓ still mine']);
  });

  test('a flood of sessions opens a bounded number', () => {
    const { store } = terminalsWith();
    for (let index = 0; index < 100; index += 1) {
      store.put(sessionRow(`s${index}`));
    }
    expect(editor.terminals).toHaveLength(32);
  });
});

describe('what comes to the front', () => {
  test('a new session, without the focus', () => {
    const { store } = terminalsWith();
    store.put(sessionRow('a'));
    expect(editor.terminal('a').shown).toEqual([{ preserveFocus: true }]);
    store.put(sessionRow('b'));
    expect(window.activeTerminal?.name).toBe('b');
  });

  test('nothing over a terminal of the person', () => {
    const { store, terminals } = terminalsWith();
    const own = window.createTerminal({ name: 'own' });
    own.show();
    store.put(sessionRow('a'));
    terminals.onNotice({ type: 'focus', id: undefined, data: { sessionId: 'a' } });
    expect(editor.terminal('a').shown).toEqual([]);
    expect(window.activeTerminal).toBe(own);
  });

  test('the panel, which may be hidden, with the terminal of the person as it was', () => {
    const { store } = terminalsWith();
    const own = window.createTerminal({ name: 'own' });
    own.show();
    store.put(sessionRow('a'));
    expect(own.shown).toEqual([{ preserveFocus: undefined }, { preserveFocus: true }]);
    window.tabGroups.all = [{ tabs: [{ input: new TabInputTerminal() }] }];
    store.put(sessionRow('b'));
    expect(own.shown).toHaveLength(2);
  });

  test('nothing over a session that the person drives', () => {
    const { store } = terminalsWith();
    store.put(sessionRow('a'));
    store.put(sessionRow('a', { driver: 'person', isDriver: true }));
    store.put(sessionRow('b'));
    expect(window.activeTerminal).toBe(editor.terminal('a'));
    expect(editor.terminal('b').shown).toEqual([]);
  });

  test('nothing in the background', () => {
    const { store, terminals } = terminalsWith('background');
    store.put(sessionRow('a'));
    terminals.onNotice({ type: 'focus', id: undefined, data: { sessionId: 'a' } });
    expect(names()).toEqual(['a']);
    expect(editor.terminal('a').shown).toEqual([]);
  });

  test('the session that an agent turns to', () => {
    const { store, terminals } = terminalsWith();
    store.put(sessionRow('a'));
    store.put(sessionRow('b'));
    terminals.onNotice({ type: 'focus', id: undefined, data: { sessionId: 'a' } });
    expect(window.activeTerminal).toBe(editor.terminal('a'));
    terminals.onNotice({ type: 'focus', id: undefined, data: { sessionId: 'nobody' } });
  });

  test('nothing of what was there before the window connected', () => {
    const { store, terminals } = terminalsWith();
    store.replaceAll([sessionRow('a'), sessionRow('b')]);
    terminals.online();
    expect(names()).toEqual(['a', 'b']);
    expect(editor.terminals.flatMap((terminal) => terminal.shown)).toEqual([]);
  });
});

describe('a terminal that the person closed', () => {
  test('stays closed until it is asked for, also after a reload', () => {
    const { store, terminals, kept } = terminalsWith();
    store.put(sessionRow('a'));
    editor.terminal('a').closeTab();
    store.put(sessionRow('a', { running: 'ls' }));
    terminals.onNotice({ type: 'output', id: undefined, data: { sessionId: 'a', data: 'late' } });
    expect(names()).toEqual([]);
    terminals.dispose();

    const reloaded = terminalsWith('always', kept);
    reloaded.store.replaceAll([sessionRow('a'), sessionRow('b')]);
    reloaded.terminals.online();
    expect(names()).toEqual(['b']);
    reloaded.terminals.show(sessionRow('a'), { preserveFocus: false });
    expect(names()).toEqual(['b', 'a']);
    expect(kept.values['closedSessions']).toEqual([]);
  });

  test('is asked about while its session lives, and not when it is closed with the window or by an extension', () => {
    const { store, terminals, kept, closed } = terminalsWith();
    for (const id of ['closed', 'over', 'reloaded', 'disposed']) {
      store.put(sessionRow(id));
    }
    store.put(sessionRow('over', { state: 'exited', exitCode: 0 }));
    editor.terminal('over').closeTab();
    editor.terminal('disposed').dispose();
    const reloaded = editor.terminal('reloaded');
    reloaded.exitStatus = { code: undefined, reason: TerminalExitReason.Shutdown };
    reloaded.dispose();
    expect(closed).toEqual([]);
    editor.terminal('closed').closeTab();
    expect(closed).toEqual(['closed']);
    expect(kept.values['closedSessions']).toEqual(['disposed', 'closed']);
    terminals.dispose();
    expect(closed).toHaveLength(1);
  });

  test('is forgotten with its session', () => {
    const kept = memory({ closedSessions: ['gone', 'there'] });
    const { store, terminals } = terminalsWith('always', kept);
    store.replaceAll([sessionRow('there')]);
    terminals.online();
    expect(kept.values['closedSessions']).toEqual(['there']);
  });
});

test('what an extension host that was killed left is closed, and nothing else', async () => {
  const { store, kept } = terminalsWith();
  store.put(sessionRow('build'));
  store.put(sessionRow('build', { driver: 'person', isDriver: true }));
  store.put(sessionRow('closed'));
  editor.terminal('closed').dispose();
  expect(kept.values['terminalNames']).toEqual(['build']);

  // The editor has the terminal still, without what was behind it.
  editor.terminals.length = 0;
  const left = window.createTerminal({ name: 'build' });
  left.processId = Promise.resolve(-1);
  left.name = 'you · build';
  const shell = window.createTerminal({ name: 'build', shellPath: '/bin/bash' });
  const process = window.createTerminal({ name: 'build' });
  const other = window.createTerminal({ name: 'other' });
  other.processId = Promise.resolve(-1);
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const reloaded = terminalsWith('always', kept);
  reloaded.store.replaceAll([sessionRow('build')]);
  reloaded.terminals.online();
  // Not before there is another: the editor hides a panel that has none.
  expect(editor.terminals).toHaveLength(5);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(left.isClosed).toBe(true);
  expect(editor.terminals.slice(0, 3)).toEqual([shell, process, other]);
  expect(editor.terminals).toHaveLength(4);
  expect(vi.getTimerCount()).toBe(0);
});

describe('what the person drives', () => {
  const driven = (id: string, fields: object = {}) => sessionRow(id, { driver: 'person', isDriver: true, ...fields });

  test('is claimed again by a window that was reloaded, once, and has a terminal', () => {
    const { store, terminals, kept } = terminalsWith('background');
    store.put(sessionRow('here'));
    store.put(sessionRow('elsewhere', { isHere: false }));
    terminals.show(sessionRow('elsewhere', { isHere: false }), { preserveFocus: false });
    store.put(driven('here'));
    store.put(driven('elsewhere', { isHere: false }));
    terminals.dispose();
    expect(kept.values['drivenSessions']).toEqual(['here', 'elsewhere']);

    const reloaded = terminalsWith('background', kept);
    expect(reloaded.terminals.driving()).toEqual(['here', 'elsewhere']);
    // Somebody else drives one of them by now.
    const other = sessionRow('here', { driver: 'person' });
    reloaded.store.replaceAll([other, driven('elsewhere', { isHere: false }), sessionRow('idle', { isHere: false })]);
    reloaded.terminals.online();
    expect(names()).toEqual(['you · elsewhere', 'other · here']);
    expect(reloaded.terminals.driving()).toEqual(['elsewhere']);
    expect(kept.values['drivenSessions']).toEqual(['elsewhere']);
    reloaded.store.put(sessionRow('elsewhere', { isHere: false }));
    expect(kept.values['drivenSessions']).toEqual([]);
  });

  test('is not shown by a window that was reloaded after it ended', () => {
    const { store, terminals } = terminalsWith('always', memory({ drivenSessions: ['a'] }));
    store.replaceAll([driven('a', { state: 'exited', signal: 'SIGHUP', stopped: true })]);
    terminals.online();
    expect(names()).toEqual([]);
    expect(terminals.driving()).toEqual([]);
  });

  test('has the size of the panel that shows it after a reload', () => {
    const { store, server, terminals } = terminalsWith('always', memory({ drivenSessions: ['a'] }));
    store.replaceAll([driven('a')]);
    terminals.online();
    editor.terminal('a').pty.open({ columns: 90, rows: 14 });
    expect(server.ofType('resize')).toEqual([{ sessionId: 'a', cols: 90, rows: 14 }]);
  });
});

test('a session that is larger than its panel is fitted to it, and follows it', async () => {
  const { store, server, terminals } = terminalsWith();
  store.put(sessionRow('a', { cols: 120, rows: 40 }));
  const terminal = editor.terminal('a');
  terminal.pty.open({ columns: 100, rows: 14 });
  expect(terminals.buttons()).toEqual({ canHandBack: false, canFit: false, isFitted: false });
  terminals.onNotice({ type: 'frame', id: undefined, data: { sessionId: 'a', data: 'a part' } });
  expect(terminals.buttons()).toMatchObject({ canFit: true });
  await terminals.fitToPanel(sessionRow('a'));
  expect(server.ofType('fit_to_panel')).toEqual([{ sessionId: 'a', cols: 100, rows: 14 }]);
  store.put(sessionRow('a', { cols: 100, rows: 14, isFitted: true }));
  terminals.onNotice({ type: 'dump', id: undefined, data: { sessionId: 'a', cols: 100, rows: 14, data: 'all' } });
  expect(terminals.buttons()).toEqual({ canHandBack: false, canFit: false, isFitted: true });
  expect(terminal.name).toBe('a');
  terminal.pty.setDimensions({ columns: 100, rows: 10 });
  expect(server.ofType('resize')).toEqual([{ sessionId: 'a', cols: 100, rows: 10 }]);
  store.put(sessionRow('a', { driver: 'person', isDriver: true }));
  expect(terminals.buttons()).toEqual({ canHandBack: true, canFit: false, isFitted: false });
});

describe('when the server goes and comes', () => {
  test('sessions that it still has go on in their terminals, the others have ended', () => {
    const { store, server, terminals } = terminalsWith();
    store.put(sessionRow('a'));
    store.put(sessionRow('b'));
    editor.terminal('a').pty.open({ columns: 80, rows: 24 });
    terminals.offline();
    store.replaceAll([]);
    expect(names()).toEqual(['offline · a', 'offline · b']);
    store.replaceAll([sessionRow('a')]);
    terminals.online();
    expect(names()).toEqual(['a', '■ b']);
    expect(server.ofType('watch')).toHaveLength(2);
  });
});

describe('sessions that end', () => {
  test('keep their terminals, of which the oldest are closed', () => {
    const { store } = terminalsWith();
    for (let index = 0; index < 12; index += 1) {
      store.put(sessionRow(`s${index}`));
      store.put(sessionRow(`s${index}`, { state: 'exited', exitCode: index }));
    }
    expect(names()).toEqual([4, 5, 6, 7, 8, 9, 10, 11].map((index) => `✗ s${index}`));
  });

  test('the terminal of one that was made first and ended last stays', () => {
    const { store } = terminalsWith('background');
    store.put(sessionRow('first'));
    for (let index = 0; index < 20; index += 1) {
      store.put(sessionRow(`s${index}`));
      store.put(sessionRow(`s${index}`, { state: 'exited', exitCode: 0 }));
    }
    store.put(sessionRow('first', { state: 'exited', signal: 'SIGHUP' }));
    expect(names()).toContain('■ first');
    expect(names()).toHaveLength(8);
    expect(names()).not.toContain('✓ s12');
    expect(names()).toContain('✓ s13');
  });

  test('are not closed while they are in front', () => {
    const { store, terminals } = terminalsWith('background');
    store.put(sessionRow('read'));
    terminals.show(sessionRow('read'), { preserveFocus: true });
    store.put(sessionRow('read', { state: 'exited', exitCode: 1 }));
    for (let index = 0; index < 20; index += 1) {
      store.put(sessionRow(`s${index}`));
      store.put(sessionRow(`s${index}`, { state: 'exited', exitCode: 0 }));
    }
    expect(names()).toHaveLength(8);
    expect(names()).toContain('✗ read');
  });

  test('are closed too when their end comes late', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { store, terminals } = terminalsWith('background');
    for (let index = 0; index < 12; index += 1) {
      store.put(sessionRow(`s${index}`));
      editor.terminal(`s${index}`).pty.open({ columns: 80, rows: 24 });
      terminals.onNotice({ type: 'dump', id: undefined, data: { sessionId: `s${index}`, cols: 80, rows: 24, data: '$ ' } });
      store.put(sessionRow(`s${index}`, { state: 'exited', exitCode: 0 }));
    }
    expect(names()).toHaveLength(12);
    vi.runAllTimers();
    expect(names()).toHaveLength(8);
  });

  test('end too when the server no longer has them', () => {
    const { store } = terminalsWith();
    store.put(sessionRow('a'));
    store.remove('a');
    expect(names()).toEqual(['■ a']);
  });
});

test('taking over shows the session, with the focus and the size of its panel', async () => {
  const { store, server, terminals } = terminalsWith('background');
  store.put(sessionRow('a'));
  editor.terminal('a').pty.open({ columns: 90, rows: 20 });
  await terminals.takeOver(sessionRow('a'));
  expect(editor.terminal('a').shown).toEqual([{ preserveFocus: false }]);
  expect(server.ofType('take_over')).toEqual([{ sessionId: 'a', cols: 90, rows: 20 }]);
});
