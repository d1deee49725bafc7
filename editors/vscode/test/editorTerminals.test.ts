import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { EditorTerminals } from '../src/terminals/editorTerminals.js';
import { PanelFront } from '../src/terminals/panelFront.js';
import { answerTerminalRequest } from '../src/terminals/terminalRequests.js';
import { recordingLog, settled, temporaryFolder } from './support.js';
import { FakeExecution, TerminalExitReason, editor, window } from './vscode.js';

beforeEach(() => editor.reset());

function terminalsWith(options: { isTrusted?: boolean; showsTerminals?: boolean; launchMs?: number; folder?: string; window?: string; isThere?: boolean; returned?: Promise<void> } = {}) {
  const notices: { type: string; data: Record<string, unknown> }[] = [];
  const sink = { unsent: 0 };
  const terminals = new EditorTerminals(
    {
      notify: (type, data) => void notices.push({ type, data: JSON.parse(JSON.stringify(data)) as Record<string, unknown> }),
      unsentBytes: () => sink.unsent,
    },
    recordingLog(),
    { folder: options.folder ?? path.join(temporaryFolder(), 'terminals'), window: options.window ?? 'w1' },
    { returned: () => options.returned ?? Promise.resolve() },
    options.launchMs ?? 0,
  );
  const front = new PanelFront();
  front.know((terminal) => terminals.userOf(terminal));
  const request = async (type: string, id: string, data: object = {}) => {
    const { isTrusted = true, showsTerminals = false } = options;
    const answer = answerTerminalRequest(
      terminals,
      { isTrusted: () => isTrusted, showsTerminals: () => showsTerminals, front, answers: async () => options.isThere ?? true },
      { type, id, data: data as Record<string, unknown> },
    );
    return answer?.catch((error: Error & { code?: string }) => ({ error: error.message, code: error.code }));
  };
  const ofType = (type: string) => notices.filter((notice) => notice.type === type).map((notice) => notice.data);
  return { terminals, notices, ofType, request, sink };
}

/** A terminal `t1` whose shell can be read. */
async function readable(world = terminalsWith()) {
  await world.request('create_terminal', 't1', { terminalName: 'tests' });
  const terminal = editor.terminal('tests');
  const integration = terminal.integrate('/work/app');
  return { ...world, terminal, integration };
}

function execution(integration: { executions: FakeExecution[] }): FakeExecution {
  const last = integration.executions.at(-1);
  if (last === undefined) {
    throw new Error('nothing was executed');
  }
  return last;
}

describe('create_terminal', () => {
  test('opens a terminal whose id is that of the request', async () => {
    const { request } = terminalsWith({ showsTerminals: true });
    const data = { terminalName: 'tests', cwd: '/work', env: { A: 'b', C: 7 }, shell: '/bin/zsh' };
    expect(await request('create_terminal', 'r1', data)).toEqual({
      type: 'terminal_created',
      data: { terminalId: 'r1', terminalName: 'tests', pid: 4242 },
    });
    expect(editor.terminal('tests').creationOptions).toMatchObject({ cwd: '/work', env: { A: 'b' }, shellPath: '/bin/zsh' });
    expect(editor.terminal('tests').shown).toEqual([{ preserveFocus: true }]);
  });

  test('names those that have no name', async () => {
    const { request } = terminalsWith();
    await request('create_terminal', 'r1');
    await request('create_terminal', 'r2', { terminalName: '\n', shell: '/usr/bin/zsh' });
    expect(editor.terminals.map((terminal) => terminal.name)).toEqual(['agent: bash 1', 'agent: zsh 2']);
    expect(editor.terminals[0]?.shown).toEqual([]);
  });

  test('does nothing in an untrusted workspace, as every request', async () => {
    const { request } = terminalsWith({ isTrusted: false });
    for (const type of ['create_terminal', 'execute', 'send_text', 'show_terminal', 'close_terminal']) {
      expect(await request(type, 'r', { command: 'ls', terminalId: 'r', text: 'x' })).toMatchObject({ code: 'untrusted' });
    }
    expect(editor.terminals).toEqual([]);
  });

  test('is bounded, and an id is used once', async () => {
    const { request } = terminalsWith();
    for (let index = 0; index < 100; index += 1) {
      await request('create_terminal', `r${index}`);
    }
    expect(await request('create_terminal', 'more')).toMatchObject({ code: 'too_many' });
    expect(await request('create_terminal', 'r0')).toMatchObject({ error: 'Terminal r0 exists' });
  });
});

