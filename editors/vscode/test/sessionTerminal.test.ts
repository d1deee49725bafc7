import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SessionTerminal } from '../src/sessions/sessionTerminal.js';
import { RecordedRequests, recordingLog, sessionRow, settled } from './support.js';
import { FakeTerminal } from './vscode.js';

const PANEL = { columns: 100, rows: 30 };
const RESET = '\x1bc';
/** The timer that gives the name once more after the editor has opened a terminal. */
const NAME_TIMER = 1;
/** What the editor cuts down to the size of its panel: `undefined` would leave the view as it is. */
const WHOLE_PANEL = { columns: 10_000, rows: 10_000 };

function openTerminal(fields: object = {}, panel = PANEL) {
  const server = new RecordedRequests();
  const log = recordingLog();
  const row = (changes: object = {}) => sessionRow('s1', { title: 'build', ...fields, ...changes });
  const pty = new SessionTerminal(row(), server, log);
  const terminal = new FakeTerminal({ name: pty.currentName, pty: pty as never });
  pty.open(panel);
  return { pty, terminal, server, log, row };
}

const dump = (data: string, cols = 80, rows = 24) => ({ sessionId: 's1', cols, rows, data });

test('dump, output, take over, resize, hand back, ended', async () => {
  const { pty, terminal, server, row } = openTerminal();
  expect(server.requests).toEqual([{ type: 'watch', data: { sessionId: 's1', cols: 100, rows: 30 } }]);
  expect(terminal.name).toBe('build');

  pty.onNotice('dump', dump('screen'));
  pty.onNotice('output', { sessionId: 's1', data: ' and more' });
  expect(terminal.written).toBe(`${RESET}screen and more`);
  expect(terminal.overrides).toEqual([{ columns: 80, rows: 24 }]);

  pty.handleInput('l');
  await settled();
  expect(server.ofType('input')).toEqual([{ sessionId: 's1', data: 'l' }]);
  pty.update(row({ driver: 'person', isDriver: true, cols: 100, rows: 30 }));
  expect(terminal.name).toBe('you · build');
  expect(terminal.overrides.at(-1)).toEqual(WHOLE_PANEL);
  pty.onNotice('dump', dump('as large as the panel', 100, 30));
  expect(terminal.overrides).toHaveLength(2);

  pty.setDimensions({ columns: 120, rows: 40 });
  pty.setDimensions({ columns: 120, rows: 40 });
  expect(server.ofType('resize')).toEqual([{ sessionId: 's1', cols: 120, rows: 40 }]);

  pty.update(row({}));
  pty.onNotice('dump', dump('own size again'));
  expect(terminal.name).toBe('build');
  expect(terminal.overrides.at(-1)).toEqual({ columns: 80, rows: 24 });

  pty.onNotice('ended', { sessionId: 's1', exitCode: 3 });
  await settled();
  expect(terminal.name).toBe('✗ build');
  expect(terminal.written).toContain('ended with exit code 3');
  expect(terminal.isClosed).toBe(false);
  pty.handleInput('x');
  expect(terminal.isClosed).toBe(false);
  expect(server.ofType('input')).toHaveLength(1);
  expect(server.ofType('unwatch')).toHaveLength(0);
});

test('the wheel over a full-screen program that an agent drives is no typing', async () => {
  const { pty, terminal, server, row } = openTerminal();
  pty.onNotice('dump', dump('\x1b[?1049hfull screen'));
  expect(terminal.written).toBe(`${RESET}\x1b[?1049h\x1b[?1000hfull screen`);
  pty.handleInput('\x1b[M`!!');
  await settled();
  expect(server.ofType('input')).toEqual([]);
  pty.update(row({ driver: 'person', isDriver: true }));
  expect(terminal.written.endsWith('\x1b[?1000l')).toBe(true);
});

