// Terminals of the editor that agents use: they outlive a server that is killed, are listed, and take no focus from a person.
// TERMBRIDGE names the program.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { until } from './harness.mjs';
import { startWithAgent, stopServer } from './realServer.mjs';

export { skip, tearDown } from './realServer.mjs';

export function setUp(target) {
  return startWithAgent(target, 'restart');
}

const runsHere = async (agent, session_id) =>
  (await agent.call('list_sessions')).sessions.find((session) => session.session_id === session_id);

export const steps = {
  'a terminal of the editor is listed with its agent, and counted': async (world) => {
    const { agent, window } = world;
    const { session_id } = await agent.call('create_session', { name: 'build', target: 'vscode' });
    world.session = session_id;
    await window.waitForTerminalName(/build/);
    await window.waitForStatus(/1 session\b/);
    await window.openSessions();
    const asking = await agent.call('execute_command', { session_id, command: 'read -r line; echo "got $line"', timeout_ms: 60_000 });
    assert.equal(asking.state, 'needs_input');
    const tree = () => window.sessionTree();
    await until(async () => /build, read -r line.* in the editor/.test((await tree()).join('\n')), 'the view names it', tree);
    await window.screenshot('listed');
    await agent.call('send_keys', { session_id, keys: 'it<Enter>' });
    await agent.call('wait_for', { session_id, prompt: true });
    assert.match((await agent.call('get_terminal_output', { session_id })).output, /got it/);
    await until(async () => /build, in the editor/.test((await tree()).join('\n')), 'nothing runs', tree);
  },

  'a command goes on while the server is killed, and its answer is whole': async (world) => {
    const { agent, window, session, runtime } = world;
    writeFileSync(path.join(window.folder, 'slow.sh'), 'echo begun\nuntil [ -e go ]; do sleep 0.1; done\nseq 5\nexit 7\n');
    const running = agent.call('execute_command', { session_id: session, command: 'bash slow.sh', timeout_ms: 120_000 });
    await window.waitForTerminalText('begun');
    stopServer(runtime, 'SIGKILL');
    // It prints and ends while nobody hears it.
    writeFileSync(path.join(window.folder, 'go'), '');
    const ran = await running;
    assert.equal(ran.output, 'begun\n1\n2\n3\n4\n5\n', JSON.stringify(ran));
    assert.equal(ran.exit_code, 7);
    assert.equal(ran.session_id, session);
    const next = await agent.call('execute_command', { session_id: session, command: 'echo the same; pwd' });
    assert.match(next.output, /^the same\n.*app\n$/);
    await window.waitForStatus(/1 session\b/);
    assert.deepEqual((await window.terminalNames()).filter((name) => /build/.test(name)).length, 1);
    await window.screenshot('restarted');
  },

  'a command that is the first after a kill has its own output, again and again': async ({ agent, runtime }) => {
    const { session_id } = await agent.call('create_session', { name: 'first', target: 'vscode' });
    for (let round = 0; round < 3; round += 1) {
      stopServer(runtime, 'SIGKILL');
      const ran = await agent.call('execute_command', { session_id, command: `echo round-${round}` });
      assert.equal(ran.output, `round-${round}\n`, JSON.stringify(ran));
    }
    await agent.call('stop_app', { session_id });
  },

  'a program goes on with its screen': async (world) => {
    const { agent, window, runtime } = world;
    writeFileSync(path.join(window.folder, 'poem.txt'), 'tyger tyger\nburning bright\n');
    const { session_id } = await agent.call('launch_app', { command: 'vim', args: ['-u', 'NONE', 'poem.txt'], target: 'vscode' });
    await agent.call('wait_for', { session_id, text: 'burning bright' });
    stopServer(runtime, 'SIGKILL');
    const typed = await agent.call('send_keys', { session_id, keys: 'Gofearful<Escape>', wait: { text: 'fearful' } });
    assert.ok(typed !== undefined);
    const screen = JSON.stringify(await agent.call('view_screen', { session_id }));
    assert.match(screen, /tyger tyger.*fearful/s);
    await window.waitForTerminalText('fearful');
    await agent.call('send_keys', { session_id, keys: ':q!<Enter>' });
    await until(async () => (await runsHere(agent, session_id))?.state !== 'running', 'it has ended');
  },

  'and a terminal that a person shares, as the same session': async (world) => {
    const { agent, window, runtime } = world;
    await window.run('Terminal: Create New Terminal');
    await window.waitForTerminalName(/bash/);
    await window.waitForTerminalText('app#');
    await window.run('termbridge: Share This Terminal with Agents');
    const shared = async () => (await agent.call('list_sessions')).sessions.filter(({ name }) => name === 'bash');
    await until(async () => (await shared()).length === 1, 'it is shared', () => shared().then(JSON.stringify));
    const [{ session_id }] = await shared();
    stopServer(runtime, 'SIGKILL');
    const ran = await agent.call('execute_command', { session_id, command: 'echo shared still' });
    assert.match(ran.output, /shared still/);
    assert.equal((await shared()).length, 1);
    world.shared = session_id;
  },

  'a person who types in another terminal keeps the focus': async ({ agent, window }) => {
    await window.selectTerminal('bash');
    await window.focusTerminal();
    const typing = (async () => {
      for (const letter of 'echo abcdefghijklmnopqrstuvwxyz'.repeat(3)) {
        await window.page.keyboard.type(letter);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    })();
    const made = [];
    for (let index = 0; index < 3; index += 1) {
      made.push(await agent.call('create_session', { name: `beside-${index}`, target: 'vscode' }));
    }
    await agent.call('switch_session', { session_id: made[0].session_id });
    await typing;
    const typed = async () => (await window.terminalText()).replaceAll('\n', '');
    await until(async () => (await typed()).includes('echo abcdefghijklmnopqrstuvwxyz'.repeat(3)), 'all of it is there', typed);
    await window.screenshot('focus');
    await window.page.keyboard.press('Control+C');
    await Promise.all(made.map(({ session_id }) => agent.call('stop_app', { session_id })));
  },

  'a person closes a terminal in the view, and its session has ended': async ({ agent, session, window }) => {
    // A row that moves is hovered over no longer.
    const tree = () => window.sessionTree().then((rows) => rows.join('\n'));
    await until(async () => /build/.test(await tree()) && !/beside/.test(await tree()), 'only this one is left', tree);
    await window.page.mouse.move(5, 5);
    const row = window.page.locator('.pane-body .monaco-list-row').filter({ hasText: 'build' }).first();
    await row.hover();
    await row.locator('.action-label[aria-label="Close Terminal"]').click();
    await window.page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Close' }).first().click();
    await until(async () => !(await window.terminalNames()).some((name) => /build/.test(name)), 'its tab is gone');
    await window.waitForStatus(/0 sessions/);
    await assert.rejects(agent.call('execute_command', { session_id: session, command: 'echo no' }));
  },

  'what no server knows any more is left to the person': async ({ agent, window, runtime, editor }) => {
    await agent.call('create_session', { name: 'orphan', target: 'vscode' });
    await window.waitForStatus(/1 session\b/);
    stopServer(runtime, 'SIGSTOP');
    rmSync(path.join(editor.runtime, 'editor-terminals'));
    stopServer(runtime, 'SIGKILL');
    await window.waitForStatus(/0 sessions/);
    await window.selectTerminal('orphan');
    await window.typeInTerminal('echo mine-$((40 + 2))\n');
    await window.waitForTerminalText('mine-42');
    await window.screenshot('orphan');
  },
};