describe('what comes to the front', () => {
  const always = () => terminalsWith({ showsTerminals: true });

  test('an agent’s terminal over another agent’s', async () => {
    const { request } = always();
    await request('create_terminal', 'a', { terminalName: 'a' });
    await request('create_terminal', 'b', { terminalName: 'b' });
    expect(window.activeTerminal).toBe(editor.terminal('b'));
    await request('show_terminal', 'r', { terminalId: 'a' });
    expect(window.activeTerminal).toBe(editor.terminal('a'));
  });

  test('nothing over a terminal of the person, shared or not', async () => {
    const { terminals, request } = always();
    const own = window.createTerminal({ name: 'own' });
    own.show();
    await request('create_terminal', 'a', { terminalName: 'a' });
    await terminals.share(own as never);
    await request('show_terminal', 'r', { terminalId: 'a' });
    expect(window.activeTerminal).toBe(own);
    expect(editor.terminal('a').shown).toEqual([]);
    expect(own.shown.at(-1)).toEqual({ preserveFocus: true });
  });

  test('nothing over an agent’s terminal in which the person runs a command, or just did', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { request, terminal } = await readable(always());
    const typed = new FakeExecution(terminal, 'less log');
    typed.start();
    vi.advanceTimersByTime(60_000);
    await request('create_terminal', 'a', { terminalName: 'a' });
    expect(window.activeTerminal).toBe(terminal);
    typed.end(0);
    const short = new FakeExecution(terminal, 'pwd');
    short.start();
    short.end(0);
    await request('create_terminal', 'b', { terminalName: 'b' });
    expect(window.activeTerminal).toBe(terminal);
    vi.advanceTimersByTime(10_000);
    await request('create_terminal', 'c', { terminalName: 'c' });
    expect(window.activeTerminal).toBe(editor.terminal('c'));
  });
});

describe('execute without capture', () => {
  test('types the command and confirms it', async () => {
    const { request } = terminalsWith();
    await request('create_terminal', 't1');
    expect(await request('execute', 'r2', { terminalId: 't1', command: 'npm run build' })).toEqual({
      type: 'success',
      data: { output: 'Command executed: npm run build' },
    });
    expect(editor.terminals[0]?.sent).toEqual([{ text: 'npm run build', enter: true }]);
  });

  test('opens a terminal where none is named', async () => {
    const { request } = terminalsWith();
    await request('execute', 'r1', { command: 'ls' });
    await request('execute', 'r2', { command: 'pwd', terminalId: 'r1' });
    expect(editor.terminals).toHaveLength(1);
    expect(editor.terminals[0]?.sent.map(({ text }) => text)).toEqual(['ls', 'pwd']);
  });

  test('names what is missing', async () => {
    const { request } = terminalsWith();
    expect(await request('execute', 'r', { command: 'ls', terminalId: 'non-existing-id' })).toEqual({
      error: 'Terminal non-existing-id not found',
      code: 'not_found',
    });
    expect(await request('execute', 'r', { terminalId: 't' })).toMatchObject({ error: 'command is missing' });
    expect(await request('fly', 'r')).toBeUndefined();
  });
});

