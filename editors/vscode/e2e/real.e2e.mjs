// The extension, a real server and an agent. Skipped where there is no server, or one that does not speak the editor's protocol.

import assert from 'node:assert/strict';
import { until } from './harness.mjs';
import { startAgent, startRealEditor, stopServer } from './realServer.mjs';

export { skip, tearDown } from './realServer.mjs';

export async function setUp(target) {
  const world = await startRealEditor(target, 'real');
  world.window = await world.editor.openWindow('app');
  world.windows.push(world.window);
  return world;
}

export const steps = {
  'the extension starts the server': async ({ window }) => {
    await window.waitForStatus(/0 sessions/);
  },

  'a session of an agent appears, and its output': async (world) => {
    const { window } = world;
    world.agent = await startAgent(world, window.folder);
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

  'a password reaches the program, under a warning that the agent’s own shell reads it': async ({ agent, session, window }) => {
    const command = 'read -r -s -p "Password: " secret; echo; echo "length ${#secret}"';
    const running = agent.call('execute_command', { session_id: session, command });
    const input = window.page.locator('.quick-input-widget:visible input[type=password]');
    await input.waitFor();
    await window.page.locator('.quick-input-widget:visible').getByText(/The shell itself \(bash\).*that the agent may know\. \(Press/).waitFor();
    assert.match((await running).note, /the user is being asked for it in the editor/);
    await input.fill('hunter2-secret');
    await window.screenshot('password');
    await window.page.keyboard.press('Enter');
    await window.waitForTerminalText('length 14');
    const answer = JSON.stringify([await running, await agent.call('view_screen', { session_id: session })]);
    assert.ok(!answer.includes('hunter2-secret'));
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

  'a shell that fails right after its start ends its command': async ({ agent }) => {
    for (let round = 0; round < 8; round += 1) {
      const { session_id } = await agent.call('create_session', { target: 'vscode' });
      const ran = await agent.call('execute_command', { session_id, command: 'echo a; exit 4', timeout_ms: 10_000 });
      assert.equal(ran.exit_code, 4, JSON.stringify(ran));
      await agent.call('stop_app', { session_id }).catch(() => undefined);
    }
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

  'the person drives on when the server is killed': async ({ runtime, window }) => {
    await window.typeInTerminal('echo driven\n');
    await window.waitForTerminalName(/you · demo/);
    // All of it was typed: what is on its way when the server dies is lost.
    await window.waitForTerminalText(/\ndriven\n/);
    stopServer(runtime, 'SIGKILL');
    await window.waitForTerminalName(/offline · demo/);
    await window.typeInTerminal('lost');
    await window.waitForTerminalText('[offline: not sent]');
    await window.waitForTerminalName(/you · demo/);
    await window.run('termbridge: Hand Session Back to Its Agent');
    await window.waitForTerminalName(/^demo/);
  },

  'an extension host that is killed leaves no terminal behind': async ({ editor, window }) => {
    const [host] = editor.extensionHosts();
    process.kill(host, 'SIGKILL');
    await until(() => editor.extensionHosts().some((pid) => pid !== host), 'another one runs');
    await window.waitForStatus(/1 session/);
    const demos = async () => (await window.terminalNames()).filter((name) => /demo/.test(name)).length;
    await until(async () => (await demos()) === 1, 'the session has one terminal', () => window.terminalNames().then(String));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    assert.equal(await demos(), 1);
    await window.selectTerminal('demo');
    await window.waitForTerminalText('driven');
  },

  'the agent ends it': async ({ agent, session, window }) => {
    await agent.call('stop_app', { session_id: session });
    await window.waitForTerminalText('[ended by');
    await until(async () => /0 sessions/.test(await window.statusBar()), 'no session is counted');
  },
};
