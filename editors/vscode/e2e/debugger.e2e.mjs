// An agent debugs a program with the server's own debugger, while its terminals run in the editor and a person types.
//
// E2E_PYTHON names a Python that has debugpy; else the one of target/test-venv, else `python3`.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { SkippedStep } from './harness.mjs';
import { startAgent, startRealEditor } from './realServer.mjs';

export { skip, tearDown } from './realServer.mjs';

const PROGRAM = `def discounted(amount, percent):
    return amount - amount * percent / 100

print("total", discounted(20, 1))
`;

export async function setUp(target) {
  const world = await startRealEditor(target, 'debugger');
  world.window = await world.editor.openWindow('app');
  world.windows.push(world.window);
  await world.window.waitForStatus(/0 sessions/);
  world.python = pythonWithDebugpy(target);
  // The debugger of the server, not the editor's.
  world.agent = await startAgent(world, world.window.folder, { env: { TERMBRIDGE_DEBUG_BACKEND: 'native' } });
  return world;
}

function pythonWithDebugpy(target) {
  const own = path.join(path.dirname(target), 'test-venv', 'bin', 'python');
  const named = process.env.E2E_PYTHON;
  const candidates = [named?.includes('/') ? path.resolve(named) : named, existsSync(own) ? own : undefined, 'python3'];
  return candidates.find((python) => python && spawnSync(python, ['-c', 'import debugpy']).status === 0);
}

function needDebugpy({ python }) {
  if (python === undefined) {
    throw new SkippedStep('no Python with debugpy; name one with E2E_PYTHON');
  }
}

export const steps = {
  'terminals run in the editor': async (world) => {
    const { agent, window } = world;
    const { session_id } = await agent.call('create_session', { name: 'ticks', cols: 80, rows: 10 });
    world.session = session_id;
    const command = 'for i in $(seq 1 1000); do echo "tick $i"; sleep 0.2; done';
    await agent.call('execute_command', { session_id, command, timeout_ms: 0 });
    await window.waitForTerminalText('tick 3');
    world.own = (await agent.call('execute_command', { command: 'echo ready', target: 'vscode' })).session_id;
  },

  'the program stops at a breakpoint': async (world) => {
    needDebugpy(world);
    const { agent, python, window } = world;
    const file = path.join(window.folder, 'cart.py');
    writeFileSync(file, PROGRAM);
    await agent.call('breakpoint_set', { path: file, line: 2 });
    const options = { runtime: python, console: 'integratedTerminal', wait: true, timeoutMs: 60_000 };
    const stop = JSON.stringify(await agent.call('debug_start', { program: file, ...options }));
    assert.match(stop, /discounted/);
    assert.match(stop, /percent/);
    await window.waitForTerminalName(/Python Debug Console/);
    await window.openSessions();
    await window.screenshot('stopped');
  },

  'terminals go on meanwhile, and a person types': async ({ agent, own, window }) => {
    await window.selectTerminal('ticks');
    const ticks = async () => Number(/tick (\d+)\D*$/.exec(await window.terminalText())?.[1]);
    const before = await ticks();
    const ran = await agent.call('execute_command', { session_id: own, command: 'echo meanwhile' });
    assert.equal(ran.exit_code, 0);
    await window.waitForTerminalText(`tick ${before + 5}`);
    await window.focusTerminal();
    await window.page.keyboard.press('Control+C');
    await window.waitForTerminalName(/you · ticks/);
    await window.typeInTerminal('echo person-$((40 + 2))\n');
    await window.waitForTerminalText('person-42');
  },

  'a value is changed, and the program ends in its terminal': async (world) => {
    needDebugpy(world);
    const { agent, window } = world;
    await agent.call('debug_evaluate', { expression: 'percent = 10' });
    await window.selectTerminal('Python Debug Console');
    const ended = JSON.stringify(await agent.call('debug_continue', { timeoutMs: 30_000 }));
    assert.match(ended, /ended|exited/i);
    await window.waitForTerminalText('total 18.0');
    await window.screenshot('ended');
  },
};