describe('execute with capture', () => {
  test('answers once it runs, then reports output, then the end', async () => {
    const { request, notices, integration } = await readable();
    notices.length = 0;
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'make', capture: true });
    await settled();
    expect(execution(integration).command).toBe('make');
    // Printed before the shell reported the start, as fast commands do.
    execution(integration).print('early ');
    await settled();
    expect(notices).toEqual([]);
    execution(integration).start();
    expect(await reply).toEqual({ type: 'success', data: { executionId: 'x1' } });
    execution(integration).print('late');
    await settled();
    execution(integration).end(2);
    await settled();
    expect(notices).toEqual([
      { type: 'execution_output', data: { terminalId: 't1', executionId: 'x1', at: 0, data: 'early ' } },
      { type: 'execution_output', data: { terminalId: 't1', executionId: 'x1', at: 6, data: 'late' } },
      { type: 'execution_ended', data: { terminalId: 't1', executionId: 'x1', exitCode: 2, cwd: '/work/app' } },
    ]);
  });

  test('a command that is over before it is reported is captured too', async () => {
    const { request, ofType, integration } = await readable();
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'true', capture: true });
    await settled();
    execution(integration).print('all of it');
    execution(integration).end(0);
    expect(await reply).toMatchObject({ type: 'success' });
    await settled();
    expect(ofType('execution_output').map(({ data }) => data)).toEqual(['all of it']);
    expect(ofType('execution_ended')).toMatchObject([{ exitCode: 0 }]);
  });

  test('an exit code that the shell does not report is null', async () => {
    const { request, ofType, integration } = await readable();
    const reply = request('execute', 'x1', { terminalId: 't1', command: '(exit 42)', capture: true });
    await settled();
    execution(integration).end(undefined);
    await reply;
    await settled();
    expect(ofType('execution_ended')).toMatchObject([{ exitCode: null }]);
  });

  test('a command whose end the shell did not mark is over when the server has seen so', async () => {
    const { request, ofType, integration } = await readable();
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'unset PROMPT_COMMAND', capture: true });
    await settled();
    execution(integration).start();
    await reply;
    await settled();
    expect(await request('end_execution', 'r', { terminalId: 't1', executionId: 'x0' })).toMatchObject({ type: 'success' });
    expect(ofType('execution_ended')).toEqual([]);
    expect(await request('end_execution', 'r', { terminalId: 't1', executionId: 'x1' })).toMatchObject({ type: 'success' });
    expect(ofType('execution_ended')).toMatchObject([{ executionId: 'x1', exitCode: null }]);
    const next = request('execute', 'x2', { terminalId: 't1', command: 'true', capture: true });
    await settled();
    execution(integration).start();
    expect(await next).toMatchObject({ type: 'success' });
  });

  test('the next command can only run when the first is over', async () => {
    const { request, integration } = await readable();
    const first = request('execute', 'x1', { terminalId: 't1', command: 'sleep 9', capture: true });
    await settled();
    execution(integration).start();
    await first;
    expect(await request('execute', 'x2', { terminalId: 't1', command: 'ls', capture: true })).toMatchObject({ code: 'busy' });
    execution(integration).end(0);
    await settled();
    const third = request('execute', 'x3', { terminalId: 't1', command: 'ls', capture: true });
    await settled();
    execution(integration).start();
    expect(await third).toMatchObject({ data: { executionId: 'x3' } });
    expect(integration.executions.map(({ command }) => command)).toEqual(['sleep 9', 'ls']);
  });

  test('a command of the person is not interrupted, whether it runs before sharing or after', async () => {
    const { terminals, request, ofType } = terminalsWith();
    const own = window.createTerminal({ name: 'zsh' });
    const integration = own.integrate();
    const loop = new FakeExecution(own, 'while read -r line; do :; done');
    loop.start();
    await terminals.share(own as never);
    const terminalId = String(ofType('terminal_shared')[0]?.['terminalId']);
    const attempt = (id: string) => request('execute', id, { terminalId, command: 'ls', capture: true });
    expect(await attempt('x1')).toMatchObject({ code: 'busy' });
    loop.end(0);
    const other = new FakeExecution(own, 'wait');
    other.start();
    expect(await attempt('x2')).toMatchObject({ code: 'busy' });
    expect(integration.executions).toEqual([]);
    other.end(0);
    const reply = attempt('x3');
    await settled();
    execution(integration).start();
    expect(await reply).toMatchObject({ data: { executionId: 'x3' } });
  });

  test('a command that the person starts while the shell is waited for is not interrupted', async () => {
    const { request } = terminalsWith();
    await request('create_terminal', 't1', { terminalName: 'slow' });
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'ls', capture: true });
    await settled();
    const terminal = editor.terminal('slow');
    new FakeExecution(terminal, 'make').start();
    const integration = terminal.integrate();
    expect(await reply).toMatchObject({ code: 'busy' });
    expect(integration.executions).toEqual([]);
  });

  test('waits for a shell that starts slowly', async () => {
    const { request } = terminalsWith();
    await request('create_terminal', 't1', { terminalName: 'slow' });
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'ls', capture: true });
    await settled();
    const integration = editor.terminal('slow').integrate();
    await settled();
    execution(integration).start();
    expect(await reply).toMatchObject({ type: 'success' });
  });

  test('a shell that never reports itself is named within a bounded time, and nothing ran', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { request } = terminalsWith();
    await request('create_terminal', 't1', { terminalName: 'dash' });
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'ls', capture: true });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await reply).toMatchObject({ code: 'no_integration' });
    expect(editor.terminal('dash').sent).toEqual([]);
    // One that is known to be slow is not waited for so long again.
    const again = request('execute', 'x2', { terminalId: 't1', command: 'ls', capture: true });
    await vi.advanceTimersByTimeAsync(500);
    expect(await again).toMatchObject({ code: 'no_integration' });
    expect(vi.getTimerCount()).toBe(0);
  });

  describe('where the editor does not report what was expected', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
    afterEach(() => void vi.useRealTimers());

    async function typed(command = 'make') {
      const world = await readable();
      const reply = world.request('execute', 'x1', { terminalId: 't1', command, capture: true });
      await settled();
      expect(world.integration.executions).toHaveLength(1);
      return { ...world, reply };
    }

    test('another execution that starts is the command', async () => {
      const { request, reply, ofType, terminal } = await typed(' make  ');
      const replacement = new FakeExecution(terminal, 'make');
      replacement.start();
      expect(await reply).toMatchObject({ type: 'success' });
      replacement.print('built');
      await settled();
      replacement.end(3);
      await settled();
      expect(ofType('execution_output').map(({ data }) => data)).toEqual(['built']);
      expect(ofType('execution_ended')).toMatchObject([{ executionId: 'x1', exitCode: 3 }]);
      expect(vi.getTimerCount()).toBe(0);
      expect(await request('send_text', 'r', { terminalId: 't1', text: 'x' })).toMatchObject({ type: 'success' });
    });

    test('the reply comes within a second, and a start that comes later counts', async () => {
      const { reply, ofType, terminal } = await typed();
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await reply).toMatchObject({ type: 'success' });
      await settled();
      const late = new FakeExecution(terminal, 'make');
      late.start();
      late.print('built');
      await settled();
      late.end(0);
      await settled();
      expect(ofType('execution_output').map(({ data }) => data)).toEqual(['built']);
      expect(ofType('execution_ended')).toMatchObject([{ exitCode: 0 }]);
    });

    test('what never starts, as a comment, is over and does not run for ever', async () => {
      const { reply, ofType } = await typed('# nothing');
      await vi.advanceTimersByTimeAsync(1_000);
      await reply;
      await settled();
      await vi.advanceTimersByTimeAsync(8_999);
      expect(ofType('execution_ended')).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      await settled();
      expect(ofType('execution_ended')).toMatchObject([{ executionId: 'x1', exitCode: null }]);
      expect(vi.getTimerCount()).toBe(0);
    });

    test('a new prompt without an end is the end, and the terminal can be used again', async () => {
      const { request, reply, ofType, integration } = await typed('exit 4');
      const first = execution(integration);
      first.start();
      await reply;
      await settled();
      first.print('\x1b]633;C\x07exit\r\n');
      first.print('\x1bc\x1b]633;');
      first.print('A\x07$ \x1b]633;B\x07');
      await settled();
      await vi.advanceTimersByTimeAsync(1_000);
      await settled();
      // The editor never ends what it prints of it.
      await vi.advanceTimersByTimeAsync(2_000);
      await settled();
      expect(ofType('execution_ended')).toMatchObject([{ exitCode: null }]);
      const next = request('execute', 'x2', { terminalId: 't1', command: 'ls', capture: true });
      await settled();
      execution(integration).start();
      expect(await next).toMatchObject({ data: { executionId: 'x2' } });
    });

    test('the prompts between the lines of a command are not its end', async () => {
      const { reply, ofType, integration } = await typed('sleep 1\nsleep 5');
      const both = execution(integration);
      both.start();
      await reply;
      await settled();
      both.print('\x1b]633;D;0\x07\x1b]633;A\x07$ \x1b]633;B\x07');
      await settled();
      await vi.advanceTimersByTimeAsync(500);
      both.print('\x1b]633;C\x07');
      await settled();
      await vi.advanceTimersByTimeAsync(5_000);
      expect(ofType('execution_ended')).toEqual([]);
      both.end(0);
      await settled();
      expect(ofType('execution_ended')).toMatchObject([{ exitCode: 0 }]);
    });
  });

  test('nothing is typed into a terminal that was opened just now: the editor would restart a shell that fails so early', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { request, integration } = await readable(terminalsWith({ launchMs: 600 }));
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'exit 4', capture: true });
    await vi.advanceTimersByTimeAsync(599);
    expect(integration.executions).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    execution(integration).start();
    expect(await reply).toMatchObject({ type: 'success' });
  });

  test('a terminal that is closed meanwhile answers all the same', async () => {
    const { request, terminal, integration, ofType } = await readable();
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'exit', capture: true });
    await settled();
    expect(integration.executions).toHaveLength(1);
    terminal.exitStatus = { code: 0, reason: TerminalExitReason.Process };
    terminal.dispose();
    expect(await reply).toMatchObject({ type: 'success' });
    expect(ofType('terminal_closed')).toEqual([{ terminalId: 't1', exitCode: 0 }]);
    expect(ofType('execution_ended')).toEqual([]);
  });

  test('output is not read on while the server does not take it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { request, ofType, integration, sink } = await readable();
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'yes', capture: true });
    await settled();
    execution(integration).start();
    await reply;
    sink.unsent = 100_000_000;
    for (let count = 0; count < 5; count += 1) {
      execution(integration).print(`chunk ${count}`);
    }
    await settled();
    expect(ofType('execution_output')).toHaveLength(1);
    sink.unsent = 0;
    await vi.advanceTimersByTimeAsync(20);
    expect(ofType('execution_output')).toHaveLength(5);
  });
});

