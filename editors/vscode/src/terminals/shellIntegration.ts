// Waits until a terminal's shell can be read. Not every shell ever can: the wait has an end.

import * as vscode from 'vscode';

/** How long a shell may take to report itself after its terminal was opened: start-up files can be slow. */
export const INTEGRATION_LIMIT_MS = 10_000;
/** How long a terminal that was opened long ago is still waited for. */
const LAST_CHANCE_MS = 500;

/** The terminal's shell integration; `undefined` where it does not come, the terminal is closed, or `signal` gives up. */
export function shellIntegrationOf(
  terminal: vscode.Terminal,
  opened: number,
  signal: AbortSignal,
): Promise<vscode.TerminalShellIntegration | undefined> {
  if (terminal.shellIntegration !== undefined) {
    return Promise.resolve(terminal.shellIntegration);
  }
  return new Promise((resolve) => {
    const finish = (integration: vscode.TerminalShellIntegration | undefined): void => {
      clearTimeout(timer);
      waiting.dispose();
      signal.removeEventListener('abort', giveUp);
      resolve(integration);
    };
    const giveUp = (): void => finish(undefined);
    signal.addEventListener('abort', giveUp);
    const left = Math.max(LAST_CHANCE_MS, opened + INTEGRATION_LIMIT_MS - Date.now());
    const timer = setTimeout(giveUp, left);
    const waiting = vscode.Disposable.from(
      vscode.window.onDidChangeTerminalShellIntegration((event) => {
        if (event.terminal === terminal) {
          finish(event.shellIntegration);
        }
      }),
      vscode.window.onDidCloseTerminal((closed) => {
        if (closed === terminal) {
          giveUp();
        }
      }),
    );
  });
}
