// The process of a terminal, which has a number only once it runs.

import type * as vscode from 'vscode';

/** How long a new terminal's process may take to have a number. */
const PID_LIMIT_MS = 5_000;

/** The number; `undefined` where it does not come in time, or there is no process. */
export async function pidOf(terminal: vscode.Terminal): Promise<number | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PID_LIMIT_MS);
  });
  try {
    return await Promise.race([terminal.processId, limit]);
  } finally {
    clearTimeout(timer);
  }
}