describe('the other requests', () => {
  test('send_text types as it is, show_terminal shows without the focus', async () => {
    const { request, terminal } = await readable();
    expect(await request('send_text', 'r', { terminalId: 't1', text: '\x03' })).toEqual({ type: 'success', data: {} });
    expect(terminal.sent).toEqual([{ text: '\x03', enter: false }]);
    await request('show_terminal', 'r', { terminalId: 't1' });
    expect(terminal.shown).toEqual([{ preserveFocus: true }]);
  });

  test('close_terminal closes, once', async () => {
    const { request, ofType, terminal } = await readable();
    expect(await request('close_terminal', 'r', { terminalId: 't1' })).toEqual({
      type: 'success',
      data: { output: 'Terminal t1 closed' },
    });
    expect(terminal.isClosed).toBe(true);
    expect(ofType('terminal_closed')).toEqual([{ terminalId: 't1', exitCode: null }]);
    expect(await request('close_terminal', 'r', { terminalId: 't1' })).toMatchObject({ error: 'Terminal t1 not found' });
  });
});

describe('sharing', () => {
  test('names a terminal of the person until it is taken back', async () => {
    const { terminals, request, notices, ofType } = terminalsWith();
    const own = window.createTerminal({ name: 'zsh' });
    const other = window.createTerminal({ name: 'private' });
    own.integrate('/home/dev');
    other.integrate('/home/dev');
    expect(notices).toEqual([]);
    await terminals.share(own as never);
    await terminals.share(own as never);
    const [shared, ...more] = ofType('terminal_shared');
    expect(more).toEqual([]);
    expect(shared).toMatchObject({ terminalName: 'zsh', pid: 4242, cwd: '/home/dev', shell: 'bash' });
    const terminalId = String(shared?.['terminalId']);
    expect(terminals.shared()).toEqual([{ terminalId, name: 'zsh' }]);

    await request('send_text', 'r', { terminalId, text: 'ls' });
    expect(own.sent).toEqual([{ text: 'ls', enter: false }]);
    expect(await request('close_terminal', 'r', { terminalId })).toMatchObject({ code: 'not_yours' });
    expect(own.isClosed).toBe(false);

    terminals.unshare(own as never);
    expect(ofType('terminal_unshared')).toEqual([{ terminalId }]);
    expect(await request('send_text', 'r', { terminalId, text: 'ls' })).toMatchObject({ code: 'not_found' });
    own.dispose();
    other.dispose();
    expect(ofType('terminal_closed')).toEqual([]);
    expect(JSON.stringify(notices)).not.toContain('private');
  });

  test('a new server is told again what it may use', async () => {
    const { terminals, notices, ofType, terminal } = await readable();
    const own = window.createTerminal({ name: 'zsh' });
    await terminals.share(own as never);
    notices.length = 0;
    await terminals.online();
    expect(ofType('terminal_shared')).toMatchObject([{ terminalName: 'zsh' }]);
    expect(ofType('terminal_integration')).toEqual([{ terminalId: 't1', shell: 'bash', cwd: '/work/app' }]);
    expect(terminal.isClosed).toBe(false);
  });

  test('a process that never has a number is not waited for', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { terminals, ofType } = terminalsWith();
    const own = window.createTerminal({ name: 'zsh' });
    own.processId = new Promise(() => undefined);
    const shared = terminals.share(own as never);
    await vi.advanceTimersByTimeAsync(5_000);
    await shared;
    expect(ofType('terminal_shared')).toMatchObject([{ terminalName: 'zsh' }]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a server that was away', () => {
  test('gets the output and the end of the last command again, before anything else', async () => {
    const { terminals, request, notices, integration } = await readable();
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'make', capture: true });
    await settled();
    execution(integration).start();
    await reply;
    execution(integration).print('one 😀 ');
    execution(integration).print('two');
    await settled();
    notices.length = 0;
    await terminals.online();
    expect(notices).toEqual([
      { type: 'terminal_resumed', data: { terminalId: 't1', windows: ['w1'], executionId: 'x1', isRunning: true } },
      { type: 'execution_output', data: { terminalId: 't1', executionId: 'x1', at: 0, data: 'one 😀 ' } },
      { type: 'execution_output', data: { terminalId: 't1', executionId: 'x1', at: 7, data: 'two' } },
      { type: 'terminal_integration', data: { terminalId: 't1', shell: 'bash', cwd: '/work/app' } },
    ]);
    execution(integration).end(4);
    await settled();
    notices.length = 0;
    await terminals.online();
    expect(notices.map(({ type }) => type)).toEqual([
      'terminal_resumed',
      'execution_output',
      'execution_output',
      'execution_ended',
      'terminal_integration',
    ]);
    expect(notices[0]?.data).toEqual({ terminalId: 't1', windows: ['w1'], executionId: 'x1', isRunning: false });
    expect(notices[3]?.data).toEqual({ terminalId: 't1', executionId: 'x1', exitCode: 4, cwd: '/work/app' });
  });

  test('gets no more than what is kept, from the right place on', async () => {
    const { terminals, request, notices, integration } = await readable();
    const reply = request('execute', 'x1', { terminalId: 't1', command: 'yes', capture: true });
    await settled();
    execution(integration).start();
    await reply;
    for (let index = 0; index < 10; index += 1) {
      execution(integration).print('y'.repeat(100_000));
    }
    await settled();
    notices.length = 0;
    await terminals.online();
    const output = notices.filter(({ type }) => type === 'execution_output').map(({ data }) => data);
    expect(output.map(({ at }) => at)).toEqual([700_000, 800_000, 900_000]);
  });

  test('that does not know a terminal leaves it to the person', async () => {
    const { terminals, notices, terminal } = await readable();
    expect(terminals.created()).toMatchObject([{ name: 'tests', running: '' }]);
    terminals.disown('t1');
    terminals.disown('nothing');
    expect(terminals.created()).toEqual([]);
    expect(terminals.ids()).toEqual([]);
    notices.length = 0;
    terminal.dispose();
    expect(notices).toEqual([]);
  });
});