describe('a part of a full-screen program', () => {
  const frame = (data: string, canScroll = true) => ({ sessionId: 's1', data, canScroll });
  const UP = '\x1b[<64;10;5M';

  test('is moved by the wheel, which is no typing', async () => {
    const { pty, server, row } = openTerminal();
    pty.onNotice('frame', frame('normal screen', false));
    pty.handleInput(UP);
    expect(pty.canScroll).toBe(false);
    pty.onNotice('frame', frame('part'));
    expect(pty.canScroll).toBe(true);
    server.hold();
    pty.handleInput(UP + UP);
    // What comes before the answer goes with the next request.
    pty.handleInput('\x1b[<65;10;5M\x1b[<69;10;5M\x1b[<67;1;1M');
    pty.handleInput('\x1b[<72;1;1M\x1b[<0;3;3M\x1b[<0;3;3m');
    server.release();
    await settled();
    expect(server.requests.slice(1)).toEqual([
      { type: 'scroll', data: { sessionId: 's1', rows: -6, cols: 0 } },
      { type: 'scroll', data: { sessionId: 's1', rows: 3, cols: 6 } },
    ]);
    pty.scroll(1, -1);
    await settled();
    expect(server.ofType('scroll').at(-1)).toEqual({ sessionId: 's1', rows: 29, cols: -50 });
    // Whoever drives has the mouse for the program.
    pty.update(row({ driver: 'person', isDriver: true }));
    pty.handleInput(UP);
    await settled();
    expect(server.ofType('scroll')).toHaveLength(3);
    expect(server.ofType('input')).toEqual([{ sessionId: 's1', data: UP }]);
    pty.onNotice('dump', dump('whole'));
    expect([pty.clippedSize, pty.canScroll]).toEqual([undefined, false]);
  });

  test('says once that it cannot be moved', async () => {
    const { pty, server, log } = openTerminal();
    pty.onNotice('frame', frame('part'));
    server.failing.set('scroll', new Error('unknown request "scroll"'));
    for (let turn = 0; turn < 5; turn += 1) {
      pty.handleInput(UP);
      await settled();
    }
    expect(server.ofType('scroll')).toHaveLength(5);
    expect(log.lines).toEqual(['scroll: unknown request "scroll"']);
  });

  test('has the wheel back, and all of the last screen to scroll back to, when the session ends', async () => {
    for (const held of ['top\nmiddle\nbottom', undefined]) {
      const { pty, terminal, server } = openTerminal();
      if (held === undefined) {
        server.failing.set('transcript', new Error('gone'));
      } else {
        server.answers.set('transcript', { text: held });
      }
      pty.onNotice('frame', frame('part'));
      pty.onNotice('ended', { sessionId: 's1', exitCode: 0 });
      await settled();
      const [, after] = terminal.written.split('\x1b[?1006l\x1b[?1000l');
      expect(after).toContain('ended with exit code 0');
      expect(after?.includes('top\r\nmiddle\r\nbottom')).toBe(held !== undefined);
      expect(pty.canScroll).toBe(false);
    }
  });
});

test('a mouse that moves over what has ended does not close it', () => {
  const { pty, terminal } = openTerminal({ driver: 'person', isDriver: true });
  pty.onNotice('dump', dump('\x1b[?1003h\x1b[?1006h\x1b[?1004h'));
  pty.onNotice('ended', { sessionId: 's1', signal: 'SIGKILL' });
  pty.handleInput('\x1b[<35;10;10M');
  pty.handleInput('\x1b[O');
  expect(terminal.isClosed).toBe(false);
});

