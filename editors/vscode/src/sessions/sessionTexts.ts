// What the tab of a session's terminal says, and what it says when the session has ended. No editor API.

import { plainText } from '../plainText.js';
import { type Fields, numberOf, textOf } from '../protocol/message.js';
import type { SessionRow } from '../protocol/sessionRow.js';
import { type Outcome, outcomeOf } from './sessionModel.js';

export interface Ending {
  /** For people. */
  readonly text: string;
  readonly outcome: Outcome;
}

/** What the names of ended sessions begin with: one character, for the list of terminals is narrow. */
const MARKS: Record<Outcome, string> = { passed: '✓', failed: '✗', stopped: '■' };

/** Names that may still be on their way to the editor, or shown by it. */
const MAX_GIVEN_NAMES = 50;

/** The name of a session's terminal. A person who renames it keeps that name, with our notes before it. */
export class TabName {
  private name: string;
  /** The last names that the terminal was given here: any other is the person's own. */
  private readonly given = new Set<string>();
  private personsName: string | undefined;

  constructor(
    row: SessionRow,
    /** The name that the editor shows. */
    private readonly shownName: () => string | undefined,
  ) {
    this.name = nameOf(row, driverNote(row));
    this.given.add(this.name);
  }

  get current(): string {
    return this.name;
  }

  /** The name to give once more: the person's, where the person has chosen one meanwhile. */
  get again(): string {
    const shown = this.shownName();
    return shown === undefined || this.given.has(shown) ? this.name : shown;
  }

  /** The name from now on, where it is another. */
  change(row: SessionRow, now: { readonly ending: Ending | undefined; readonly isOnline: boolean }): string | undefined {
    const shown = this.shownName();
    if (shown !== undefined && !this.given.has(shown)) {
      this.personsName = shown;
    }
    const titled = this.personsName === undefined ? row : { title: this.personsName };
    const note = now.isOnline ? driverNote(row) : 'offline';
    const name = now.ending === undefined ? nameOf(titled, note) : `${MARKS[now.ending.outcome]} ${nameOf(titled, '')}`;
    if (name === this.name) {
      return undefined;
    }
    this.name = name;
    // The newest last: the oldest is the first to be forgotten.
    this.given.delete(name);
    this.given.add(name);
    if (this.given.size > MAX_GIVEN_NAMES) {
      this.given.delete([...this.given][0] ?? '');
    }
    return name;
  }
}

/** RIS: nothing of what was shown before is left, scrollback and modes included. */
export const RESET = '\x1bc';
/** To the last row of all, whatever the program's margins were. */
const LAST_ROW = '\x1b[0m\x1b[4l\x1b[r\x1b[999;1H';
/** A blank row after that of the cursor, where the last one is blank: this takes its place. */
const INSERTED = '\x1b7\x1b[r\x1b8\r\n\x1b[L';
/** The same where the last one may not be: all rows move up by one before that, the first to the scrollback. */
const PUSHED_UP = `\x1b7${LAST_ROW}\n\x1b8\r\x1b[L`;

/**
 * What brings the cursor to a row of its own for the end, at no cost for the last screen. `held` is what the terminal holds, where
 * that is known; `leave` brings a view of the alternate screen, which has no scrollback, to the main one.
 */
export function placeOfEnd(held: string | undefined, rows: number, leave: string | undefined): string {
  if (held !== undefined && leave !== undefined) {
    return `${leave}${LAST_ROW}\r\n${inLines(held)}\r\n`;
  }
  const hasRoom = held !== undefined && held.trimEnd().split('\n').length < rows;
  return hasRoom ? INSERTED : PUSHED_UP;
}

/** A grey line, and no cursor. */
export function endLine(text: string): string {
  return `\x1b[0m\x1b[2m[${text}; press Enter to close]\x1b[0m\x1b[?25l`;
}

/** Text for a terminal. */
export function inLines(text: string): string {
  return text.trimEnd().replace(/\r?\n/g, '\r\n');
}

/** How a session ended, from what the server reports. */
export function endingOf(end: Pick<SessionRow, 'exitCode' | 'signal' | 'stopped'>): Ending {
  const { exitCode, signal } = end;
  const outcome = outcomeOf(end);
  if (signal !== undefined && signal !== '') {
    return { text: `ended by ${plainText(signal, 20)}`, outcome };
  }
  return { text: exitCode === undefined ? 'ended' : `ended with exit code ${exitCode}`, outcome };
}

/** The same, from the server's notice. */
export function reportedEnding(data: Fields): Ending {
  const [exitCode, signal] = [numberOf(data, 'exitCode'), textOf(data, 'signal')];
  return endingOf({ exitCode, signal, stopped: data['stopped'] === true });
}

/** The ending of a session that cannot be watched. */
export function notShown(reason: string): Ending {
  return { text: `not shown: ${plainText(reason, 200)}`, outcome: 'stopped' };
}

function nameOf(row: Pick<SessionRow, 'title'>, note: string): string {
  const title = plainText(row.title, 40) || 'session';
  // The note first, and short: the list of terminals is narrow, and cuts the end.
  return note === '' ? title : `${note} · ${title}`;
}

function driverNote(row: SessionRow): string {
  if (row.isDriver) {
    return 'you';
  }
  return row.driver === 'person' ? 'other' : '';
}
