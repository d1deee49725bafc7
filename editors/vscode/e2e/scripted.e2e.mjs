// The extension in a real VS Code against a scripted server: every message of the protocol that a person can see or cause.

import assert from 'node:assert/strict';
import { ScriptedServer, wireRow } from '../test/scriptedServer.ts';
import { startEditor, until } from './harness.mjs';

export async function setUp(target) {
  const editor = await startEditor(target, { name: 'scripted' });
  const server = await new ScriptedServer(editor.runtime).listen();
  const window = await editor.openWindow('app');
  return { editor, server, window, windows: [window], peer: await server.nextPeer() };
}

export async function tearDown({ editor, server }) {
  await server.close();
  await editor.close();
}

const row = (fields) => wireRow('s1', { title: 'build the parser', cols: 100, rows: 12, created: Date.now(), ...fields });

export const steps = {
  'the window says hello': async ({ peer, window }) => {
    const { data } = await peer.next('hello');
    assert.equal(data.protocol, 1);
    assert.deepEqual(data.folders, [window.folder]);
    assert.equal(data.trusted, true);
    assert.deepEqual(data.settings, {});
    await window.waitForStatus(/termbridge: 0 sessions/);
    await window.screenshot('connected');
  },

  'a session appears as a terminal, with its screen': async (world) => {
    const { peer, window } = world;
    peer.notify('session', row({ running: 'cargo build' }));
    const watch = await peer.next('watch');
    world.panel = watch.data;
    peer.notify('dump', { sessionId: 's1', cols: 100, rows: 12, data: '\x1b[32mhello\x1b[0m from the dump\r\n' });
    await window.waitForTerminalText('hello from the dump');
    peer.notify('output', { sessionId: 's1', data: '\x1b[1mand more\x1b[0m output\r\n$ ' });
    await window.waitForTerminalText('and more output');
    await window.waitForTerminalName(/build the parser/);
    await window.waitForStatus(/1 session$/);
    await window.screenshot('session');
    return `panel ${watch.data.cols}×${watch.data.rows}`;
  },

  'from the server to the screen': async ({ peer, window }) => {
    const times = [];
    for (let round = 0; round < 20; round += 1) {
      const mark = `mark-${round}-`;
      const seen = window.page.evaluate(
        (text) =>
          new Promise((resolve) => {
            const rows = document.querySelector('.terminal-wrapper.active .xterm-rows');
            const look = () => {
              if (rows.textContent.includes(text)) {
                observer.disconnect();
                resolve(Date.now());
              }
            };
            const observer = new MutationObserver(look);
            observer.observe(rows, { childList: true, subtree: true, characterData: true });
            look();
          }),
        mark,
      );
      // The observer has to be there first.
      await window.page.evaluate(() => undefined);
      const sent = Date.now();
      peer.notify('output', { sessionId: 's1', data: `\r\x1b[K${mark}` });
      times.push((await seen) - sent);
    }
    times.sort((a, b) => a - b);
    const p50 = times[10];
    assert.ok(p50 <= 50, `p50 ${p50} ms`);
    return `p50 ${p50} ms, max ${times.at(-1)} ms`;
  },

  'looking takes nothing over': async ({ peer, window }) => {
    // Queries that the view answers, and reports of focus and mouse: none of it is typing.
    peer.notify('output', { sessionId: 's1', data: '\x1b[c\x1b[>c\x1b[6n\x1b]11;?\x07\x1b[?1004h\x1b[?1003h\x1b[?1006h' });
    peer.notify('output', { sessionId: 's1', data: '\r\nqueries sent\r\n' });
    await window.waitForTerminalText('queries sent');
    await window.page.locator('.terminal-wrapper.active').click();
    await window.focusTerminal();
    await window.page.locator('.terminal-wrapper.active').hover();
    peer.notify('output', { sessionId: 's1', data: '\x1b[?1004l\x1b[?1003l\x1b[?1006l' });
    await window.typeInTerminal('x');
    assert.equal((await peer.next('input')).data.data, 'x');
  },

  'typing arrives and takes over': async ({ peer, window, panel }) => {
    peer.notify('session', row({ driver: 'person', isDriver: true, cols: panel.cols, rows: panel.rows }));
    peer.notify('dump', { sessionId: 's1', ...panel, data: 'you drive\r\n' });
    await window.waitForTerminalName(/you · build the parser/);
    await window.typeInTerminal('ls\n');
    let typed = '';
    while (!typed.endsWith('\r')) {
      typed += (await peer.next('input')).data.data;
    }
    assert.equal(typed, 'ls\r');
    await window.waitForStatus(/you drive/);
    await window.screenshot('you-drive');
  },

  'the view lists it, and hands it back': async ({ peer, window, panel }) => {
    await window.openSessions();
    await until(async () => (await window.sessionTree()).some((label) => /you drive/.test(label)), 'the tree shows who drives', () => window.sessionTree());
    await window.screenshot('tree');
    await window.run('termbridge: Hand Session Back to Its Agent');
    assert.equal((await peer.next('hand_back')).data.sessionId, 's1');
    peer.notify('session', row({}));
    peer.notify('dump', { sessionId: 's1', cols: 60, rows: 8, data: `\x1b[2J\x1b[H${'+'.repeat(60)}\x1b[8;1Hlast row\x1b[H` });
    await window.waitForTerminalText(/^\+{60}\n/);
    await window.waitForTerminalText('last row');
    await window.waitForTerminalName(/^build the parser/);
    const lines = (await window.terminalText()).split('\n');
    assert.equal(lines.length, 8, 'the view has the rows of the session');
    await window.screenshot('own-size');
    return `panel ${panel.cols}×${panel.rows}, view 60×8`;
  },

  'a clipped view is drawn in the whole panel': async ({ peer, window }) => {
    peer.notify('frame', { sessionId: 's1', data: '\x1b[H\x1b[2Jclipped part of a large screen' });
    await window.waitForTerminalText('clipped part');
    peer.notify('frame', { sessionId: 's1', data: '\x1b[H\x1b[2Janother frame' });
    await window.waitForTerminalText(/^another frame$/);
  },

  'a password is typed into the box': async ({ peer, window }) => {
    peer.notify('session', row({ running: 'sudo make install', secret: '[sudo] password for dev:' }));
    const input = window.page.locator('.quick-input-widget:visible input[type=password]');
    await input.waitFor();
    await window.waitForStatus(/password needed/);
    await window.page.keyboard.type('meant for another');
    await window.page.locator('.quick-input-widget:visible').getByText(/sees what it prints\. \(Press/).waitFor();
    assert.equal(await input.inputValue(), '');
    await input.fill('correct horse');
    await window.screenshot('password');
    await window.page.keyboard.press('Enter');
    const { data } = await peer.next('secret');
    assert.deepEqual(data, { sessionId: 's1', text: 'correct horse' });
    peer.notify('session', row({ running: 'sudo make install' }));
    await input.waitFor({ state: 'hidden' });
  },

  'a password box closes when nobody asks any more': async ({ peer, window }) => {
    peer.notify('session', row({ secret: 'Password:' }));
    const input = window.page.locator('.quick-input-widget:visible input[type=password]');
    await input.waitFor();
    peer.notify('session', row({}));
    await input.waitFor({ state: 'hidden' });
  },

  'the end is shown, and Enter closes the terminal': async ({ peer, window }) => {
    peer.notify('dump', { sessionId: 's1', cols: 60, rows: 8, data: 'make: error 2\r\n' });
    peer.notify('ended', { sessionId: 's1', exitCode: 2 });
    peer.notify('session', row({ state: 'exited', exitCode: 2 }));
    await window.waitForTerminalText('ended with exit code 2');
    await window.waitForTerminalName(/✗ build the parser/);
    await window.screenshot('ended');
    // Not at once: whoever types when a session ends goes on for a moment.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await window.typeInTerminal('\n');
    await until(async () => !(await window.terminalNames()).some((name) => /build the parser/.test(name)), 'the terminal is closed');
    peer.notify('session_gone', { sessionId: 's1' });
  },

  'an agent gets a terminal of the editor': async (world) => {
    const { peer, window } = world;
    const reply = await peer.request('create_terminal', { terminalName: 'tests', cwd: window.folder, env: { GREETING: 'hi there' } }, 't1');
    assert.equal(reply.type, 'terminal_created');
    assert.deepEqual({ ...reply.data, pid: undefined }, { terminalId: 't1', terminalName: 'tests', pid: undefined });
    assert.ok(reply.data.pid > 1);
    const integration = await peer.next('terminal_integration');
    assert.equal(integration.data.terminalId, 't1');
    return `shell ${integration.data.shell}`;
  },

  'a command is captured, with its exit code': async ({ peer, window }) => {
    for (const [command, exitCode, output] of [
      ['false', 1, ''],
      ['echo "$GREETING, $PWD"', 0, `hi there, ${window.folder}`],
      ['seq 1 2000 | tail -n 1; sh -c "exit 7"', 7, '2000'],
    ]) {
      const reply = await peer.request('execute', { terminalId: 't1', command, capture: true });
      assert.equal(reply.type, 'success', JSON.stringify(reply));
      const { executionId } = reply.data;
      const ended = await peer.next('execution_ended');
      assert.deepEqual({ ...ended.data, cwd: undefined }, { terminalId: 't1', executionId, exitCode, cwd: undefined });
      const printed = peer.messages.filter((message) => message.type === 'execution_output' && message.data.executionId === executionId);
      assert.ok(printed.map((message) => message.data.data).join('').includes(output), `${command} printed ${JSON.stringify(printed)}`);
    }
    await window.screenshot('captured');
  },

  'a command that runs is not disturbed by another': async ({ peer }) => {
    const first = await peer.request('execute', { terminalId: 't1', command: 'read line; echo "got $line"', capture: true });
    assert.equal(first.type, 'success');
    const second = await peer.request('execute', { terminalId: 't1', command: 'true', capture: true });
    assert.equal(second.data.code, 'busy');
    assert.equal((await peer.request('send_text', { terminalId: 't1', text: 'answer\n' })).type, 'success');
    const ended = await peer.next('execution_ended');
    assert.equal(ended.data.executionId, first.data.executionId);
    const printed = peer.messages.filter((message) => message.type === 'execution_output' && message.data.executionId === first.data.executionId);
    assert.match(printed.map((message) => message.data.data).join(''), /got answer/);
  },

  'a shell without integration is named': async ({ peer }) => {
    const began = Date.now();
    await peer.request('create_terminal', { terminalName: 'plain', shell: '/bin/dash' }, 't2');
    const reply = await peer.request('execute', { terminalId: 't2', command: 'true', capture: true });
    assert.equal(reply.data.code, 'no_integration', JSON.stringify(reply));
    const plain = await peer.request('execute', { terminalId: 't2', command: 'echo plain' });
    assert.deepEqual(plain.data, { output: 'Command executed: echo plain' });
    return `after ${Date.now() - began} ms`;
  },

  'terminals are closed from either side': async ({ peer, window }) => {
    assert.deepEqual((await peer.request('close_terminal', { terminalId: 't1' })).data, { output: 'Terminal t1 closed' });
    assert.equal((await peer.next('terminal_closed')).data.terminalId, 't1');
    assert.equal((await peer.request('close_terminal', { terminalId: 'none' })).data.error, 'Terminal none not found');
    await window.selectTerminal(/plain/);
    await window.typeInTerminal('exit\n');
    assert.equal((await peer.next('terminal_closed')).data.terminalId, 't2');
  },

  'a person shares a terminal, and takes it back': async ({ peer, window }) => {
    await window.run('Terminal: Create New Terminal');
    await window.waitForTerminalName(/bash/);
    await window.waitForTerminalText('app');
    await window.run('termbridge: Share This Terminal with Agents');
    const { data } = await peer.next('terminal_shared');
    assert.ok(data.pid > 1);
    await peer.next('terminal_integration').catch(() => undefined);
    const reply = await peer.request('execute', { terminalId: data.terminalId, command: 'echo shared-$((40 + 2))', capture: true });
    assert.equal(reply.type, 'success', JSON.stringify(reply));
    await peer.next('execution_ended');
    await window.waitForTerminalText('shared-42');
    await window.screenshot('shared');
    await window.run('termbridge: Stop Sharing This Terminal with Agents');
    assert.equal((await peer.next('terminal_unshared')).data.terminalId, data.terminalId);
    return `cwd ${data.cwd}, shell ${data.shell}`;
  },

  'nothing that was shown or typed is in the log': async ({ editor }) => {
    const log = editor.extensionLog();
    assert.match(log, /session s1 waits for a password/);
    assert.doesNotMatch(log, /correct horse|hello from|and more|GREETING|seq 1/);
  },

  'a server that comes again finds the window, and its screen is whole': async (world) => {
    const { peer, window } = world;
    const before = Date.now();
    peer.notify('session', wireRow('s2', { title: 'dev server', created: Date.now() }));
    await peer.next('watch');
    peer.notify('dump', { sessionId: 's2', cols: 80, rows: 24, data: 'first server' });
    await window.showSession('dev server');
    await window.waitForTerminalText('first server');
    await world.server.close();
    await window.waitForStatus(/^[^:]*termbridge$/);
    await window.waitForTerminalName(/offline · dev server/);
    await window.screenshot('offline');
    world.server = await new ScriptedServer(world.editor.runtime, { rows: [wireRow('s2', { title: 'dev server' })] }).listen();
    world.peer = await world.server.nextPeer();
    await world.peer.next('watch');
    world.peer.notify('dump', { sessionId: 's2', cols: 80, rows: 24, data: 'second server' });
    await window.waitForTerminalText(/^second server$/);
    return `${Date.now() - before} ms`;
  },

  'a reloaded window shows it again, once': async (world) => {
    await world.window.page.reload();
    await world.window.waitForExtension();
    world.peer = await world.server.nextPeer();
    await world.peer.next('watch');
    world.peer.notify('dump', { sessionId: 's2', cols: 80, rows: 24, data: 'after the reload' });
    await world.window.showSession('dev server');
    await world.window.waitForTerminalText('after the reload');
    const names = await world.window.terminalNames();
    assert.equal(names.filter((name) => /dev server/.test(name)).length, 1, names.join(', '));
  },
};
