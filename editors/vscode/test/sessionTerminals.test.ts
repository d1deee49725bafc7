import { beforeEach, describe, expect, test } from 'vitest';
import { SessionStore } from '../src/sessions/sessionStore.js';
import { SessionTerminals, type ShowTerminals } from '../src/sessions/sessionTerminals.js';
import { RecordedRequests, recordingLog, sessionRow } from './support.js';
import { editor, window } from './vscode.js';

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
  const terminals = new SessionTerminals(store, server, { showTerminals: () => mode, memory: kept as never }, recordingLog());
  return { store, server, terminals, kept };
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
    editor.terminal('a').dispose();
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

  test('is forgotten with its session', () => {
    const kept = memory({ closedSessions: ['gone', 'there'] });
    const { store, terminals } = terminalsWith('always', kept);
    store.replaceAll([sessionRow('there')]);
    terminals.online();
    expect(kept.values['closedSessions']).toEqual(['there']);
  });
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
    expect(names()).toEqual(['a', 'ended · b']);
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
    expect(names()).toEqual([4, 5, 6, 7, 8, 9, 10, 11].map((index) => `ended · s${index}`));
  });

  test('end too when the server no longer has them', () => {
    const { store } = terminalsWith();
    store.put(sessionRow('a'));
    store.remove('a');
    expect(names()).toEqual(['ended · a']);
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
