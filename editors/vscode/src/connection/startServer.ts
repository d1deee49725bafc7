// Starts the shared server, as `termbridge mcp --connect` does: by `termbridge start-server`, which puts the server into a
// session of its own, waits until it answers, and ends. So the server outlives this editor.

import { execFile } from 'node:child_process';
import { ServerProblem } from './problem.js';

/** `start-server` gives up after 5 s itself. */
const START_LIMIT_MS = 15_000;
const MAX_ERROR = 500;
/** How long a program may take to name its version. */
const VERSION_LIMIT_MS = 5_000;
/** What a program says to a subcommand that it does not have. */
const UNKNOWN_COMMAND = /unrecognized subcommand|unexpected argument|invalid subcommand/;

/** Resolves when a server answers. */
export function startServer(binary: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { timeout: START_LIMIT_MS, signal, maxBuffer: 64 * 1024 };
    const child = execFile(binary, ['start-server'], options, (error, _stdout, stderr) => {
      if (error === null) {
        resolve();
        return;
      }
      if (UNKNOWN_COMMAND.test(stderr)) {
        void versionOf(binary, signal).then((version) =>
          reject(new ServerProblem(`termbridge at ${binary} is too old (version ${version}): update it`, 'outdated')),
        );
        return;
      }
      const reported = stderr.trim().replace(/^termbridge: /, '').slice(0, MAX_ERROR);
      reject(new Error(reported || error.message.slice(0, MAX_ERROR)));
    });
    child.stdin?.end();
  });
}

function versionOf(binary: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    execFile(binary, ['--version'], { timeout: VERSION_LIMIT_MS, signal, maxBuffer: 64 * 1024 }, (_error, stdout) => {
      resolve(/\d[\w.+-]*/.exec(stdout)?.[0].slice(0, 40) ?? 'unknown');
    });
  });
}