test('people see who has a terminal and what runs in it', async () => {
  const { terminals, request } = terminalsWith();
  const changed = vi.fn();
  terminals.onDidChange(changed);
  await request('create_terminal', 't1', { terminalName: 'tests', agent: 'claude\x1b[31m-code' });
  const integration = editor.terminal('tests').integrate();
  expect(changed).toHaveBeenCalledTimes(1);
  const reply = request('execute', 'x1', { terminalId: 't1', command: "eval $'a'", shown: 'a', capture: true });
  await settled();
  execution(integration).start();
  await reply;
  expect(terminals.created()).toMatchObject([{ agent: expect.stringMatching(/^claude.*-code$/) as string, running: 'a' }]);
  execution(integration).end(0);
  await settled();
  expect(terminals.created()).toMatchObject([{ running: '' }]);
  expect(changed).toHaveBeenCalledTimes(3);
});

test('a thousand terminals, one after the other, leave nothing', { timeout: 120_000 }, async () => {
  const { terminals, request, ofType } = terminalsWith();
  const before = editor.listenerCount();
  for (let index = 0; index < 1_000; index += 1) {
    await request('create_terminal', `t${index}`, { terminalName: `t${index}` });
    const integration = editor.terminals[0]?.integrate();
    const reply = request('execute', `x${index}`, { terminalId: `t${index}`, command: 'true', capture: true });
    await settled();
    integration?.executions[0]?.end(0);
    await reply;
    await settled();
    await request('close_terminal', 'c', { terminalId: `t${index}` });
  }
  expect(ofType('execution_ended')).toHaveLength(1_000);
  expect(ofType('terminal_closed')).toHaveLength(1_000);
  expect(editor.terminals).toEqual([]);
  expect(editor.listenerCount()).toBe(before);
  expect((terminals as unknown as { known: Map<string, unknown> }).known.size).toBe(0);
});

