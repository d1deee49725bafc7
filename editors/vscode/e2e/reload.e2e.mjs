// A window that is reloaded, or opened while agents work already, with a real server. TERMBRIDGE names the program.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { until } from './harness.mjs';
import { startWithAgent } from './realServer.mjs';

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

  'a person who closes it ends the session': async ({ agent, session, window }) => {
    await window.selectTerminal('build');
    await window.run('Terminal: Kill the Active Terminal Instance');
    await window.waitForStatus(/0 sessions/);
    await assert.rejects(agent.call('execute_command', { session_id: session, command: 'echo no' }), /SESSION_DEAD/);
  },
};
