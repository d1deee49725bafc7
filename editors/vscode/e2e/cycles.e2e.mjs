// Terminals of the editor that an agent opens, uses and closes, again and again: nothing is left of them.
//
// E2E_CYCLES is their number, 100 by default.

import assert from 'node:assert/strict';
import { holdingsOf, until } from './harness.mjs';
import { serverPid, startWithAgent } from './realServer.mjs';

export { skip, tearDown } from './realServer.mjs';

const CYCLES = Number(process.env.E2E_CYCLES ?? 100);
/** Until everything is loaded, and memory that the first ones need is there. */
const WARM_UP = 24;
const AT_ONCE = 6;

export async function setUp(target) {
  const world = await startWithAgent(target, 'cycles');
  await world.window.run('Terminal: Create New Terminal');
  await world.window.waitForTerminalName(/bash/);
  return world;
}

async function cycle(agent, round) {
  const { session_id } = await agent.call('create_session', { name: `cycle ${round}`, target: 'vscode' });
  const ran = await agent.call('execute_command', { session_id, command: `echo round-$((${round}))` });
  assert.equal(ran.output.trim(), `round-${round}`);
  assert.equal(ran.exit_code, 0);
  await agent.call('stop_app', { session_id });
}

async function cycles(agent, from, count) {
  let next = from;
  const work = async () => {
    while (next < from + count) {
      next += 1;
      await cycle(agent, next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** What the extension host and the server hold, once they have come to rest. */
async function holdings({ editor, runtime }) {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return { extension: holdingsOf(editor.extensionHosts()[0]), server: holdingsOf(serverPid(runtime)) };
}

const read = ({ memory, descriptors, threads }) => `${Math.round(memory / 1024)} MB, ${descriptors} descriptors, ${threads} threads`;

export const steps = {
  'the first terminals': async ({ agent }) => cycles(agent, 0, WARM_UP),

  'many more': async (world) => {
    const { agent } = world;
    world.held = [await holdings(world)];
    const began = Date.now();
    for (const half of [0, 1]) {
      await cycles(agent, WARM_UP + (half * CYCLES) / 2, CYCLES / 2);
      world.held.push(await holdings(world));
    }
    return `${CYCLES} in ${Math.round((Date.now() - began) / 1000)} s`;
  },

  'as many terminals as before': async ({ window }) => {
    const isBefore = async () => (await window.terminalNames()).join() === 'bash';
    await until(isBefore, 'the editor has its own terminal only', () => window.terminalNames());
    await window.openSessions();
    await window.screenshot('after');
  },

  'what is held does not grow with their number': async ({ held }) => {
    for (const who of ['extension', 'server']) {
      const [start, middle, end] = held.map((each) => each[who]);
      // A collection of garbage may be due: a tenth more is no growth, nor is less than in the first half.
      const allowed = Math.max(middle.memory * 1.1, middle.memory + Math.max(0, middle.memory - start.memory));
      assert.ok(end.memory <= allowed, `${who}: ${start.memory}, ${middle.memory}, ${end.memory} kB`);
      assert.ok(end.descriptors <= start.descriptors + 4, `${who}: ${start.descriptors}, ${end.descriptors} descriptors`);
      assert.ok(end.threads <= start.threads + 4, `${who}: ${start.threads}, ${end.threads} threads`);
    }
    return held.map(({ extension, server }) => `extension ${read(extension)}; server ${read(server)}`).join(' → ');
  },
};
