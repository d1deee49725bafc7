// Whether a terminal may come to the front of the panel without being asked for.
//
// Another terminal in front takes the focus from the one before it, and what a person types is lost. The editor does not say
// which terminal has the focus, nor that somebody types: so a terminal that may be the person's is never pushed aside.

import * as vscode from 'vscode';

/** What one part of the extension knows of a terminal: it is an agent's, the person's, or none of its own. */
export type TerminalUser = 'agent' | 'person' | undefined;

export class PanelFront {
  private readonly parts: ((terminal: vscode.Terminal) => TerminalUser)[] = [];

  /** Has a part of the extension asked whose its terminals are. */
  know(userOf: (terminal: vscode.Terminal) => TerminalUser): void {
    this.parts.push(userOf);
  }

  /** Shows an agent's terminal where no terminal of the person's is in front; opens the panel in either case. */
  bring(terminal: vscode.Terminal): void {
    const { activeTerminal } = vscode.window;
    const persons = this.persons(activeTerminal);
    if (persons === undefined || persons === terminal) {
      terminal.show(true);
    } else if (!hasTerminalEditors()) {
      // Changes nothing where the panel is open. One among the editors would come before what the person edits.
      persons.show(true);
    }
  }

  /** The terminal, if the person may be using it. */
  private persons(terminal: vscode.Terminal | undefined): vscode.Terminal | undefined {
    if (terminal === undefined) {
      return undefined;
    }
    const users = this.parts.map((userOf) => userOf(terminal)).filter((user) => user !== undefined);
    return users.length === 0 || users.includes('person') ? terminal : undefined;
  }
}

/** Whether terminals are open in the place of editors; which ones these are is not known. */
function hasTerminalEditors(): boolean {
  return vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(({ input }) => input instanceof vscode.TabInputTerminal));
}
