// The extension, a real server and an agent: TERMBRIDGE names the program. Skipped where that server does not speak the editor's
// protocol yet.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { startEditor, until } from './harness.mjs';
import { McpClient } from './mcpClient.mjs';

const PROGRAM = process.env.TERMBRIDGE && path.resolve(process.env.TERMBRIDGE);
const HELLO = { protocol: 1, window: 'probe', editor: 'e2e', version: '0', folders: [], trusted: true, settings: {} };

const TESTS = `import unittest

def parse(text):
    return [int(word) for word in text.split(",")]

class Parser(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(parse("1,2,3"), [1, 2, 3])

    def test_blanks(self):
        self.assertEqual(parse("1, 2"), [1, 2])

    def test_nothing(self):
        self.assertEqual(parse("0"), [])
`;

/** Why the scenario cannot run, or `undefined`. */
export async function skip() {
  if (!PROGRAM) {
    return 'TERMBRIDGE does not name a program';
  }
  const runtime = mkdtempSync(path.join(tmpdir(), 'tb-probe-'));
  try {
    const started = spawnSync(PROGRAM, ['start-server'], { env: { ...process.env, XDG_RUNTIME_DIR: runtime }, encoding: 'utf8' });
    if (started.status !== 0) {
      return `the server does not start: ${started.stderr}`;
    }
    const answer = await probe(path.join(runtime, 'termbridge', 'server.sock'));
    return answer.includes('"welcome"') ? undefined : 'this server does not speak the editor protocol';
  } finally {
    const socket = path.join(runtime, 'termbridge', 'server.sock');
    stopServer(runtime);
    // It removes its socket when it ends.
    await until(() => !existsSync(socket), 'the server has ended');
    rmSync(runtime, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** The second line that the server answers, to a greeting and a hello. */
function probe(socketPath) {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    let text = '';
    socket.write(`{"termbridge":{"protocol":1,"editor":true}}\n${JSON.stringify({ type: 'hello', id: 'e1', data: HELLO })}\n`);
    socket.on('data', (bytes) => {
      text += bytes;
      if (text.split('\n').length > 2) {
        socket.end();
      }
    });
    socket.on('error', () => resolve(text)).on('close', () => resolve(text));
    socket.setTimeout(5_000, () => socket.destroy());
  });
}

function stopServer(runtime, signal = 'SIGTERM') {
  try {
    process.kill(Number(readFileSync(path.join(runtime, 'termbridge', 'server.lock'), 'utf8')), signal);
  } catch {
    // There is none.
  }
}

export async function setUp(target) {
  const editor = await startEditor(target, { name: 'real', settings: { 'termbridge.path': PROGRAM, 'remote.autoForwardPorts': false } });
  const window = await editor.openWindow('app');
  return { editor, window, windows: [window], runtime: path.dirname(editor.runtime) };
}

export async function tearDown({ editor, agent, runtime }) {
  await agent?.close();
  stopServer(runtime);
  await editor.close();
}

export const steps = {
  'the extension starts the server': async ({ window }) => {
    await window.waitForStatus(/0 sessions/);
  },

  'a session of an agent appears, and its output': async (world) => {
    const { window, runtime } = world;
    const env = { ...process.env, XDG_RUNTIME_DIR: runtime };
    world.agent = await McpClient.start(PROGRAM, { cwd: window.folder, env });
    const session = await world.agent.call('create_session', { name: 'demo', cols: 80, rows: 10 });
    world.session = session.session_id;
    await window.waitForTerminalName(/demo/);
    const ran = await world.agent.call('execute_command', { session_id: world.session, command: 'echo "hello from $PWD"' });
    assert.equal(ran.exit_code, 0);
    await window.waitForTerminalText('hello from');
    await window.screenshot('session');
  },

  'a person types, and the agent sees it': async ({ agent, session, window }) => {
    await window.typeInTerminal('echo person-$((40 + 2))\n');
    await window.waitForTerminalText('person-42');
    await window.waitForTerminalName(/you · demo/);
    const screen = await agent.call('view_screen', { session_id: session });
    assert.match(JSON.stringify(screen), /person-42/);
    await window.run('termbridge: Hand Session Back to Its Agent');
    await window.waitForTerminalName(/^demo/);
  },

  'a password reaches the program and no agent': async ({ agent, session, window }) => {
    const command = 'read -r -s -p "Password: " secret; echo; echo "length ${#secret}"';
    const running = agent.call('execute_command', { session_id: session, command });
    const input = window.page.locator('.quick-input-widget:visible input[type=password]');
    await input.waitFor();
    await input.fill('hunter2-secret');
    await window.screenshot('password');
    await window.page.keyboard.press('Enter');
    await window.waitForTerminalText('length 14');
    const answer = JSON.stringify([await running, await agent.call('view_screen', { session_id: session })]);
    assert.ok(!answer.includes('hunter2-secret'));
  },

  'what the README shows': async ({ agent, window }) => {
    writeFileSync(path.join(window.folder, 'test_parser.py'), TESTS);
    const vim = await agent.call('launch_app', {
      ...{ command: 'vim', args: ['-u', 'NONE', '-c', 'syntax on', '-c', 'set number', 'test_parser.py'] },
      ...{ name: 'edit the parser', cols: 100, rows: 14 },
    });
    const tests = await agent.call('create_session', { name: 'run the tests', cols: 100, rows: 14 });
    await window.waitForTerminalName(/run the tests/);
    const ran = await agent.call('execute_command', { session_id: tests.session_id, command: 'python3 -m unittest -v' });
    assert.equal(ran.exit_code, 1);
    await window.openSessions();
    await window.selectTerminal('run the tests');
    await window.waitForTerminalText('FAILED (failures=1)');
    await window.page.mouse.move(700, 300);
    await window.screenshot('readme');
    await Promise.all([vim, tests].map(({ session_id }) => agent.call('stop_app', { session_id })));
  },

  'an agent uses a terminal of the editor': async ({ agent, window }) => {
    const failed = await agent.call('execute_command', { command: 'false', target: 'vscode' });
    assert.equal(failed.exit_code, 1);
    const ran = await agent.call('execute_command', { command: 'echo in-the-editor; pwd', session_id: failed.session_id });
    assert.match(ran.output, /^in-the-editor\n/);
    assert.equal(ran.exit_code, 0);
    const vim = await agent.call('launch_app', { command: 'vim', args: ['-u', 'NONE', 'notes.txt'], target: 'vscode' });
    const { session_id } = vim;
    await agent.call('send_keys', { session_id, keys: 'ihello from vim<Escape>', wait: { text: 'hello from vim' } });
    await window.waitForTerminalText('hello from vim');
    await window.screenshot('editor-terminal');
    await agent.call('send_keys', { session_id, keys: ':q!<Enter>' });
    await agent.call('stop_app', { session_id });
    await agent.call('stop_app', { session_id: failed.session_id });
  },

  'twenty sessions at once': async ({ agent, window }) => {
    const made = Array.from({ length: 20 }, (_, index) => agent.call('create_session', { name: `many-${index}` }));
    const ids = (await Promise.all(made)).map((session) => session.session_id);
    await window.waitForStatus(/21 sessions/);
    // The list has only those rows that can be seen.
    await until(async () => (await window.terminalNames()).filter((name) => /many-/.test(name)).length >= 8, 'their terminals');
    await window.screenshot('twenty');
    await Promise.all(ids.map((session_id) => agent.call('stop_app', { session_id })));
    await window.waitForStatus(/1 session/);
  },

  'a server that is killed comes again with the screen intact': async ({ runtime, window }) => {
    stopServer(runtime, 'SIGKILL');
    await window.waitForTerminalName(/offline · demo/);
    await window.waitForTerminalName(/^demo/);
    await window.selectTerminal('demo');
    await window.waitForTerminalText('length 14');
    await window.screenshot('restarted');
  },

  'the agent ends it': async ({ agent, session, window }) => {
    await agent.call('stop_app', { session_id: session });
    await window.waitForTerminalText('[ended by');
    await until(async () => /0 sessions/.test(await window.statusBar()), 'no session is counted');
  },
};
