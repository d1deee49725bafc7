// What people read about sessions: the groups of the tree, and the words for state, driver and age. No editor API.

import { plainText } from '../plainText.js';
import type { SessionRow } from '../protocol/sessionRow.js';
import type { AgentTerminal } from '../terminals/editorTerminals.js';

export interface SessionGroup {
  /** The agent, in words for people. */
  readonly name: string;
  /** Where the agent works; empty when it is this window's folder. */
  readonly folder: string;
  readonly sessions: readonly SessionRow[];
  /** Terminals of this editor that the agent has, after the sessions. */
  readonly terminals: readonly AgentTerminal[];
  /** A person has paused the agent. */
  readonly paused: boolean;
}

/** Live sessions first, of each kind the newest. */
export function byLifeAndAge(a: SessionRow, b: SessionRow): number {
  const isOver = (row: SessionRow): number => Number(row.state === 'exited');
  return isOver(a) - isOver(b) || b.created - a.created || a.sessionId.localeCompare(b.sessionId);
}

/** Sessions and terminals by agent: those of this window first, then by name. */
export function groupByAgent(rows: readonly SessionRow[], terminals: readonly AgentTerminal[] = []): SessionGroup[] {
  interface Members {
    readonly sessions: SessionRow[];
    readonly terminals: AgentTerminal[];
  }
  const groups = new Map<string, Members>();
  const groupOf = (agent: string, isHere: boolean, folder: string): Members => {
    const key = JSON.stringify([isHere, agent, folder]);
    const group = groups.get(key) ?? { sessions: [], terminals: [] };
    groups.set(key, group);
    return group;
  };
  for (const row of rows) {
    groupOf(row.agent, row.isHere, row.isHere ? '' : row.folder).sessions.push(row);
  }
  for (const terminal of terminals) {
    groupOf(terminal.agent, true, '').terminals.push(terminal);
  }
  const isElsewhere = (group: SessionGroup): number => (group.sessions[0]?.isHere === false ? 1 : 0);
  return [...groups.values()]
    .map((group) => {
      group.sessions.sort(byLifeAndAge);
      group.terminals.sort((a, b) => b.created - a.created);
      const [first] = group.sessions;
      return {
        name: plainText(first?.agent ?? group.terminals[0]?.agent ?? '', 80) || 'No agent',
        folder: first === undefined || first.isHere ? '' : plainText(first.folder, 200),
        ...group,
        paused: group.sessions.some(({ paused }) => paused),
      };
    })
    .sort((a, b) => isElsewhere(a) - isElsewhere(b) || a.name.localeCompare(b.name));
}

/** What a session does, in a few words. */
export function activityOf(row: SessionRow): string {
  if (row.secret !== undefined) {
    return 'waits for a password';
  }
  if (row.state === 'exited') {
    const code = row.exitCode === undefined ? 'ended' : `exit code ${row.exitCode}`;
    return row.stopped ? 'stopped' : row.signal === undefined ? code : plainText(row.signal, 20);
  }
  const running = plainText(row.running, 60);
  if (row.state === 'needs_input') {
    return running === '' ? 'waits for input' : `${running} · waits for input`;
  }
  return running;
}

/** Who drives, where it is not simply the agent. */
export function driverOf(row: SessionRow): string {
  if (row.state === 'exited' || row.driver === 'agent') {
    return '';
  }
  return row.isDriver ? 'you drive' : 'another person drives';
}

/** How long ago, in one unit. */
export function ageOf(created: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - created) / 1000));
  if (created <= 0) {
    return '';
  }
  if (seconds < 60) {
    return 'just now';
  }
  if (seconds < 3600) {
    return `${Math.floor(seconds / 60)} min`;
  }
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** The line beside a session's title. */
export function describeSession(row: SessionRow, now: number): string {
  return [activityOf(row), driverOf(row), ageOf(row.created, now)].filter((part) => part !== '').join(' · ');
}

/** The line beside the name of a terminal of this editor. */
export function describeTerminal({ running, created }: AgentTerminal, now: number): string {
  return [plainText(running, 60), 'in the editor', ageOf(created, now)].filter((part) => part !== '').join(' · ');
}

/** Signals by which the system ends a program that went wrong; any other is sent on purpose, mostly to stop it. */
const CRASH = /^(?:SIG)?(?:ABRT|BUS|FPE|ILL|IOT|QUIT|SEGV|STKFLT|SYS|TRAP|XCPU|XFSZ)$/;

export type Outcome = 'passed' | 'failed' | 'stopped';

/** What came of a session that has ended. */
export function outcomeOf({ exitCode, signal, stopped }: Pick<SessionRow, 'exitCode' | 'signal' | 'stopped'>): Outcome {
  if (stopped) {
    return 'stopped';
  }
  if (signal !== undefined && signal !== '') {
    return CRASH.test(signal) ? 'failed' : 'stopped';
  }
  if (exitCode === undefined) {
    return 'stopped';
  }
  return exitCode === 0 ? 'passed' : 'failed';
}

/** The state's icon and the theme's colour for it. */
export function iconOf(row: SessionRow): { readonly icon: string; readonly color: string | undefined } {
  if (row.secret !== undefined) {
    return { icon: 'key', color: 'list.warningForeground' };
  }
  if (row.state === 'exited') {
    return iconOfEnded(row);
  }
  if (row.state === 'needs_input') {
    return { icon: 'question', color: 'list.warningForeground' };
  }
  if (row.driver === 'person') {
    return { icon: 'person', color: 'charts.blue' };
  }
  return row.running === '' ? { icon: 'terminal', color: undefined } : { icon: 'play', color: 'charts.green' };
}

function iconOfEnded(row: SessionRow): { readonly icon: string; readonly color: string | undefined } {
  switch (outcomeOf(row)) {
    case 'passed':
      return { icon: 'pass', color: 'testing.iconPassed' };
    case 'failed':
      return { icon: 'error', color: 'testing.iconFailed' };
    case 'stopped':
      return { icon: 'stop-circle', color: undefined };
  }
}

/** What the menus of the tree go by. */
export function contextOf(row: SessionRow): string {
  const words = ['session', row.state === 'exited' ? 'over' : 'live', row.isDriver ? 'mine' : 'theirs'];
  return row.secret === undefined ? words.join(' ') : `${words.join(' ')} secret`;
}

/** The same for an agent. */
export function contextOfAgent({ sessions, paused }: SessionGroup): string {
  // Without a session the server cannot be told which agent is meant.
  const pause = sessions.length === 0 ? '' : paused ? ' paused' : ' active';
  return `agent${pause}`;
}

/** The status bar's text. */
export function summaryOf(rows: readonly SessionRow[], terminals = 0): { readonly text: string; readonly isUrgent: boolean } {
  const live = rows.filter((row) => row.isHere && row.state !== 'exited');
  const total = live.length + terminals;
  const count = `${total} ${total === 1 ? 'session' : 'sessions'}`;
  if (live.some((row) => row.secret !== undefined)) {
    return { text: `${count}, password needed`, isUrgent: true };
  }
  const notes = [live.some((row) => row.isDriver) ? ', you drive' : '', live.some((row) => row.paused) ? ', agent paused' : ''];
  return { text: count + notes.join(''), isUrgent: false };
}
