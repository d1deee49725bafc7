// What a person does at the terminal of a session, with a real server: the buttons above it, its tab, and a reload of the window.

import assert from 'node:assert/strict';
import { SkippedStep, until } from './harness.mjs';
import { startWithAgent } from './realServer.mjs';

export { skip, tearDown } from './realServer.mjs';

/** How long the server keeps a session for a window that is away, less a moment for the connection. */
const LEASE_MS = 18_000;

export function setUp(target) {
  return startWithAgent(target, 'panel');
}

const rowOf = async (agent, id) => (await agent.call('list_sessions')).sessions.find(({ session_id }) => session_id === id);

const create = async ({ agent, window }, name) => {
  const { session_id } = await agent.call('create_session', { name, cols: 120, rows: 40 });
  await window.waitForTerminalName(new RegExp(name));
  await window.selectTerminal(name);
  return session_id;
};

export const steps = {
  'a session that ends while the panel opens is shown with its end': async ({ agent, window }) => {
    const { session_id } = await agent.call('create_session', { name: 'brief', cols: 80, rows: 10 });
    await agent.call('execute_command', { session_id, command: 'echo it was brief; sleep 0.2; exit' });
    await window.waitForTerminalText(/^it was brief\n[^]*ended with exit code 0/m);
    await window.waitForTerminalName(/✓ brief/);
  },

  'a session is fitted to the panel by a button, and its size restored by another': async (world) => {
    const { agent, window } = world;
    const session_id = await create(world, 'fitted');
    await window.waitForStatus(/part of 120×40/);
    await window.screenshot('too-large');
    await window.pressAboveTerminal('Fit Session to Panel');
    const rows = async () => (await rowOf(agent, session_id)).rows;
    await until(async () => (await rows()) < 40, 'it fits', rows);
    const ran = await agent.call('execute_command', { session_id, command: 'stty size' });
    assert.match(ran.output, new RegExp(`^${await rows()} `), 'the agent drives');
    await window.waitForTerminalText(/stty size/);
    assert.deepEqual((await window.terminalNames()).filter((name) => /you/.test(name)), []);
    await window.screenshot('fitted');
    await window.pressAboveTerminal('Restore Size of Session');
    await until(async () => (await rows()) === 40, 'it has its size', rows);
    await agent.call('stop_app', { session_id });
  },

  'a person hands back by a button': async (world) => {
    const { agent, window } = world;
    world.session = await create(world, 'driven');
    await window.typeInTerminal('echo typed-$((40 + 2))\n');
    await window.waitForTerminalText('typed-42');
    await window.waitForTerminalName(/you · driven/);
    await window.screenshot('driven');
    await window.pressAboveTerminal('Hand Session Back to Its Agent');
    await window.waitForTerminalName(/^driven/);
    await agent.call('execute_command', { session_id: world.session, command: 'true' });
  },

  'a person who took over still drives after a reload': async ({ agent, session, window }) => {
    await window.run('termbridge: Take Over Session');
    await window.waitForTerminalName(/you · driven/);
    // Longer than one who only typed keeps the session.
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    const began = Date.now();
    await window.reload();
    if (Date.now() - began > LEASE_MS) {
      throw new SkippedStep('on this machine a window takes longer to load than the server waits for it');
    }
    await window.waitForStatus(/you drive/);
    await window.run('Terminal: Focus Terminal');
    await window.waitForTerminalName(/you · driven/);
    await assert.rejects(agent.call('execute_command', { session_id: session, command: 'echo no' }), /BUSY/);
    const messages = await window.page.locator('.notification-toast').filter({ hasText: 'still running' }).count();
    assert.equal(messages, 0, 'the reload closed no tab for the person');
    await window.selectTerminal('driven');
    await window.pressAboveTerminal('Hand Session Back to Its Agent');
    await window.waitForTerminalName(/^driven/);
  },

  'a tab that is closed asks whether to stop its session': async ({ agent, session, window }) => {
    await window.selectTerminal('driven');
    await window.run('Terminal: Kill the Active Terminal Instance');
    await window.page.locator('.notification-fade-in-done').filter({ hasText: '“driven” is still running' }).first().waitFor();
    await window.screenshot('closed');
    await window.pressInMessage('“driven” is still running', 'Keep Running');
    assert.notEqual((await rowOf(agent, session)).state, 'exited');
    await window.showSession('driven');
    await window.waitForTerminalName(/driven/);
    await window.selectTerminal('driven');
    await window.run('Terminal: Kill the Active Terminal Instance');
    await window.pressInMessage('“driven” is still running', 'Stop');
    const isLive = async () => ((await rowOf(agent, session))?.state ?? 'exited') !== 'exited';
    await until(async () => !(await isLive()), 'it is stopped', () => rowOf(agent, session).then(JSON.stringify));
  },

  'an agent is paused and resumed from the view, and ended sessions are cleared': async (world) => {
    const { agent, window } = world;
    const session_id = await create(world, 'paused');
    await window.openSessions();
    const tree = window.page.locator('.pane-body .monaco-list-row');
    const button = async (row, title) => {
      await row.hover();
      await row.locator(`.action-label[aria-label^="${title}"]`).first().click();
    };
    const agentRow = tree.filter({ hasText: 'e2e-agent' }).first();
    await button(agentRow, 'Pause Agent');
    await until(async () => /paused/.test(await agentRow.innerText()), 'it is paused', () => agentRow.innerText());
    await assert.rejects(agent.call('execute_command', { session_id, command: 'echo no' }), /paused this agent/);
    await window.screenshot('paused');
    await button(agentRow, 'Resume Agents');
    await until(async () => !/paused/.test(await agentRow.innerText()), 'it is resumed', () => agentRow.innerText());
    await agent.call('execute_command', { session_id, command: 'true' });
    await button(agentRow, 'Stop All Sessions');
    const stopAll = window.page.locator('.monaco-dialog-box .monaco-button').filter({ hasText: 'Stop All' });
    await stopAll.waitFor();
    await window.screenshot('stop-all');
    await stopAll.click();
    await window.waitForTerminalName(/■ paused/);
    await window.run('termbridge: Clear Ended Sessions');
    await until(async () => (await tree.filter({ hasText: 'paused' }).count()) === 0, 'the view is empty', () => window.sessionTree());
    // A window that is reloaded with its panel open has a shell of its own, unless the extension was there first.
    assert.deepEqual((await window.terminalNames()).filter((name) => name !== 'bash'), []);
  },
};
