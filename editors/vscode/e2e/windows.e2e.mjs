// Two windows on two folders, many sessions, the background, themes, and what an idle window costs.

import assert from 'node:assert/strict';
import { ScriptedServer, wireRow } from '../test/scriptedServer.ts';
import { processorTime, startEditor, until } from './harness.mjs';

const SESSIONS = 20;
const IDLE_MS = 20_000;

export async function setUp(target) {
  const settings = { 'termbridge.showTerminals': 'background', 'workbench.colorTheme': 'Default Dark Modern' };
  const editor = await startEditor(target, { name: 'windows', settings });
  const answer = (message, peer) => {
    const { sessionId } = message.data;
    if (message.type === 'watch') {
      // No new line: the editor cuts the line of the cursor when it has a small size for a moment.
      peer.notify('dump', { sessionId, cols: 80, rows: 10, data: `the whole screen of ${sessionId}` });
    }
  };
  const server = await new ScriptedServer(editor.runtime, { answer }).listen();
  const first = await editor.openWindow('first');
  const peers = [await server.nextPeer()];
  const second = await editor.openWindow('second');
  peers.push(await server.nextPeer());
  return { editor, server, peers, windows: [first, second] };
}

export async function tearDown({ editor, server }) {
  await server.close();
  await editor.close();
}

const row = (index, isHere) =>
  wireRow(`s${index}`, {
    title: `task ${index}`,
    agent: index % 2 === 0 ? 'claude-code' : 'codex',
    folder: '/first',
    isHere,
    running: index % 3 === 0 ? 'cargo test' : undefined,
    state: index % 5 === 4 ? 'needs_input' : 'running',
    created: Date.now() - index * 600_000,
  });

export const steps = {
  'each window has its own id and folder': async ({ peers, windows }) => {
    const hellos = await Promise.all(peers.map((peer) => peer.next('hello')));
    assert.deepEqual(hellos.map(({ data }) => data.folders), windows.map((window) => [window.folder]));
    assert.notEqual(hellos[0].data.window, hellos[1].data.window);
  },

  'twenty sessions at once appear in their window only, in the background': async (world) => {
    const { peers, windows } = world;
    for (let index = 0; index < SESSIONS; index += 1) {
      peers.forEach((peer, window) => peer.notify('session', row(index, window === 0)));
    }
    await Promise.all(windows.map((window, index) => window.waitForStatus(index === 0 ? /20 sessions/ : /0 sessions/)));
    const watches = [];
    for (let index = 0; index < SESSIONS; index += 1) {
      watches.push(await peers[0].next('watch'));
    }
    assert.equal(await windows[0].page.locator('.terminal-wrapper.active').count(), 0, 'the panel stays closed');
    assert.equal(peers[1].messages.some(({ type }) => type === 'watch'), false);
    return `size before the panel was seen: ${watches[0].data.cols}×${watches[0].data.rows}`;
  },

  'the panel shows them with its own size': async ({ peers, windows }) => {
    await windows[0].run('View: Toggle Terminal');
    // The list is only as long as it is seen.
    await until(async () => (await windows[0].terminalNames()).length >= 10, 'they are listed', () => windows[0].terminalNames());
    await windows[0].selectTerminal(/task 7/);
    await windows[0].waitForTerminalText('the whole screen of s7');
    await windows[0].openSessions();
    await windows[1].openSessions();
    await until(async () => (await windows[0].sessionTree()).length >= 15, 'the tree is filled', () => windows[0].sessionTree());
    await windows[0].screenshot('dark');
    await windows[1].screenshot('elsewhere');
    const watches = peers[0].messages.filter(({ type }) => type === 'watch').slice(SESSIONS);
    return `watched again: ${watches.map(({ data }) => `${data.sessionId} ${data.cols}×${data.rows}`).join(', ')}`;
  },

  'the menu is reached by keyboard': async ({ windows }) => {
    await windows[0].run('termbridge: Show Menu');
    const rows = windows[0].page.locator('.quick-input-list .monaco-list-row');
    await rows.first().waitFor();
    await windows[0].screenshot('menu');
    await windows[0].page.keyboard.press('Escape');
  },

  'a reloaded window has its settings and sessions again, in high contrast': async (world) => {
    const { editor, server, windows } = world;
    server.options.rows = Array.from({ length: SESSIONS }, (_, index) => row(index, true));
    for (const [theme, style] of [['Default High Contrast', 'hc-black'], ['Default High Contrast Light', 'hc-light']]) {
      // A web window reads its settings when it is loaded.
      editor.configure({
        'workbench.colorTheme': theme,
        'termbridge.maxConcurrentSessions': 4,
        'terminalMcp.blockedCommands': ['mkfs'],
      });
      await windows[0].page.reload();
      await windows[0].waitForExtension();
      const peer = await server.nextPeer();
      const { settings } = (await peer.next('hello')).data;
      assert.deepEqual(settings, { blockedCommands: ['mkfs'], maxConcurrentSessions: 4 });
      await windows[0].page.waitForSelector(`.monaco-workbench.${style}`);
      await windows[0].waitForStatus(/20 sessions/);
      peer.notify('session', { ...row(0, true), running: 'sudo make install', secret: 'Password:' });
      await windows[0].page.locator('.quick-input-widget:visible input[type=password]').waitFor();
      await until(async () => (await windows[0].sessionTree()).length >= 15, 'the tree is filled');
      await windows[0].screenshot(style);
      world.peers[0] = peer;
    }
  },

  'an idle window uses little processor time': async ({ editor }) => {
    const hosts = editor.extensionHosts();
    assert.ok(hosts.length >= 2, `${hosts.length} extension hosts`);
    // What a reloaded window still has to do.
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const before = hosts.map(processorTime);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const used = hosts.map((pid, index) => processorTime(pid) - before[index]);
    // Without the extension it is 2 to 3 % on the same machine: an extension host is never quite idle.
    assert.ok(Math.max(...used) <= IDLE_MS * 0.06, `${used} ms in ${IDLE_MS} ms`);
    return `${used.join(' and ')} ms in ${IDLE_MS / 1000} s`;
  },
};