describe('the end', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('does not close the view under somebody who types: the rest would go to another terminal', async () => {
    const { pty, terminal, server } = openTerminal({ driver: 'person', isDriver: true });
    pty.onNotice('dump', dump('$ '));
    pty.handleInput('r');
    await vi.advanceTimersByTimeAsync(200);
    pty.onNotice('ended', { sessionId: 's1', exitCode: 0 });
    await vi.advanceTimersByTimeAsync(0);
    expect(terminal.written).toContain('[ended with exit code 0; press Enter to close]');
    for (const key of ['m', ' ', '-', 'r', '\r', 'l', 's', '\r', 'pasted\r']) {
      await vi.advanceTimersByTimeAsync(400);
      pty.handleInput(key);
    }
    await vi.advanceTimersByTimeAsync(5_000);
    pty.handleInput('x');
    await vi.advanceTimersByTimeAsync(999);
    pty.handleInput('\r');
    expect(terminal.isClosed).toBe(false);
    expect(server.ofType('input')).toEqual([{ sessionId: 's1', data: 'r' }]);
    await vi.advanceTimersByTimeAsync(1_000);
    // Mouse and focus are no keys.
    pty.handleInput('\x1b[I');
    pty.handleInput('\r');
    expect(terminal.isClosed).toBe(true);
  });

  test('does not close the view by an Enter that was on its way', async () => {
    const { pty, terminal } = openTerminal();
    pty.onNotice('dump', dump('$ '));
    await vi.advanceTimersByTimeAsync(60_000);
    pty.onNotice('ended', { sessionId: 's1', exitCode: 0 });
    await vi.advanceTimersByTimeAsync(900);
    pty.handleInput('\r');
    expect(terminal.isClosed).toBe(false);
  });

  test('is written after the last output, though the list knows of it before', async () => {
    const { pty, terminal, row } = openTerminal();
    pty.onNotice('dump', dump('a'));
    pty.update(row({ state: 'exited', exitCode: 1 }));
    pty.onNotice('output', { sessionId: 's1', data: ' last words' });
    pty.onNotice('ended', { sessionId: 's1', exitCode: 1 });
    await vi.advanceTimersByTimeAsync(0);
    expect(terminal.written).toMatch(/a last words.*ended with exit code 1/s);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(terminal.written.match(/ended/g)).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('leaves no row of the last screen out', async () => {
    const ended = { sessionId: 's1', exitCode: 0 };
    const line = '[ended with exit code 0; press Enter to close]';
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n');

    const short = openTerminal();
    short.server.answers.set('transcript', { text: lines(23) });
    short.pty.onNotice('dump', dump('23 of 24 rows'));
    short.pty.onNotice('ended', ended);
    await vi.advanceTimersByTimeAsync(0);
    // A row is inserted, and the blank one at the end is gone.
    expect(short.terminal.written).toContain(`23 of 24 rows\x1b7\x1b[r\x1b8\r\n\x1b[L\x1b[0m\x1b[2m${line}`);

    const full = openTerminal();
    full.server.answers.set('transcript', { text: lines(24) });
    full.pty.onNotice('dump', dump('all rows'));
    full.pty.onNotice('ended', ended);
    await vi.advanceTimersByTimeAsync(0);
    // The rows move up by one before that, the first to the scrollback.
    expect(full.terminal.written).toContain(`\x1b[999;1H\n\x1b8\r\x1b[L\x1b[0m\x1b[2m${line}`);

    const fullScreen = openTerminal();
    fullScreen.server.answers.set('transcript', { text: 'a poem\n~\n-- INSERT --' });
    fullScreen.pty.onNotice('dump', dump('below\x1b[?1049ha poem'));
    fullScreen.pty.onNotice('ended', ended);
    await vi.advanceTimersByTimeAsync(0);
    const [, after] = fullScreen.terminal.written.split('\x1b[?1049l');
    expect(after?.replace(/\x1b\[[\d;?]*\w/g, '')).toBe(`\r\na poem\r\n~\r\n-- INSERT --\r\n${line}`);

    const unknown = openTerminal();
    unknown.server.failing.set('transcript', new Error('gone'));
    unknown.pty.onNotice('dump', dump('below\x1b[?1049ha poem'));
    unknown.pty.onNotice('ended', ended);
    await vi.advanceTimersByTimeAsync(0);
    expect(unknown.terminal.written).not.toContain('\x1b[?1049l');
    expect(unknown.terminal.written).toContain(line);
  });

  test('is written all the same where the server does not report it', async () => {
    const { pty, terminal, row } = openTerminal();
    pty.onNotice('dump', dump('a'));
    pty.update(row({ state: 'exited', signal: 'SIGKILL' }));
    pty.endSoon({ text: 'ended', outcome: 'stopped' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(terminal.written).toContain('ended by SIGKILL');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('while the editor opens the terminal', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('a session that ends before that shows what it printed, and how it ended', async () => {
    const server = new RecordedRequests();
    server.answers.set('transcript', { text: 'one\ntwo\n' });
    const pty = new SessionTerminal(sessionRow('s1'), server, recordingLog());
    const name = pty.currentName;
    pty.update(sessionRow('s1', { state: 'exited', exitCode: 0 }));
    // The editor listens from now on.
    const terminal = new FakeTerminal({ name, pty: pty as never });
    pty.open(PANEL);
    await vi.advanceTimersByTimeAsync(1);
    expect(terminal.written).toMatch(/^\x1bcone\r\ntwo\r\n.*ended with exit code 0/s);
    expect(server.ofType('watch')).toEqual([]);
    terminal.takeFirstName();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(terminal.name).toBe('✓ s1');
  });

  test('a name from then is given again, unless the person has chosen one', async () => {
    for (const chosen of [undefined, 'mine']) {
      const row = sessionRow('s1');
      const pty = new SessionTerminal(row, new RecordedRequests(), recordingLog(), () => terminal.name);
      const terminal: FakeTerminal = new FakeTerminal({ name: pty.currentName, pty: pty as never });
      pty.open(PANEL);
      await vi.advanceTimersByTimeAsync(1);
      pty.update({ ...row, driver: 'person', isDriver: true });
      expect(terminal.name).toBe('you · s1');
      terminal.takeFirstName();
      terminal.name = chosen ?? terminal.name;
      await vi.advanceTimersByTimeAsync(1_000);
      expect(terminal.name).toBe(chosen ?? 'you · s1');
    }
  });
});

describe('a session that cannot be watched', () => {
  test('shows what it printed, where it is over', async () => {
    const server = new RecordedRequests();
    server.failing.set('watch', new Error('the session is dead'));
    server.answers.set('transcript', { text: 'one\ntwo\n\n' });
    const pty = new SessionTerminal(sessionRow('s1', { state: 'exited', exitCode: 4 }), server, recordingLog());
    const terminal = new FakeTerminal({ name: pty.currentName, pty: pty as never });
    pty.open(PANEL);
    await settled();
    expect(terminal.written).toMatch(/one\r\ntwo.*ended with exit code 4/s);
    expect(terminal.name).toBe('✗ s1');
  });

  test('says why, where it is not', async () => {
    const server = new RecordedRequests();
    server.failing.set('watch', new Error('256 sessions are watched'));
    server.failing.set('transcript', new Error('no'));
    const pty = new SessionTerminal(sessionRow('s1'), server, recordingLog());
    const terminal = new FakeTerminal({ name: pty.currentName, pty: pty as never });
    pty.open(PANEL);
    await settled();
    expect(terminal.written).toContain('not shown: 256 sessions are watched');
  });
});

test('another person who drives is named', () => {
  const { pty, terminal, row } = openTerminal();
  pty.update(row({ driver: 'person' }));
  expect(terminal.name).toBe('other · build');
});

test('titles of programs cannot break the name', () => {
  const { pty, terminal, row } = openTerminal();
  pty.update(row({ title: 'a\x1b]0;b\x07\n\u202e'.padEnd(500, 'x'), isDriver: true, driver: 'person' }));
  expect(terminal.name).not.toMatch(/[\p{Cc}\u202e]/u);
  expect([...terminal.name].length).toBeLessThanOrEqual(46);
});

describe('the size of the view', () => {
  test('is that of the session only where the panel is large enough', () => {
    const { pty, terminal } = openTerminal();
    pty.onNotice('dump', dump('x', 101, 30));
    pty.onNotice('dump', dump('x', 100, 31));
    pty.onNotice('dump', dump('x', 100, 30));
    expect(terminal.overrides).toEqual([]);
    pty.onNotice('dump', dump('x', 99, 30));
    expect(terminal.overrides).toEqual([{ columns: 99, rows: 30 }]);
  });

  test('is the panel for frames, of which the first replaces what was shown', () => {
    const { pty, terminal } = openTerminal();
    pty.onNotice('dump', dump('whole'));
    terminal.written = '';
    pty.onNotice('frame', { sessionId: 's1', data: 'part 1' });
    pty.onNotice('frame', { sessionId: 's1', data: 'part 2' });
    expect(terminal.overrides.at(-1)).toEqual(WHOLE_PANEL);
    expect(terminal.written).toBe(`${RESET}part 1part 2`);
  });

  test('changes with the dump, not with the row that comes before it', () => {
    const { pty, terminal, row } = openTerminal();
    pty.onNotice('dump', dump('x'));
    pty.update(row({ cols: 90, rows: 20 }));
    expect(terminal.overrides).toEqual([{ columns: 80, rows: 24 }]);
    pty.onNotice('dump', dump('x', 90, 20));
    expect(terminal.overrides.at(-1)).toEqual({ columns: 90, rows: 20 });
  });
});

describe('another size of the panel', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('asks for the screen anew while an agent drives, once for many changes', async () => {
    const { pty, terminal, server } = openTerminal();
    pty.onNotice('dump', dump('x'));
    for (let columns = 99; columns >= 60; columns -= 1) {
      pty.setDimensions({ columns, rows: 30 });
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(terminal.overrides).toEqual([{ columns: 80, rows: 24 }, WHOLE_PANEL]);
    expect(server.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(server.requests.slice(1)).toEqual([{ type: 'watch', data: { sessionId: 's1', cols: 60, rows: 30 } }]);
  });

  test('is followed at once while the person drives', () => {
    const { pty, server } = openTerminal({ driver: 'person', isDriver: true });
    pty.setDimensions({ columns: 60, rows: 30 });
    expect(server.ofType('resize').at(-1)).toEqual({ sessionId: 's1', cols: 60, rows: 30 });
    expect(vi.getTimerCount()).toBe(NAME_TIMER);
  });
});

describe('a panel that was never shown', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** The editor opens it so, and reports the size of the panel a moment after it was shown. */
  const UNSEEN = { columns: 80, rows: 30 };
  const taken = { driver: 'person', isDriver: true };

  test('is taken over in its size, once the editor reports it', async () => {
    const { pty, server } = openTerminal({}, UNSEEN);
    pty.setDimensions(UNSEEN);
    const taking = pty.takeOver();
    await vi.advanceTimersByTimeAsync(200);
    expect(server.ofType('take_over')).toEqual([]);
    pty.setDimensions(PANEL);
    await taking;
    expect(server.ofType('take_over')).toEqual([{ sessionId: 's1', cols: 100, rows: 30 }]);
    await pty.takeOver();
    expect(server.ofType('take_over')).toHaveLength(2);
  });

  test('is asked for where the editor reports nothing, in the size of the panel', async () => {
    const { pty, terminal, server } = openTerminal({}, UNSEEN);
    pty.onNotice('dump', dump('screen', 80, 10));
    expect(terminal.overrides).toEqual([{ columns: 80, rows: 10 }]);
    // Nobody has asked yet.
    pty.handleInput('\x1b[8;14;105t');
    const shown = pty.shown();
    expect(terminal.overrides.at(-1)).toEqual(WHOLE_PANEL);
    expect(terminal.written.endsWith('\x1b[18t')).toBe(true);
    pty.handleInput('\x1b[8;30;80t');
    await vi.advanceTimersByTimeAsync(50);
    expect(terminal.written.endsWith('\x1b[18t\x1b[18t')).toBe(true);
    pty.handleInput('\x1b[8;14;105t');
    await shown;
    expect(terminal.overrides.at(-1)).toEqual({ columns: 80, rows: 10 });
    await vi.advanceTimersByTimeAsync(200);
    expect(server.requests.slice(1)).toEqual([{ type: 'watch', data: { sessionId: 's1', cols: 105, rows: 14 } }]);
    await pty.shown();
    expect(terminal.written.match(/18t/g)).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(NAME_TIMER);
  });

  test('is asked for before the first key goes to the server', async () => {
    const { pty, server } = openTerminal({}, UNSEEN);
    pty.handleInput('l');
    pty.handleInput('s');
    pty.handleInput('\x1b[8;14;105t');
    await vi.advanceTimersByTimeAsync(0);
    expect(server.requests.slice(1).map(({ type, data }) => [type, data['cols'] ?? data['data']])).toEqual([
      ['resize', 105],
      ['input', 'ls'],
    ]);
  });

  test('leaves no timer when the view is closed while it is asked', async () => {
    const { pty } = openTerminal({}, UNSEEN);
    const shown = pty.shown();
    pty.close();
    pty.dispose();
    await shown;
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is taken over all the same where there is no answer', async () => {
    const { pty, server } = openTerminal({}, UNSEEN);
    const taking = pty.takeOver();
    await vi.advanceTimersByTimeAsync(1_000);
    await taking;
    expect(server.ofType('take_over')).toEqual([{ sessionId: 's1', cols: 80, rows: 30 }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is known to the server before the first key', async () => {
    const { pty, server } = openTerminal({}, UNSEEN);
    pty.setDimensions(PANEL);
    pty.handleInput('l');
    pty.handleInput('s');
    await vi.advanceTimersByTimeAsync(0);
    expect(server.requests.slice(1).map(({ type, data }) => [type, data['cols'] ?? data['data']])).toEqual([
      ['resize', 100],
      ['input', 'l'],
      ['input', 's'],
    ]);
  });

  test('has its size when the person drives, though it came while that was under way', async () => {
    const { pty, server, row } = openTerminal({}, UNSEEN);
    pty.handleInput('l');
    await vi.advanceTimersByTimeAsync(300);
    pty.setDimensions(PANEL);
    await vi.advanceTimersByTimeAsync(200);
    expect(server.ofType('resize')).toEqual([]);
    pty.update(row({ ...taken, cols: 80, rows: 30 }));
    pty.update(row({ ...taken, cols: 80, rows: 30 }));
    expect(server.ofType('resize')).toEqual([{ sessionId: 's1', cols: 100, rows: 30 }]);
  });
});

describe('typing', () => {
  test('keeps its order and goes with the next message while one is under way', async () => {
    const { pty, server } = openTerminal();
    server.hold();
    for (const key of 'abcdef') {
      pty.handleInput(key);
    }
    expect(server.ofType('input')).toEqual([{ sessionId: 's1', data: 'a' }]);
    server.release();
    await settled();
    expect(server.ofType('input').map(({ data }) => data)).toEqual(['a', 'bcdef']);
  });

  test('a large paste is cut and arrives whole', async () => {
    const { pty, server } = openTerminal();
    const paste = 'x'.repeat(300_000) + 'end';
    pty.handleInput(paste);
    await settled();
    const parts = server.ofType('input').map(({ data }) => String(data));
    expect(parts.length).toBe(2);
    expect(parts.join('')).toBe(paste);
  });

  test('answers of the view are not typing', () => {
    const { pty, server } = openTerminal();
    pty.handleInput('\x1b[?1;2c');
    pty.handleInput('\x1b[I');
    expect(server.ofType('input')).toEqual([]);
  });

  test('that the server refuses beeps, is not repeated and not logged', async () => {
    const { pty, server, terminal, log } = openTerminal();
    server.failing.set('input', new Error('denied'));
    pty.handleInput('my-typing');
    await settled();
    expect(terminal.written).toBe('\x07');
    server.failing.clear();
    pty.handleInput('b');
    await settled();
    expect(server.ofType('input').at(-1)).toEqual({ sessionId: 's1', data: 'b' });
    expect(log.lines.join()).toContain('denied');
    expect(log.lines.join()).not.toContain('my-typing');
  });
});

describe('without a connection', () => {
  test('what is shown stays, nothing is sent, and the screen comes with the next server', async () => {
    const { pty, terminal, server, row } = openTerminal();
    pty.onNotice('dump', dump('before'));
    pty.goOffline();
    expect(terminal.name).toBe('offline · build');
    server.requests.length = 0;
    pty.handleInput('x');
    pty.handleInput('y');
    pty.setDimensions({ columns: 70, rows: 20 });
    await settled();
    expect(server.requests).toEqual([]);
    expect(terminal.written.match(/\[offline: not sent\]/g)).toHaveLength(1);

    pty.goOnline(row());
    expect(server.requests).toEqual([{ type: 'watch', data: { sessionId: 's1', cols: 70, rows: 20 } }]);
    pty.onNotice('output', { sessionId: 's1', data: 'too early: no dump yet' });
    pty.onNotice('dump', dump('after'));
    expect(terminal.written.endsWith(`${RESET}after`)).toBe(true);
    expect(terminal.written).not.toContain('too early');
    expect(terminal.name).toBe('build');
    expect(server.ofType('take_over')).toEqual([]);
  });

  test('what was under way when it was lost is named too', async () => {
    const { pty, terminal, server } = openTerminal();
    pty.onNotice('dump', dump(''));
    server.failing.set('input', new Error('the connection to the server was lost'));
    pty.handleInput('x');
    pty.goOffline();
    await settled();
    expect(terminal.written).toContain('[offline: not sent]');
  });

  test('the person who drove drives on with the next server, in the size of the panel', () => {
    const { pty, server, row } = openTerminal({ driver: 'person', isDriver: true });
    pty.goOffline();
    expect(pty.isDriven).toBe(true);
    server.requests.length = 0;
    pty.goOnline(row({ driver: 'person', isDriver: true }));
    expect(server.requests.map(({ type }) => type)).toEqual(['watch', 'resize']);
    expect(server.ofType('resize')).toEqual([{ sessionId: 's1', cols: 100, rows: 30 }]);
  });

  test('nothing is taken from the agent, or from somebody else', () => {
    for (const [before, after] of [
      [{ driver: 'person', isDriver: true }, { driver: 'agent', isDriver: false }],
      [{ driver: 'person', isDriver: true }, { driver: 'person', isDriver: false }],
    ]) {
      const { pty, server, row } = openTerminal(before);
      pty.goOffline();
      server.requests.length = 0;
      pty.goOnline(row(after));
      expect(server.requests.map(({ type }) => type)).toEqual(['watch']);
      expect(pty.isDriven).toBe(false);
    }
  });
});

test('closing the view ends the notices and nothing else', () => {
  const { pty, server } = openTerminal();
  pty.close();
  expect(server.requests.map(({ type }) => type)).toEqual(['watch', 'unwatch']);
});

describe('output faster than an editor draws', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is skipped, and the screen as it is then is asked for', async () => {
    const { pty, terminal, server } = openTerminal();
    pty.onNotice('dump', dump(''));
    const chunk = { sessionId: 's1', data: 'x'.repeat(100_000) };
    for (let count = 0; count < 100; count += 1) {
      pty.onNotice('output', chunk);
    }
    expect(terminal.written.length).toBeLessThan(1_100_000);
    expect(server.ofType('watch')).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(500);
    expect(server.ofType('watch')).toHaveLength(2);
    pty.onNotice('dump', dump('the end of it'));
    expect(terminal.written.endsWith('the end of it')).toBe(true);
    expect(vi.getTimerCount()).toBe(NAME_TIMER);
  });

  test('is drawn when it is slow enough', async () => {
    const { pty, terminal, server } = openTerminal();
    pty.onNotice('dump', dump(''));
    for (let count = 0; count < 20; count += 1) {
      pty.onNotice('output', { sessionId: 's1', data: 'x'.repeat(200_000) });
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(terminal.written.length).toBe(4_000_000 + RESET.length);
    expect(server.ofType('watch')).toHaveLength(1);
  });

  test('leaves no timer when the view is closed meanwhile', () => {
    const { pty } = openTerminal();
    pty.onNotice('dump', dump(''));
    pty.onNotice('output', { sessionId: 's1', data: 'x'.repeat(2_000_000) });
    pty.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
