// A folder that nobody has trusted: nothing is started, agents get no terminal, and trust changes that at once.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { ScriptedServer } from '../test/scriptedServer.ts';
import { startEditor, until } from './harness.mjs';

export async function setUp(target) {
  const editor = await startEditor(target, { name: 'untrusted', isTrusted: false });
  const program = path.join(editor.folder, 'termbridge');
  writeFileSync(program, `#!/bin/sh\necho "$@" >>${editor.folder}/started\nexit 1\n`);
  chmodSync(program, 0o755);
  editor.configure({ 'termbridge.path': program });
  return { editor, windows: [] };
}

export async function tearDown({ editor, server }) {
  await server?.close();
  await editor.close();
}

/** The editor shows its settings, and the question for trust, in front of everything else. */
async function closeModal({ page }) {
  const modal = page.locator('.monaco-modal-editor-block');
  await modal.locator('.action-label.codicon-close').first().click();
  await modal.waitFor({ state: 'detached' });
}

export const steps = {
  'no server is started': async (world) => {
    const { editor } = world;
    const window = await editor.openWindow('app');
    world.windows.push(window);
    await window.openSessions();
    await window.page.getByText('starts one when you trust').first().waitFor();
    await window.waitForStatus(/termbridge: Restricted Mode/);
    await window.screenshot('no-server');
    assert.equal(existsSync(path.join(editor.folder, 'started')), false);
  },

  'the setting of the program is found': async ({ windows: [window] }) => {
    await window.run('termbridge: Set the Path of the Program');
    const setting = window.page.locator('.settings-editor .setting-item-contents').filter({ hasText: 'Termbridge: Path' });
    await setting.first().waitFor();
    await window.screenshot('setting');
    await closeModal(window);
  },

  'agents get no terminal': async (world) => {
    world.server = await new ScriptedServer(world.editor.runtime).listen();
    world.peer = await world.server.nextPeer();
    assert.equal((await world.peer.next('hello')).data.trusted, false);
    await world.windows[0].waitForStatus(/0 sessions, Restricted Mode/);
    const reply = await world.peer.request('create_terminal', { terminalName: 'x' });
    assert.equal(reply.data.code, 'untrusted', JSON.stringify(reply));
  },

  'trust is told to the server': async ({ peer, windows: [window] }) => {
    await window.run('Workspaces: Manage Workspace Trust');
    await window.page.getByRole('button', { name: 'Trust', exact: true }).first().click();
    assert.equal((await peer.next('update')).data.trusted, true);
    const reply = await peer.request('create_terminal', { terminalName: 'x' });
    assert.equal(reply.type, 'terminal_created', JSON.stringify(reply));
    await window.waitForStatus(/^(?!.*Restricted).*1 session/);
    await window.screenshot('trusted');
  },

  'a server is started where none runs': async ({ editor, server, windows: [window] }) => {
    await server.close();
    await window.page.keyboard.press('Escape');
    await window.waitForStatus(/^[^:]*termbridge$/);
    await window.run('termbridge: Start the Server');
    await until(() => existsSync(path.join(editor.folder, 'started')), 'the program was started');
  },
};