test('disposing ends what runs and listens to nothing', async () => {
  const { terminals, request, integration, notices } = await readable();
  const reply = request('execute', 'x1', { terminalId: 't1', command: 'sleep 9', capture: true });
  await settled();
  terminals.dispose();
  await reply;
  notices.length = 0;
  execution(integration).end(0);
  editor.terminal('tests').dispose();
  await settled();
  expect(notices).toEqual([]);
  expect(editor.listenerCount()).toBe(0);
});

describe('a window that is cut off', () => {
  test('is given nothing that it would do later', async () => {
    const { request } = terminalsWith({ isThere: false });
    for (const type of ['create_terminal', 'execute', 'send_text', 'close_terminal']) {
      expect(await request(type, 'r1', { terminalId: 't1', command: 'make', text: 'y', capture: true })).toMatchObject({ code: 'away' });
    }
    expect(editor.terminals).toEqual([]);
  });

  test('runs a command later: it is not over meanwhile, and its start is not that of the next', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    let comeBack: () => void = () => undefined;
    const returned = new Promise<void>((resolve) => (comeBack = resolve));
    const { request, ofType, integration, terminals } = await readable(terminalsWith({ returned }));
    const first = request('execute', 'x1', { terminalId: 't1', command: 'one', capture: true });
    await vi.advanceTimersByTimeAsync(60_000);
    await first;
    expect(ofType('execution_ended')).toEqual([]);
    comeBack();
    await vi.advanceTimersByTimeAsync(0);
    expect(ofType('execution_ended')).toEqual([]);
    // It never comes all the same.
    await vi.advanceTimersByTimeAsync(30_000);
    expect(ofType('execution_ended')).toMatchObject([{ executionId: 'x1', exitCode: null }]);

    const second = request('execute', 'x2', { terminalId: 't1', command: 'two', capture: true });
    await vi.advanceTimersByTimeAsync(10);
    const [one, two] = integration.executions;
    one?.start();
    one?.end(51);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(ofType('execution_ended')).toHaveLength(1);
    two?.start();
    two?.end(52);
    await vi.advanceTimersByTimeAsync(2_000);
    await second;
    expect(ofType('execution_ended')[1]).toMatchObject({ executionId: 'x2', exitCode: 52 });
    terminals.dispose();
  });
});

