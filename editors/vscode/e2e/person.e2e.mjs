// What a person does beside an agent, with a real server: watches, scrolls, shares a terminal, reads the walkthrough.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { SkippedStep, until } from './harness.mjs';
import { startWithAgent } from './realServer.mjs';

export { skip, tearDown } from './realServer.mjs';

const SAMPLES = 60;
/** Prints the time, 60 times in about nine seconds; not in step with the frames of the browser. */
const CLOCK = `let round = 0;
const timer = setInterval(() => {
  process.stdout.write('\\r\\x1b[Kmark-' + round + '-' + Date.now() + '-');
  round += 1;
  if (round === ${SAMPLES}) clearInterval(timer);
}, 147);
`;

/** Paints all rows of a screen with each line that it reads, as htop does with each second. */
const PAINT = `round=0
printf '\\033[?1049h'
while :; do
  for row in $(seq 60); do printf '\\033[%dH\\033[2Kround %d row %d; \\033[%d;186Hthe right edge' "$row" "$round" "$row" "$row"; done
  printf '\\033[60;20H'
  [ "$word" = top ] && printf '\\033[1;20H'
  read -r word
  [ "$word" = quit ] && break
  round=$((round + 1))
done
printf '\\033[?1049l'
echo left it
read -r word
`;

export function setUp(target) {
  return startWithAgent(target, 'person', { 'workbench.colorTheme': 'Default Dark Modern' });
}

const wheel = async ({ page }, deltaY) => {
  await page.locator('.terminal-wrapper.active .xterm-screen').hover();
  for (let turn = 0; turn < 5; turn += 1) {
    await page.mouse.wheel(0, deltaY);
  }
  // What is taken for typing would be reported within this time.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
};

/** What the menu of the tab in front offers. */
const sharingMenu = async ({ page }) => {
  await page.locator('.terminal-tabs-entry').filter({ hasText: 'bash' }).first().click({ button: 'right' });
  const menu = page.locator('.monaco-menu .action-label');
  await menu.filter({ hasText: 'Rename' }).first().waitFor();
  const labels = await menu.evaluateAll((items) => items.map((item) => item.textContent));
  await page.keyboard.press('Escape');
  await menu.first().waitFor({ state: 'detached' });
  return labels.filter((label) => /Shar/.test(label));
};

