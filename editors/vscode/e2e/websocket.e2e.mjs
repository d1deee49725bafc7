// A server that is reached by its WebSocket, with a token from the editor's secret storage.

import assert from 'node:assert/strict';
import { wireRow } from '../test/scriptedServer.ts';
import { startEditor, until } from './harness.mjs';
import { listenWebSocket } from './webSocketServer.mjs';

const TOKEN = 'tok-0123456789';

export async function setUp(target) {
  const world = { windows: [], messages: [] };
  world.server = await listenWebSocket((message, peer) => {
    world.messages.push(message);
    world.peer = peer;
    if (message.type === 'hello' && message.data.token !== TOKEN) {
      peer.send({ type: 'error', id: message.id, data: { error: 'a token is needed', code: 'denied' } });
      peer.close();
    } else if (message.type === 'hello') {
      peer.send({ type: 'welcome', id: message.id, data: { protocol: 1, version: '0', pid: 1, sessions: [wireRow('s1')] } });
    } else if (message.id) {
      peer.send({ type: 'success', id: message.id, data: {} });
    }
    if (message.type === 'watch') {
      peer.send({ type: 'dump', data: { sessionId: 's1', cols: 80, rows: 10, data: 'over a WebSocket' } });
    }
  });
  world.editor = await startEditor(target, { name: 'websocket', settings: { 'termbridge.serverUrl': world.server.url } });
  world.windows.push(await world.editor.openWindow('app'));
  return world;
}

export async function tearDown({ editor, server }) {
  await editor.close();
  await server.close();
}

export const steps = {
  'without the token there is no connection': async (world) => {
    await until(() => world.messages.some(({ type }) => type === 'hello'), 'hello was said');
    assert.equal(world.messages[0].data.token, undefined);
    assert.equal(world.peer.origin, undefined, 'no page sent it');
    await world.windows[0].waitForStatus(/^[^:]*termbridge$/);
  },

  'with the token there is': async (world) => {
    const [window] = world.windows;
    await window.run('termbridge: Set the Token');
    const input = window.page.locator('.quick-input-widget:visible input[type=password]');
    await input.waitFor();
    await input.fill(TOKEN);
    await window.page.keyboard.press('Enter');
    await window.waitForStatus(/1 session/);
    await window.showSession('s1');
    await window.waitForTerminalText('over a WebSocket');
  },

  'the token is in no log': async ({ editor }) => {
    const log = editor.extensionLog();
    assert.match(log, /connected to the server/);
    assert.ok(!log.includes(TOKEN));
  },
};