describe('a window that is loaded anew', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
  afterEach(() => void vi.useRealTimers());

  /** The processes that run. */
  const living = new Set<number>();
  beforeEach(() => {
    living.add(4242);
    const kill = vi.spyOn(process, 'kill').mockImplementation((pid) => {
      if (!living.has(pid)) {
        throw Object.assign(new Error('no such process'), { code: 'ESRCH' });
      }
      return true;
    });
    onTestFinished(() => kill.mockRestore());
  });

  /** What stands in the terminal for the command `make` of an agent. */
  const TYPED = "eval $'make'";

  /** A window with a terminal `t1` that is loaded anew. */
  async function reloaded(run: (integration: { executions: FakeExecution[] }, request: (id: string) => Promise<unknown>) => Promise<void>) {
    const folder = path.join(temporaryFolder(), 'terminals');
    const before = await readable(terminalsWith({ folder }));
    expect(before.terminal.creationOptions.isTransient).toBe(undefined);
    await run(before.integration, async (id) => before.request('execute', id, { terminalId: 't1', command: TYPED, shown: 'make', capture: true }));
    await settled();
    // The editor closes its terminals for a reload, and restores them later.
    before.terminal.exitStatus = { code: undefined, reason: TerminalExitReason.Shutdown };
    before.terminal.dispose();
    expect(before.ofType('terminal_closed')).toEqual([]);
    before.terminals.dispose();
    await settled();
    editor.reset();
    return { ...terminalsWith({ folder, window: 'w2' }), folder };
  }

  test('has its terminals again once the editor has restored them, and goes on with a command', async () => {
    const { terminals, ofType, request, notices, folder } = await reloaded(async (integration, run) => {
      const running = run('x1');
      await vi.waitFor(() => expect(integration.executions).toHaveLength(1));
      execution(integration).start();
      await running;
    });
    expect(terminals.ids()).toEqual([]);
    await terminals.online();
    expect(notices).toEqual([]);
    editor.restore('other', 1);
    await settled();
    expect(ofType('terminal_resumed')).toEqual([]);
    const terminal = editor.restore('tests', 4242);
    terminal.integrate('/work/app');
    await settled();
    await settled();
    expect(terminals.ids()).toEqual(['t1']);
    expect(ofType('terminal_resumed')).toEqual([{ terminalId: 't1', windows: ['w1', 'w2'], executionId: 'x1', isRunning: true, isReloaded: true }]);
    expect(readdirSync(folder)).toEqual(['w2.json']);
    expect(ofType('terminal_integration')).toHaveLength(1);
    expect(terminals.created()).toMatchObject([{ terminalId: 't1', name: 'tests', running: 'make' }]);
    expect(await request('execute', 'x2', { terminalId: 't1', command: 'ls', capture: true })).toMatchObject({ code: 'busy' });

    // The editor reports nothing of a command that began before; the kernel tells the server.
    void request('end_execution', 'r2', { terminalId: 't1', executionId: 'x1' });
    // It may tell a moment later all the same.
    await vi.advanceTimersByTimeAsync(900);
    expect(ofType('execution_ended')).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(ofType('execution_ended')).toEqual([{ terminalId: 't1', executionId: 'x1', exitCode: null, cwd: '/work/app' }]);
    expect(terminals.created()).toMatchObject([{ running: '' }]);
    terminals.dispose();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('knows how a command ended that ran meanwhile, where the editor says so', async () => {
    for (const [line, exitCode] of [[`${TYPED}begun12345`, 7], ['something else', null]] as const) {
      const { terminals, ofType } = await reloaded(async (integration, run) => {
        const running = run('x1');
        await vi.waitFor(() => expect(integration.executions).toHaveLength(1));
        execution(integration).start();
        await running;
      });
      const terminal = editor.restore('tests', 4242);
      terminal.integrate('/work/app');
      await settled();
      await settled();
      // It takes the rest of the command for the beginning of one: its line is all that stands behind the prompt.
      const rest = new FakeExecution(terminal, line);
      rest.start();
      rest.end(7);
      expect(ofType('execution_ended')).toEqual([{ terminalId: 't1', executionId: 'x1', exitCode, cwd: '/work/app' }]);
      terminals.dispose();
      editor.reset();
    }
  });

  test('the end of one command is not that of the next', async () => {
    const { terminals, ofType, request } = await reloaded(async (integration, run) => {
      const running = run('x1');
      await vi.waitFor(() => expect(integration.executions).toHaveLength(1));
      execution(integration).start();
      await running;
    });
    const terminal = editor.restore('tests', 4242);
    const integration = terminal.integrate('/work/app');
    await settled();
    await settled();
    void request('end_execution', 'r2', { terminalId: 't1', executionId: 'x1' });
    await vi.advanceTimersByTimeAsync(200);
    const rest = new FakeExecution(terminal, `${TYPED}begun`);
    rest.start();
    rest.end(7);
    expect(ofType('execution_ended')).toHaveLength(1);
    const reply = request('execute', 'x2', { terminalId: 't1', command: 'sleep 60', capture: true });
    await vi.advanceTimersByTimeAsync(100);
    execution(integration).start();
    expect(await reply).toMatchObject({ data: { executionId: 'x2' } });
    await vi.advanceTimersByTimeAsync(2_000);
    await settled();
    expect(ofType('execution_ended')).toHaveLength(1);
    terminals.dispose();
  });

  test('reports a command again that had ended', async () => {
    const { terminals, ofType } = await reloaded(async (integration, run) => {
      const running = run('x1');
      await vi.waitFor(() => expect(integration.executions).toHaveLength(1));
      execution(integration).start();
      execution(integration).end(3);
      await running;
      await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
    });
    editor.restore('tests', 4242);
    await settled();
    await settled();
    expect(ofType('terminal_resumed')).toMatchObject([{ terminalId: 't1', executionId: 'x1', isRunning: false, isReloaded: true }]);
    expect(ofType('execution_ended')).toMatchObject([{ executionId: 'x1', exitCode: 3 }]);
    terminals.dispose();
  });

  test('leaves terminals alone that appear in another window', async () => {
    const { terminals, ofType, folder } = await reloaded(async () => undefined);
    // A third window starts while none has been restored yet, and two more reloads follow.
    const third = terminalsWith({ folder, window: 'w3' });
    third.terminals.dispose();
    terminals.dispose();
    expect(ofType('terminal_resumed')).toEqual([]);
    const fourth = terminalsWith({ folder, window: 'w4' });
    editor.restore('tests', 4242);
    await settled();
    await settled();
    expect(fourth.ofType('terminal_resumed')).toMatchObject([{ terminalId: 't1', windows: ['w1', 'w4'] }]);
    fourth.terminals.disown('t1');
    expect(readdirSync(folder)).toEqual([]);
    fourth.terminals.dispose();
  });

  test('gives up those that do not come, and forgets those whose process has ended', async () => {
    const { terminals, ofType, folder } = await reloaded(async () => undefined);
    await vi.advanceTimersByTimeAsync(20_000);
    editor.restore('tests', 4242);
    await settled();
    await settled();
    expect(ofType('terminal_resumed')).toEqual([]);
    terminals.dispose();
    expect(readdirSync(folder)).toEqual(['w1.json']);
    expect(statSync(path.join(folder, 'w1.json')).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    living.clear();
    terminalsWith({ folder, window: 'w3' }).terminals.dispose();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('what is no record is no terminal', async () => {
    const { terminals, folder } = await reloaded(async () => undefined);
    terminals.dispose();
    // Neither is a folder, which stays, nor what leads nowhere.
    symlinkSync('round.json', path.join(folder, 'round.json'));
    mkdirSync(path.join(folder, 'w0.json', 'in'), { recursive: true });
    for (const text of ['', '{', '7', '[7]', '[{"terminalId": "t1"}]', '[{"terminalId": "t1", "pid": 4242}]']) {
      writeFileSync(path.join(folder, 'w1.json'), text);
      const { terminals: next, ofType } = terminalsWith({ folder, window: 'w2' });
      editor.restore('tests', 4242);
      await settled();
      expect(ofType('terminal_resumed')).toEqual([]);
      next.dispose();
      editor.reset();
    }
  });
});