export const steps = {
  'from the program to the screen': async ({ agent, window }) => {
    writeFileSync(path.join(window.folder, 'clock.mjs'), CLOCK);
    const { session_id } = await agent.call('create_session', { name: 'clock', cols: 80, rows: 10 });
    await window.waitForTerminalName(/clock/);
    await window.waitForTerminalText('app');
    const seen = window.page.evaluate(
      (samples) =>
        new Promise((resolve) => {
          const rows = document.querySelector('.terminal-wrapper.active .xterm-rows');
          const times = new Map();
          const look = () => {
            const [, round, sent] = /mark-(\d+)-(\d+)-/.exec(rows.textContent) ?? [];
            if (round !== undefined && !times.has(round)) {
              times.set(round, Date.now() - Number(sent));
            }
            if (Number(round) === samples - 1) {
              observer.disconnect();
              resolve([...times.values()]);
            }
          };
          const observer = new MutationObserver(look);
          observer.observe(rows, { childList: true, subtree: true, characterData: true });
        }),
      SAMPLES,
    );
    const command = `${process.execPath} clock.mjs`;
    const [times] = await Promise.all([seen, agent.call('execute_command', { session_id, command })]);
    assert.ok(times.length >= 50, `${times.length} samples`);
    times.sort((a, b) => a - b);
    const [p50, p95] = [0.5, 0.95].map((part) => times[Math.floor(times.length * part)]);
    assert.ok(p50 <= 50, `p50 ${p50} ms`);
    await agent.call('stop_app', { session_id });
    return `p50 ${p50} ms, p95 ${p95} ms, max ${times.at(-1)} ms of ${times.length}`;
  },

  'taking over and handing back leave the screen as it is': async ({ agent, window }) => {
    const { session_id } = await agent.call('create_session', { name: 'prompt', cols: 80, rows: 10 });
    await window.waitForTerminalName(/prompt/);
    await window.selectTerminal('prompt');
    await agent.call('execute_command', { session_id, command: 'echo by-the-agent' });
    // With its prompt: what is typed before that is echoed in the middle of it.
    await window.waitForTerminalText(/\nby-the-agent\n\S+#$/);
    await window.typeInTerminal('echo by-the-person\n');
    await window.waitForTerminalName(/you · prompt/);
    const wanted = /^\S+# echo by-the-agent\nby-the-agent\n\S+# echo by-the-person\nby-the-person\n\S+#$/;
    await window.waitForTerminalText(wanted);
    await window.run('termbridge: Hand Session Back to Its Agent');
    await window.waitForTerminalName(/^prompt/);
    await agent.call('execute_command', { session_id, command: 'echo again' });
    await window.waitForTerminalText(/^\S+# echo by-the-agent\nby-the-agent\n\S+# echo by-the-person\nby-the-person\n\S+# echo again\nagain\n\S+#$/);
    await agent.call('stop_app', { session_id });
  },

  'scrolling in a full-screen program takes nothing over': async ({ agent, window }) => {
    writeFileSync(path.join(window.folder, 'long.txt'), Array.from({ length: 500 }, (_, line) => `line ${line + 1}\n`).join(''));
    const programs = [
      ['less', { command: 'less', args: ['long.txt'] }],
      ['vim', { command: 'vim', args: ['-u', 'NONE', '-c', 'set mouse=a ttymouse=sgr', 'long.txt'] }],
    ];
    for (const [name, program] of programs) {
      const { session_id } = await agent.call('launch_app', { ...program, name: `read in ${name}`, cols: 80, rows: 10 });
      await window.waitForTerminalName(new RegExp(`read in ${name}`));
      await window.selectTerminal(`read in ${name}`);
      await window.waitForTerminalText('line 9');
      await wheel(window, 120);
      await wheel(window, -120);
      assert.deepEqual((await window.terminalNames()).filter((shown) => /you/.test(shown)), [], name);
      await agent.call('send_keys', { session_id, keys: 'G', wait: { text: 'line 500' } });
      await window.waitForTerminalText('line 500');
      await window.screenshot(`wheel-${name}`);
      // The arrow keys are typing: they are how a person moves in most of these programs.
      await window.focusTerminal();
      await window.page.keyboard.press('ArrowUp');
      await window.waitForTerminalName(new RegExp(`you · read in ${name}`));
      // And whoever drives scrolls.
      await wheel(window, -120);
      await until(async () => !/line 500/.test(await window.terminalText()), `${name} scrolls`, () => window.terminalText());
      await window.run('termbridge: Hand Session Back to Its Agent');
      await agent.call('stop_app', { session_id });
    }
  },

  'a session that is larger than the panel is scrolled back to its beginning': async ({ agent, window }) => {
    const { session_id } = await agent.call('create_session', { name: 'large', cols: 120, rows: 40 });
    await window.waitForTerminalName(/large/);
    await window.selectTerminal('large');
    await agent.call('execute_command', { session_id, command: 'seq -f "number %g;" 1 100' });
    await window.waitForTerminalText(/\nnumber 100;\n/);
    const isAt = (text) => until(async () => {
      await wheel(window, -400);
      return new RegExp(`^${text}$`, 'm').test(await window.terminalText());
    }, `scrolled back to ${text}`, () => window.terminalText());
    await isAt('number 70;');
    await isAt('number 1;');
    // What is printed meanwhile does not move it.
    await agent.call('execute_command', { session_id, command: 'seq -f "more %g;" 1 20' });
    assert.match(await window.terminalText(), /^number 1;$/m);
    await window.screenshot('scrolled-back');
    await window.run('Terminal: Scroll to Bottom');
    await window.waitForTerminalText(/\nmore 20;\n/);
    await agent.call('stop_app', { session_id });
  },

  'the view of a full-screen program that is larger than the panel is moved by wheel and keys': async ({ agent, window }) => {
    writeFileSync(path.join(window.folder, 'paint.sh'), PAINT);
    const { session_id } = await agent.call('launch_app', { command: 'sh', args: ['paint.sh'], name: 'painter', cols: 200, rows: 60 });
    await window.waitForTerminalName(/painter/);
    await window.selectTerminal('painter');
    await window.waitForTerminalText(/^round 0 row 60;/m);
    await window.waitForStatus(/part of 200×60/);
    const shows = (text) => until(async () => new RegExp(`^${text}`, 'm').test(await window.terminalText()), `shows ${text}`, () => window.terminalText());
    for (let turn = 0; turn < 6; turn += 1) {
      await wheel(window, -400);
    }
    await shows('round 0 row 1;');
    // Every row is painted anew, again and again, with the cursor at the bottom: the view stays.
    for (let round = 1; round <= 3; round += 1) {
      await agent.call('send_keys', { session_id, keys: '<Enter>', wait: { text: `round ${round} row 60` } });
      await shows(`round ${round} row 1;`);
    }
    assert.doesNotMatch(await window.terminalText(), /row 60/);
    await window.screenshot('moved-to-the-top');
    await window.focusTerminal();
    await window.page.keyboard.press('Shift+PageDown');
    await until(async () => !/row 1;/.test(await window.terminalText()), 'a key moves it', () => window.terminalText());
    await window.page.keyboard.press('Shift+PageUp');
    await shows('round 3 row 1;');
    for (let turn = 0; turn < 3; turn += 1) {
      await window.page.keyboard.press('Shift+Alt+PageDown');
    }
    await shows('.*the right edge$');
    await window.screenshot('moved-to-the-right');
    await window.run('termbridge: Scroll the View Left');
    await window.page.keyboard.down('Alt');
    for (let turn = 0; turn < 6; turn += 1) {
      await wheel(window, -400);
    }
    await window.page.keyboard.up('Alt');
    await shows('round 3 row 1;');
    // The cursor above, and rows below it.
    await agent.call('send_keys', { session_id, keys: 'top<Enter>', wait: { text: 'round 4 row 60' } });
    for (let turn = 0; turn < 6; turn += 1) {
      await wheel(window, 400);
    }
    await shows('round 4 row 60;');
    assert.deepEqual((await window.terminalNames()).filter((shown) => /you/.test(shown)), [], 'nothing was taken over');
    // The program leaves its screen: the wheel is the view's again.
    await agent.call('send_keys', { session_id, keys: 'quit<Enter>', wait: { text: 'left it' } });
    await window.waitForTerminalText('left it');
    await wheel(window, -400);
    assert.deepEqual((await window.terminalNames()).filter((shown) => /you/.test(shown)), [], 'nothing was taken over');
    await agent.call('stop_app', { session_id });
  },

  'the last screen of a full-screen program is there after its end': async ({ agent, window }) => {
    const { session_id } = await agent.call('launch_app', { command: 'less', args: ['long.txt'], name: 'killed', cols: 80, rows: 10 });
    await window.waitForTerminalName(/killed/);
    await window.selectTerminal('killed');
    await window.waitForTerminalText('line 9');
    const { sessions } = await agent.call('list_sessions');
    process.kill(sessions.find((session) => session.session_id === session_id).pid, 'SIGKILL');
    await window.waitForTerminalText(/^line 1\nline 2\n(?:line \d\n){7}.*\n\[ended by (?:SIG)?KILL; press Enter to close\]$/m);
    await window.screenshot('last-screen');
  },

  'a person shares a terminal, and an agent uses it': async (world) => {
    const { agent, window } = world;
    await window.run('Terminal: Create New Terminal');
    await window.waitForTerminalName(/bash/);
    await window.waitForTerminalText('app#');
    await window.typeInTerminal('export MOOD=cheerful\n');
    assert.deepEqual(await sharingMenu(window), ['Share This Terminal with Agents']);
    await window.run('termbridge: Share This Terminal with Agents');
    await window.openSessions();
    const find = async () => (await agent.call('list_sessions')).sessions.find(({ target }) => target !== undefined && target !== 'native');
    await until(async () => (await find()) !== undefined, 'the agent sees it', () => agent.call('list_sessions').then(JSON.stringify));
    const { session_id } = await find();
    world.shared = session_id;
    const ran = await agent.call('execute_command', { session_id, command: 'echo "a $MOOD person"; sh -c "exit 3"' });
    assert.match(ran.output, /^a cheerful person/);
    assert.equal(ran.exit_code, 3);
    await window.waitForTerminalText('a cheerful person');
    assert.deepEqual(await sharingMenu(window), ['Stop Sharing This Terminal with Agents']);
    await window.screenshot('shared');
  },

  'a command of the person in it is not interrupted': async ({ agent, shared, window }) => {
    await window.typeInTerminal('read -r line; echo "read $line"\n');
    const attempt = () => agent.call('execute_command', { session_id: shared, command: 'echo by-the-agent' });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await assert.rejects(attempt(), /person/);
    // The editor waits for a prompt for 5 s before it presses ^C.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    await window.typeInTerminal('what-i-typed\n');
    await window.waitForTerminalText('read what-i-typed');
    // The shell reports the end a moment after the last output.
    await until(async () => (await attempt().catch(() => undefined))?.exit_code === 0, 'the agent can use it again');
  },

  'what is no longer shared is gone for the agent': async ({ agent, shared, window }) => {
    await window.run('termbridge: Stop Sharing This Terminal with Agents');
    const isListed = async () => (await agent.call('list_sessions')).sessions.some(({ session_id }) => session_id === shared);
    await until(async () => !(await isListed()), 'it is no longer listed');
    await assert.rejects(agent.call('execute_command', { session_id: shared, command: 'echo no' }));
    await window.waitForTerminalName(/bash/);
    await window.typeInTerminal('echo still-$((40 + 2))\n');
    await window.waitForTerminalText('still-42');
    assert.doesNotMatch(await window.terminalText(), /echo no/);
  },

  'typing goes nowhere else when the session ends': async ({ agent, window }) => {
    const other = await agent.call('create_session', { name: 'other one', cols: 80, rows: 10 });
    const { session_id } = await agent.call('create_session', { name: 'ends', cols: 80, rows: 10 });
    await window.waitForTerminalName(/ends/);
    await window.selectTerminal('ends');
    await window.typeInTerminal('echo typing\n');
    await window.waitForTerminalName(/you · ends/);
    await window.typeInTerminal('exit\n');
    for (let round = 0; round < 20; round += 1) {
      await window.page.keyboard.type('touch stray\n');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await window.waitForTerminalText('press Enter to close');
    const screen = await agent.call('view_screen', { session_id: other.session_id });
    assert.doesNotMatch(JSON.stringify(screen), /stray/);
    assert.equal(existsSync(path.join(window.folder, 'stray')), false);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await window.page.keyboard.press('Enter');
    await until(async () => !(await window.terminalNames()).some((name) => /ends/.test(name)), 'Enter closes it');
    await agent.call('stop_app', { session_id: other.session_id });
    await agent.call('stop_app', { session_id }).catch(() => undefined);
  },

  'a new session opens a hidden panel, and leaves the terminal of the person in front': async ({ agent, window }) => {
    await window.selectTerminal('bash');
    await window.run('View: Toggle Panel Visibility');
    const panel = window.page.locator('.part.panel');
    await until(async () => !(await panel.isVisible()), 'the panel is hidden');
    const { session_id } = await agent.call('create_session', { name: 'opens the panel' });
    await until(() => panel.isVisible(), 'the panel is open');
    await window.waitForTerminalText('still-42');
    await agent.call('stop_app', { session_id });
  },

  'the walkthrough': async ({ window }) => {
    await window.run('termbridge: Open Walkthrough');
    await window.page.getByText('See what agents do in their terminals').first().waitFor();
    const done = window.page.locator('.getting-started-step .codicon-getting-started-step-checked');
    await until(async () => (await done.count()) >= 3, 'what is done is ticked off', () => done.count());
    for (const [index, step] of ['Connect to the server', 'Let an agent use it', 'Take over by typing'].entries()) {
      await window.page.locator('.getting-started-step').filter({ hasText: step }).first().click();
      await window.page.mouse.move(5, 5);
      // Its picture is a web page of its own.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await window.screenshot(`walkthrough-${index + 1}`);
    }
  },

  'the editor’s own agents find the server': async ({ window }) => {
    await window.page.keyboard.press('F1');
    const input = window.page.locator('.quick-input-widget:visible input').first();
    await input.fill('>MCP: List Servers');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const rows = window.page.locator('.quick-input-list .monaco-list-row');
    const command = rows.filter({ hasText: 'MCP: List Servers' }).first();
    if ((await command.count()) === 0) {
      await window.page.keyboard.press('Escape');
      throw new SkippedStep(`this editor has no command “MCP: List Servers”`);
    }
    await command.click();
    await rows.filter({ hasText: 'termbridge' }).first().waitFor();
    await window.screenshot('mcp-servers');
    await window.page.keyboard.press('Escape');
  },
};
