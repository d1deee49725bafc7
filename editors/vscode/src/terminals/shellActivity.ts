// Which terminals run a command now, an agent's or a person's.
//
// `executeCommand` in a terminal that is not at its prompt makes the editor press ^C there, which ends what runs. All terminals
// are followed from the extension's start on, because a person may share one in which a command runs already.

import * as vscode from 'vscode';

export class ShellActivity implements vscode.Disposable {
  private readonly running = new WeakMap<vscode.Terminal, vscode.TerminalShellExecution>();
  private readonly subscriptions: vscode.Disposable[];

  constructor() {
    this.subscriptions = [
      vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => this.running.set(terminal, execution)),
      vscode.window.onDidEndTerminalShellExecution(({ terminal, execution }) => this.markEnded(terminal, execution)),
    ];
  }

  isRunning(terminal: vscode.Terminal): boolean {
    return this.running.has(terminal);
  }

  /** It is over, whether or not the editor reports its end. */
  markEnded(terminal: vscode.Terminal, execution: vscode.TerminalShellExecution): void {
    if (this.running.get(terminal) === execution) {
      this.running.delete(terminal);
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
