// Starts the shared server, as `termbridge mcp --connect` does: by `termbridge start-server`, which puts the server into a
// session of its own, waits until it answers, and ends. So the server outlives this editor.

import { execFile } from 'node:child_process';

/** `start-server` gives up after 5 s itself. */
const START_LIMIT_MS = 15_000;
const MAX_ERROR = 500;

/** Resolves when a server answers. */
export function startServer(binary: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { timeout: START_LIMIT_MS, signal, maxBuffer: 64 * 1024 };
    const child = execFile(binary, ['start-server'], options, (error, _stdout, stderr) => {
      if (error === null) {
        resolve();
        return;
      }
      const reported = stderr.trim().replace(/^termbridge: /, '').slice(0, MAX_ERROR);
      reject(new Error(reported || error.message.slice(0, MAX_ERROR)));
    });
    child.stdin?.end();
  });
}
