// A real server, several agents and several windows: each window has the sessions of its own folders and nobody else's.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { until } from './harness.mjs';
import { startAgent, startRealEditor } from './realServer.mjs';

export { skip, tearDown } from './realServer.mjs';

export async function setUp(target) {
  const world = await startRealEditor(target, 'workspaces');
  for (const name of ['shop', 'bank']) {
    world.windows.push(await world.editor.openWindow(name));
  }
  return world;
}

/** A window that is loaded with an open panel and no terminal gets one of the editor's own. */
const sessionsOf = async (window) => (await window.terminalNames()).filter((name) => name !== 'bash');
const names = (window) => window.terminalNames().then((all) => all.join(', '));

/** What the terminals are named, once their number is right. */
async function waitForTerminals(window, count) {
  await until(async () => (await sessionsOf(window)).length === count, `${count} terminals`, () => names(window));
  return sessionsOf(window);
}

export const steps = {
  'each window shows the sessions of its own agent': async (world) => {
    const { windows } = world;
    await Promise.all(windows.map((window) => window.waitForStatus(/0 sessions/)));
    world.sessions = [];
    for (const [index, name] of ['shop', 'bank'].entries()) {
      const agent = await startAgent(world, windows[index].folder, { name: `${name}-agent` });
      for (const task of ['serve', 'test']) {
        const { session_id } = await agent.call('create_session', { name: `${name} ${task}` });
        world.sessions.push(session_id);
      }
    }
    for (const [index, name] of ['shop', 'bank'].entries()) {
      await windows[index].waitForStatus(/2 sessions/);
      const shown = await waitForTerminals(windows[index], 2);
      assert.ok(shown.every((terminal) => terminal.startsWith(name)), shown.join(', '));
    }
  },

  'what is printed in one is seen in its window alone': async ({ agents: [shop], sessions, windows }) => {
    await shop.call('execute_command', { session_id: sessions[0], command: 'echo only-for-the-$((1))shop' });
    await windows[0].selectTerminal('shop serve');
    await windows[0].waitForTerminalText('only-for-the-1shop');
    assert.doesNotMatch(await windows[1].terminalText(), /only-for-the/);
  },

  'a person who takes over in one is nobody in the other': async ({ windows }) => {
    const [shop, bank] = windows;
    await shop.typeInTerminal('echo typed-$((40 + 2))\n');
    await shop.waitForTerminalText('typed-42');
    await shop.waitForTerminalName(/you · shop serve/);
    await shop.waitForStatus(/you drive/);
    await bank.openSessions();
    const isSeen = async () => (await bank.sessionTree()).some((label) => /shop serve.*another person drives/.test(label));
    await until(isSeen, 'the other window lists who drives', () => bank.sessionTree());
    assert.doesNotMatch(`${await names(bank)} ${await bank.statusBar()}`, /you/);
    await shop.openSessions();
    await shop.screenshot('shop');
    await bank.screenshot('bank');
  },

  'a session of another folder can be shown, and stays with its window': async ({ windows }) => {
    const [shop, bank] = windows;
    await bank.page.locator('.pane-body .monaco-list-row').filter({ hasText: 'shop serve' }).first().click();
    await bank.waitForTerminalText('typed-42');
    await bank.waitForTerminalName(/other · shop serve/);
    await bank.screenshot('another-person');
    await shop.waitForTerminalName(/you · shop serve/);
    await bank.run('Terminal: Kill the Active Terminal Instance');
    await waitForTerminals(bank, 2);
    await shop.waitForStatus(/2 sessions, you drive/);
  },

  'a reload leaves the other window alone, and brings the terminals back': async ({ agents, sessions, windows }) => {
    const [shop, bank] = windows;
    const before = await names(bank);
    await shop.page.reload();
    await shop.waitForExtension();
    await shop.waitForStatus(/2 sessions/);
    // The editor may or may not have kept the panel open.
    await shop.run('Terminal: Focus Terminal');
    await shop.waitForTerminalName(/shop serve/);
    await shop.selectTerminal('shop serve');
    await shop.waitForTerminalText('typed-42');
    await shop.waitForTerminalName(/you · shop serve/);
    // One who only typed gives way to the agent after a moment.
    const goesOn = () => agents[0].call('execute_command', { session_id: sessions[0], command: 'echo agent-again' });
    await until(() => goesOn().then(() => true, () => false), 'the agent may type again');
    await until(async () => !/ · /.test(await names(shop)), 'the agent drives again', () => names(shop));
    const after = await waitForTerminals(shop, 2);
    assert.ok(after.every((terminal) => terminal.startsWith('shop')), after.join(', '));
    assert.equal(await names(bank), before);
    const ran = await agents[1].call('execute_command', { session_id: sessions[2], command: 'echo undisturbed' });
    assert.equal(ran.exit_code, 0);
    return `the reloaded window: ${after.join(', ')}`;
  },

  'a workspace of two folders has the sessions of both': async (world) => {
    const { agents, editor, sessions, windows } = world;
    const third = await startAgent(world, editor.makeFolder('elsewhere'), { name: 'elsewhere-agent' });
    await third.call('create_session', { name: 'elsewhere' });
    const file = path.join(editor.makeFolder('both'), 'both.code-workspace');
    writeFileSync(file, JSON.stringify({ folders: [{ path: '../shop' }, { path: '../bank' }] }));
    const window = await editor.openWindow('both', { workspace: file });
    windows.push(window);
    await window.waitForStatus(/4 sessions/);
    await window.run('Terminal: Focus Terminal');
    const shown = await waitForTerminals(window, 4);
    assert.deepEqual(shown.sort(), ['bank serve', 'bank test', 'shop serve', 'shop test']);
    await agents[1].call('execute_command', { session_id: sessions[3], command: 'echo seen-in-both' });
    for (const each of [window, windows[1]]) {
      await each.selectTerminal('bank test');
      await each.waitForTerminalText('seen-in-both');
    }
    await window.openSessions();
    await until(async () => (await window.sessionTree()).some((label) => /elsewhere/.test(label)), 'the list is filled');
    await window.screenshot('multi-root');
  },

  'a folder that is added brings its sessions, one that is removed takes them': async ({ editor, windows }) => {
    const window = windows[2];
    const file = path.join(editor.makeFolder('both'), 'both.code-workspace');
    writeFileSync(file, JSON.stringify({ folders: [{ path: '../bank' }, { path: '../elsewhere' }] }));
    await window.waitForStatus(/3 sessions/);
    await window.waitForTerminalName(/elsewhere/);
    return `its terminals: ${await names(window)}`;
  },
};
