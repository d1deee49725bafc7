// Asks the person for a password that a session waits for, in a box of the editor.
//
// The text goes to the server by `secret` and nowhere else: it is not logged, not kept, and not part of any error. One box at a
// time; it closes by itself when the session no longer waits. One that was dismissed is not opened again for the same wait.
//
// The line that asks is a program's choice, and so an agent's: it is quoted, and never the only thing that the box says. The server
// knows while a box is open, so that the agent waits.
//
// A box takes the keyboard, perhaps from a terminal in which the person is typing. So one that opens by itself takes no text
// until no key has come for a moment, and none opens for a session into whose terminal the person types anyway.

import * as vscode from 'vscode';
import { type Log, reasonOf } from '../log.js';
import { plainText } from '../plainText.js';
import type { SessionRow } from '../protocol/sessionRow.js';
import type { SessionStore } from './sessionStore.js';
import type { SessionRequests } from './sessionTerminal.js';

/** How long no key must have come before a box that opened by itself takes text. */
const BLIND_MS = 1_000;

interface OpenBox {
  readonly sessionId: string;
  readonly box: vscode.InputBox;
  /** Makes it take text, once no key comes. */
  timer: NodeJS.Timeout | undefined;
}

export interface PasswordPromptsOptions {
  /** Whether the person drives the session, and its terminal has the keyboard. */
  isInHand(row: SessionRow): boolean;
  readonly blindMs?: number;
}

export class PasswordPrompts implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;
  /** Sessions whose wait was answered or dismissed. */
  private readonly handled = new Set<string>();
  private open: OpenBox | undefined;

  constructor(
    private readonly store: SessionStore,
    private readonly server: SessionRequests,
    private readonly log: Log,
    private readonly options: PasswordPromptsOptions,
  ) {
    this.subscription = store.onDidChange(() => this.refresh());
  }

  /** Asks again, because the person wants to. */
  ask(row: SessionRow): void {
    if (row.secret !== undefined) {
      this.handled.delete(row.sessionId);
      this.close();
      this.show(row, 0);
    }
  }

  dispose(): void {
    this.subscription.dispose();
    this.close();
  }

  private refresh(): void {
    for (const sessionId of this.handled) {
      if (this.store.get(sessionId)?.secret === undefined) {
        this.handled.delete(sessionId);
      }
    }
    if (this.open !== undefined && this.store.get(this.open.sessionId)?.secret === undefined) {
      this.close();
    }
    if (this.open === undefined) {
      const waiting = this.store
        .all()
        .filter((row) => row.isHere && row.secret !== undefined && !this.handled.has(row.sessionId))
        .find((row) => !this.options.isInHand(row));
      if (waiting !== undefined) {
        this.show(waiting, this.options.blindMs ?? BLIND_MS);
      }
    }
  }

  private show(row: SessionRow, blindMs: number): void {
    const box = vscode.window.createInputBox();
    const open: OpenBox = { sessionId: row.sessionId, box, timer: undefined };
    this.open = open;
    box.password = true;
    box.ignoreFocusOut = true;
    box.title = `Password for ${plainText(row.title) || 'a session'}${row.agent === '' ? '' : ` (${plainText(row.agent)})`}`;
    const asking = askingOf(row);
    box.placeholder = 'Password';
    let takesText = blindMs === 0;
    const describe = (): void => {
      box.prompt = takesText ? asking : `${asking} Wait a moment before you type.`;
    };
    const wait = (): void => {
      clearTimeout(open.timer);
      open.timer = setTimeout(() => {
        takesText = true;
        box.validationMessage = undefined;
        describe();
      }, blindMs);
    };
    describe();
    if (!takesText) {
      wait();
    }
    box.onDidChangeValue((text) => {
      if (!takesText && text !== '') {
        box.value = '';
        box.validationMessage = 'These keys may have been meant for something else, and were dropped. Pause, then type the password.';
        wait();
      }
    });
    box.onDidAccept(() => {
      if (!takesText) {
        return;
      }
      const text = box.value;
      this.handled.add(row.sessionId);
      this.close();
      void this.send(row.sessionId, text);
      this.refresh();
    });
    box.onDidHide(() => {
      if (this.open?.box === box) {
        this.handled.add(row.sessionId);
        this.close();
        this.refresh();
      }
    });
    box.show();
    this.report(row.sessionId, true);
    this.log.info(`session ${row.sessionId} waits for a password`);
  }

  private close(): void {
    const { open } = this;
    this.open = undefined;
    clearTimeout(open?.timer);
    open?.box.dispose();
    if (open !== undefined) {
      this.report(open.sessionId, false);
    }
  }

  /** Says whether the box is open; of no use where the session or the connection is gone. */
  private report(sessionId: string, isOpen: boolean): void {
    this.server.request('password_box', { sessionId, isOpen }).catch((error: unknown) => {
      this.log.debug(`password_box of session ${sessionId}: ${reasonOf(error)}`);
    });
  }

  private async send(sessionId: string, text: string): Promise<void> {
    try {
      await this.server.request('secret', { sessionId, text });
    } catch (error) {
      this.log.warn(`the password for session ${sessionId} was not taken: ${reasonOf(error)}`);
      void vscode.window.showWarningMessage(`The password was not typed: ${plainText(reasonOf(error), 200)}`);
    }
  }
}

/** Who asks, in which words, and where the text goes. */
function askingOf(row: SessionRow): string {
  const line = quoted(row.secret ?? '', 200);
  const command = quoted(row.running, 80);
  const reader = plainText(row.secretReader, 30);
  const where = command === '' ? '' : `, in the command ${command}`;
  const asks = `${line === '' ? 'asks for hidden input' : `asks ${line}`}${where}.`;
  if (row.isReadByShell) {
    return (
      `⚠ The shell itself (${reader}) ${asks} The agent wrote this command. It reads what you type, and can show it to the agent. ` +
      'Type only a password that the agent may know.'
    );
  }
  const goes = `What you type goes to this ${command === '' ? 'program' : 'command'}. The agent started it, and sees what it prints.`;
  return `${reader === '' ? 'A program' : `The program ${reader}`} ${asks} ${goes}`;
}

/** A text that a program chose, in quotes that it cannot end. */
function quoted(text: string, longest: number): string {
  const plain = plainText(text, longest).replace(/[“”„"]/g, '’');
  return plain === '' ? '' : `“${plain}”`;
}
