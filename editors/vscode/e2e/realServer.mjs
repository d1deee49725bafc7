// What scenarios with a real server share: TERMBRIDGE names the program. The extension starts the server, as it does for a person.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { startEditor, until } from './harness.mjs';
import { McpClient } from './mcpClient.mjs';

const PROGRAM = process.env.TERMBRIDGE && path.resolve(process.env.TERMBRIDGE);
const HELLO = { protocol: 1, window: 'probe', editor: 'e2e', version: '0', folders: [], trusted: true, settings: {} };

let reason;

/** Why the scenario cannot run, or `undefined`. Looked into once. */
export function skip() {
  return (reason ??= whyNot());
}

async function whyNot() {
  if (!PROGRAM) {
    return 'TERMBRIDGE does not name a program';
  }
  const runtime = mkdtempSync(path.join(tmpdir(), 'tb-probe-'));
  try {
    const started = spawnSync(PROGRAM, ['start-server'], { env: { ...process.env, XDG_RUNTIME_DIR: runtime }, encoding: 'utf8' });
    if (started.status !== 0) {
      return `the server does not start: ${started.stderr}`;
    }
    const answer = await probe(path.join(runtime, 'termbridge', 'server.sock'));
    return answer.includes('"welcome"') ? undefined : 'this server does not speak the editor protocol';
  } finally {
    const socket = path.join(runtime, 'termbridge', 'server.sock');
    stopServer(runtime);
    // It removes its socket when it ends.
    await until(() => !existsSync(socket), 'the server has ended');
    rmSync(runtime, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** The second line that the server answers, to a greeting and a hello. */
function probe(socketPath) {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    let text = '';
    socket.write(`{"termbridge":{"protocol":1,"editor":true}}\n${JSON.stringify({ type: 'hello', id: 'e1', data: HELLO })}\n`);
    socket.on('data', (bytes) => {
      text += bytes;
      if (text.split('\n').length > 2) {
        socket.end();
      }
    });
    socket.on('error', () => resolve(text)).on('close', () => resolve(text));
    socket.setTimeout(5_000, () => socket.destroy());
  });
}

/** The server of a runtime folder. */
export function serverPid(runtime) {
  return Number(readFileSync(path.join(runtime, 'termbridge', 'server.lock'), 'utf8'));
}

export function stopServer(runtime, signal = 'SIGTERM') {
  try {
    process.kill(serverPid(runtime), signal);
  } catch {
    // There is none.
  }
}

/** An editor that uses the program; `windows` and `agents` are the scenario's to fill, and end with it. */
export async function startRealEditor(target, name, settings = {}) {
  const own = { 'termbridge.path': PROGRAM, 'remote.autoForwardPorts': false };
  const editor = await startEditor(target, { name, settings: { ...own, ...settings } });
  return { editor, windows: [], agents: [], runtime: path.dirname(editor.runtime) };
}

/** An agent that works in a folder, on the scenario's server. */
export async function startAgent(world, cwd, { name = 'e2e-agent', env = {} } = {}) {
  const agent = await McpClient.start(PROGRAM, { cwd, name, env: { ...process.env, XDG_RUNTIME_DIR: world.runtime, ...env } });
  world.agents.push(agent);
  return agent;
}

/** The same with a window on a folder, and an agent that works there. */
export async function startWithAgent(target, name, settings = {}) {
  const world = await startRealEditor(target, name, settings);
  world.window = await world.editor.openWindow('app');
  world.windows.push(world.window);
  await world.window.waitForStatus(/0 sessions/);
  world.agent = await startAgent(world, world.window.folder);
  return world;
}

export async function tearDown({ editor, agents, runtime }) {
  await Promise.all(agents.map((agent) => agent.close()));
  stopServer(runtime);
  await editor.close();
}
