// What the tab of a session's terminal says, and what it says when the session has ended. No editor API.

import { plainText } from '../plainText.js';
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

/** How a session ended, from what the server reports. */
export function endingOf(end: Pick<SessionRow, 'exitCode' | 'signal' | 'stopped'>): Ending {
  const { exitCode, signal } = end;
  const outcome = outcomeOf(end);
  if (signal !== undefined && signal !== '') {
    return { text: `ended by ${plainText(signal, 20)}`, outcome };
  }
  return { text: exitCode === undefined ? 'ended' : `ended with exit code ${exitCode}`, outcome };
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
