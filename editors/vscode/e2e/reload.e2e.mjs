// A window that is reloaded, or opened while agents work already, with a real server. TERMBRIDGE names the program.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { until } from './harness.mjs';
import { startAgent, startWithAgent } from './realServer.mjs';

export { skip, tearDown } from './realServer.mjs';

export function setUp(target) {
  return startWithAgent(target, 'reload');
}

/** How wide a session is, as its agent sees it. The number of lines changes by one while the editor lays out its panel. */
const widthOf = async (agent, session_id) => {
  const { sessions } = await agent.call('list_sessions');
  return sessions.find((session) => session.session_id === session_id).cols;
};

export const steps = {
  'sessions that run already are taken over in the size of the panel': async (world) => {
    const { agent, window } = world;
    const ids = {};
    for (const name of ['by command', 'by typing']) {
      ids[name] = (await agent.call('create_session', { name, cols: 80, rows: 10 })).session_id;
      await window.waitForTerminalName(new RegExp(name));
    }
    await window.reload();
    await window.waitForStatus(/2 sessions/);
    await window.run('Terminal: Create New Terminal');
    await window.waitForTerminalName(/bash/);
    await window.waitForTerminalText('app#');
    await window.typeInTerminal('stty size\n');
    await window.waitForTerminalText(/^\d+ \d+$/m);
    const panel = Number(/^\d+ (\d+)$/m.exec(await window.terminalText())[1]);
    assert.notEqual(panel, 80);
    await window.run('termbridge: Take Over Session');
    await window.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'by command' }).first().click();
    await window.waitForTerminalName(/you · by command/);
    const width = (name) => widthOf(agent, ids[name]);
    await until(async () => (await width('by command')) === panel, `it has ${panel} columns`, () => width('by command'));
    await window.selectTerminal('by typing');
    await window.focusTerminal();
    await window.page.keyboard.press('x');
    await window.waitForTerminalName(/you · by typing/);
    await until(async () => (await width('by typing')) === panel, `it has ${panel} columns`, () => width('by typing'));
    await window.screenshot('taken-over');
    await Promise.all(Object.values(ids).map((session_id) => agent.call('stop_app', { session_id })));
  },

  'a terminal of the editor that an agent uses stays the same session': async (world) => {
    const { agent, window } = world;
    const { session_id } = await agent.call('create_session', { name: 'build', target: 'vscode' });
    world.session = session_id;
    await agent.call('execute_command', { session_id, command: 'MOOD=cheerful; echo before' });
    await window.selectTerminal('build');
    await window.waitForTerminalText('before');
    await window.reload();
    await window.waitForStatus(/1 session\b/);
    // Whether the panel was open the editor has not always written down by then.
    await window.run('Terminal: Focus on Terminal View');
    const ran = await agent.call('execute_command', { session_id, command: 'echo "a $MOOD agent"; sh -c "exit 3"' });
    assert.equal(ran.output, 'a cheerful agent\n', JSON.stringify(ran));
    assert.equal(ran.exit_code, 3);
    await window.waitForTerminalName(/build/);
    await window.waitForTerminalText('a cheerful agent');
    assert.equal((await window.terminalNames()).filter((name) => /build/.test(name)).length, 1);
    await window.screenshot('same-terminal');
  },

  'a command goes on meanwhile, and its end is found': async ({ agent, session, window }) => {
    writeFileSync(path.join(window.folder, 'slow.sh'), 'echo begun\nuntil [ -e go ]; do sleep 0.1; done\nseq 5\nexit 7\n');
    const running = agent.call('execute_command', { session_id: session, command: 'bash slow.sh', timeout_ms: 120_000 });
    await window.waitForTerminalText('begun');
    await window.reload();
    await window.waitForStatus(/1 session\b/);
    await window.run('Terminal: Focus on Terminal View');
    await window.waitForTerminalText('begun');
    const [own] = (await agent.call('list_sessions')).sessions;
    assert.equal(own.session_id, session);
    assert.equal(own.state, 'running');
    writeFileSync(path.join(window.folder, 'go'), '');
    const ran = await running;
    assert.equal(ran.session_id, session);
    assert.equal(ran.state, 'done', JSON.stringify(ran));
    assert.equal(ran.exit_code, 7, JSON.stringify(ran));
    assert.match(ran.note, /window was reloaded/, JSON.stringify(ran));
    const next = await agent.call('execute_command', { session_id: session, command: 'echo "still $MOOD"' });
    assert.equal(next.output, 'still cheerful\n');
  },

  'it stays the same after another window had the folder open, and after a further reload': async (world) => {
    const { agent, editor, session, window } = world;
    // The editor then gives the extension another folder for what it keeps of the workspace. While both are open, it keeps the
    // terminals of one of them only.
    const other = await editor.openWindow('app');
    await window.reload();
    await other.page.goto('about:blank');
    await other.close();
    await until(() => editor.extensionHosts().length === 1, 'one window is left', () => String(editor.extensionHosts()));
    const ran = await agent.call('execute_command', { session_id: session, command: 'echo "a $MOOD agent"' });
    assert.equal(ran.output, 'a cheerful agent\n', JSON.stringify(ran));
    // A window that is loaded anew before it has restored its terminals has none from then on.
    await window.waitForStatus(/1 session\b/);
    await window.reload();
    await window.run('Terminal: Focus on Terminal View');
    const again = await agent.call('execute_command', { session_id: session, command: 'echo "a very $MOOD agent"' });
    assert.equal(again.output, 'a very cheerful agent\n', JSON.stringify(again));
  },

  'a window that is closed is reported to the agent': async (world) => {
    const window = await world.editor.openWindow('elsewhere');
    world.windows.push(window);
    await window.waitForStatus(/0 sessions/);
    const agent = await startAgent(world, window.folder);
    const { session_id } = await agent.call('create_session', { name: 'left', target: 'vscode' });
    const started = await agent.call('execute_command', { session_id, command: 'sleep 600', timeout_ms: 500 });
    assert.equal(started.state, 'running', JSON.stringify(started));
    // As when a person closes the tab.
    await window.page.goto('about:blank');
    const row = async () => (await agent.call('list_sessions')).sessions.find((session) => session.session_id === session_id);
    await until(async () => (await row()).away === true, 'it is away', () => row().then(JSON.stringify));
    const output = await agent.call('get_terminal_output', { session_id });
    assert.match(JSON.stringify(output), /window does not answer/);
  },

  'a window that is cut off is given nothing that it would run later': async ({ agent, session, window }) => {
    const ran = path.join(window.folder, 'ran');
    await window.page.context().setOffline(true);
    const lost = agent.call('execute_command', { session_id: session, command: 'touch ran; sh -c "exit 51"', timeout_ms: 8_000 });
    await assert.rejects(lost, /BACKEND_UNAVAILABLE.*does not answer/s);
    const row = async () => (await agent.call('list_sessions')).sessions.find(({ session_id }) => session_id === session);
    assert.equal((await row()).away, true, JSON.stringify(await row()));
    await window.page.context().setOffline(false);
    const next = await agent.call('execute_command', { session_id: session, command: 'sh -c "exit 52"', timeout_ms: 60_000 });
    assert.equal(next.exit_code, 52, JSON.stringify(next));
    assert.equal(existsSync(ran), false, 'it was not run later');
    await agent.call('get_terminal_output', { session_id: session });
  },

  'a person who closes it ends the session': async ({ agent, session, window }) => {
    await window.selectTerminal('build');
    await window.run('Terminal: Kill the Active Terminal Instance');
    const isThere = async () => (await agent.call('list_sessions')).sessions.some(({ session_id }) => session_id === session);
    await until(async () => !(await isThere()), 'it is gone');
    await assert.rejects(agent.call('execute_command', { session_id: session, command: 'echo no' }), /SESSION_DEAD/);
  },
};
