// Commands in terminals of the editor, against the same in sessions of the server: output and exit code are to be equal.
// TERMBRIDGE names the program.

import assert from 'node:assert/strict';
import { startWithAgent } from './realServer.mjs';

export { skip, tearDown } from './realServer.mjs';

const COMMANDS = [
  'false',
  'printf "no new line"',
  'echo a\necho b',
  'for i in 1 2 3; do\n  echo $i\ndone',
  'if true; then\n  echo yes\nfi',
  'while read -r line; do\n  echo "<$line>"\ndone <<EOF\none\ntwo\nEOF',
  'case x in\n  x) echo matched;;\nesac',
  'f() {\n  echo "in f: $1"\n  return 4\n}\nf there',
  '{ echo grouped; false; }',
  'echo a \\\n  b',
  '(cd /; pwd; exit 3)',
  '(echo sub)',
  'echo "a!b" \'!!\'',
  'echo )',
  'echo "tab\there"',
  '# a comment',
  "cat <<'EOF'\n$HOME is not expanded\nEOF",
  '(sleep 0.1 & wait $!); echo waited',
  'echo héllo 日本語 🎉',
  'seq 1000 | tail -1',
  "printf '%s\\n' 'it'\\''s' \"a  b\"",
];

export function setUp(target) {
  return startWithAgent(target, 'commands');
}

async function run(agent, command, session) {
  const answer = await agent.call('execute_command', { command, ...session, timeout_ms: 20_000 });
  const { session_id, state, exit_code, output, note } = answer;
  return { session_id, answer: { command, state, exit_code, output }, note };
}

function inShell(shell) {
  return async ({ agent }) => {
    const different = [];
    for (const command of COMMANDS) {
      const answers = [];
      for (const target of [undefined, 'vscode']) {
        const { session_id } = await agent.call('create_session', { shell, target });
        answers.push((await run(agent, command, { session_id })).answer);
        await agent.call('stop_app', { session_id });
      }
      const [own, editors] = answers;
      try {
        assert.deepEqual(editors, own);
      } catch {
        different.push({ own, editors });
      }
    }
    assert.deepEqual(different, []);
    return `${COMMANDS.length} commands`;
  };
}

async function whatWaits({ agent }) {
  const { session_id } = await agent.call('create_session', { shell: 'bash', target: 'vscode' });
  const waits = [
    ['read -r answer', 'needs_input'],
    ['read -rs secret', 'needs_input'],
    ["python3 -c 'input(\"name? \")'", 'needs_input'],
    ['bash --norc', 'interactive'],
  ];
  for (const [command, state] of waits) {
    const { answer } = await run(agent, command, { session_id });
    assert.equal(answer.state, state, command);
    const keys = state === 'interactive' ? 'C-d' : 'Enter';
    await agent.call('send_keys', { session_id, keys });
    await agent.call('wait_for', { session_id, prompt: true, timeout_ms: 20_000 });
  }
  await agent.call('stop_app', { session_id });
  return `${waits.length} commands`;
}

async function lostMarks({ agent }) {
  for (const command of ['unset PROMPT_COMMAND', 'exec bash --norc']) {
    const { session_id } = await agent.call('create_session', { shell: 'bash', target: 'vscode' });
    await run(agent, 'true', { session_id });
    const { answer } = await run(agent, command, { session_id });
    assert.notEqual(answer.state, 'running', command);
    const next = await run(agent, 'echo still here', { session_id });
    assert.notEqual(next.answer.state, 'running', command);
    // The editor has output only of commands whose beginning the shell marks.
    assert.match(`${next.answer.output} ${next.note}`, /still here|did not report it|be missing/, JSON.stringify(next));
    await agent.call('stop_app', { session_id });
  }
}

export const steps = {
  'bash answers as in a session of the server': inShell('bash'),
  'zsh does': inShell('zsh'),
  'what waits for someone is seen': whatWaits,
  'a shell that lost its marks ends its commands': lostMarks,
};
