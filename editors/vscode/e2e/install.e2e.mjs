// The program is installed while a window is open, which finds it without a reload. TERMBRIDGE names the program.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import * as path from 'node:path';
import { skip as skipReal, startAgent, startRealEditor } from './realServer.mjs';

export { tearDown } from './realServer.mjs';

export async function skip() {
  const folders = [...process.env.PATH.split(path.delimiter), '/usr/local/bin', '/opt/homebrew/bin'];
  const installed = folders.find((folder) => existsSync(path.join(folder, 'termbridge')));
  return installed === undefined ? skipReal() : `termbridge is installed in ${installed}`;
}

export async function setUp(target) {
  return startRealEditor(target, 'install', { 'termbridge.path': '' });
}

export const steps = {
  'a window without the program offers to install it': async (world) => {
    world.window = await world.editor.openWindow('app');
    world.windows.push(world.window);
    const { page } = world.window;
    await world.window.openSessions();
    await page.locator('.pane-body .monaco-button').filter({ hasText: 'Install termbridge' }).click();
    const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'npm install -g termbridge' });
    await row.waitFor();
    await world.window.screenshot('commands');
    await row.click();
    await world.window.waitForTerminalName(/Install termbridge/);
    await world.window.waitForTerminalText(/# npm install -g termbridge$/);
    await world.window.screenshot('typed');
  },

  'it is found once it is installed': async (world) => {
    const { editor, window } = world;
    const folder = path.join(editor.folder, 'home', '.local', 'bin');
    mkdirSync(folder, { recursive: true });
    symlinkSync(path.resolve(process.env.TERMBRIDGE), path.join(folder, 'termbridge'));
    await window.waitForStatus(/0 sessions/);
    const agent = await startAgent(world, window.folder);
    const { session_id } = await agent.call('create_session', { name: 'first' });
    await window.waitForTerminalName(/first/);
    assert.equal((await agent.call('execute_command', { session_id, command: 'true' })).exit_code, 0);
  },
};
