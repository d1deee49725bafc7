// The settings that the server is told as policy: only those that the person has set.
//
// A value of the workspace comes with a repository, and must not undo what the person set for all workspaces: where both are
// set, the stricter holds. `terminalMcp.*`, the names of an earlier extension, count for each of the two where it has not set
// `termbridge.*`.

import * as vscode from 'vscode';

const SECTIONS = ['termbridge', 'terminalMcp'] as const;

interface Policy {
  blockedCommands?: string[];
  /** Directories that are in one of each of these lists. */
  allowedDirectories?: string[][];
  defaultTimeoutMs?: number;
  maxConcurrentSessions?: number;
  maxOutputLines?: number;
  idleTimeoutMs?: number;
}

/** The names of the settings that are handed to the server. */
export const POLICY_SETTINGS = [
  'blockedCommands',
  'allowedDirectories',
  'defaultTimeoutMs',
  'maxConcurrentSessions',
  'maxOutputLines',
  'idleTimeoutMs',
] as const satisfies readonly (keyof Policy)[];

const isText = (value: unknown): boolean => typeof value === 'string';
const isSwitch = (value: unknown): boolean => typeof value === 'boolean';
const isList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** What each setting has to be: for people, and as a check. */
const TYPES: Readonly<Record<string, readonly [string, (value: unknown) => boolean]>> = {
  path: ['text', isText],
  serverUrl: ['text', isText],
  autoConnect: ['true or false', isSwitch],
  autoStart: ['true or false', isSwitch],
  showTerminals: ['"always", "background" or "never"', (value) => ['always', 'background', 'never'].includes(value as string)],
  onTabClose: ['"ask", "stop" or "keep"', (value) => ['ask', 'stop', 'keep'].includes(value as string)],
  blockedCommands: ['a list of texts', isList],
  allowedDirectories: ['a list of texts', isList],
  defaultTimeoutMs: ['a number above 0', (value) => positive(value) !== undefined],
  maxConcurrentSessions: ['a number above 0', (value) => positive(value) !== undefined],
  maxOutputLines: ['a number above 0', (value) => positive(value) !== undefined],
  idleTimeoutMs: ['a number, 0 or more', (value) => orZero(value) !== undefined],
};

/** A setting of ours; `otherwise` where it is not set, or is of a wrong type. */
export function setting<T>(name: string, otherwise: T): T {
  const value: unknown = vscode.workspace.getConfiguration('termbridge').get<unknown>(name, otherwise);
  return TYPES[name]?.[1](value) === false ? otherwise : (value as T);
}

/** The settings with a value that cannot be used, each with what it has to be. */
export function wrongSettings(): { readonly name: string; readonly wanted: string }[] {
  return SECTIONS.flatMap((section) => {
    const configuration = vscode.workspace.getConfiguration(section);
    const names = section === 'termbridge' ? Object.keys(TYPES) : POLICY_SETTINGS;
    return names.flatMap((name) => {
      const [wanted, isRight] = TYPES[name] ?? ['', () => true];
      const found = configuration.inspect<unknown>(name);
      const values = [found?.globalValue, found?.workspaceValue].filter((value) => value !== undefined && value !== null);
      return values.every(isRight) ? [] : [{ name: `${section}.${name}`, wanted }];
    });
  });
}

/** The full name of a setting that is handed to the server: the one of the two that has a value. */
export function settingInUse(name: string): string {
  const isSet = (section: string): boolean => {
    const found = vscode.workspace.getConfiguration(section).inspect<unknown>(name);
    return (found?.globalValue ?? found?.workspaceValue ?? null) !== null;
  };
  return `${SECTIONS.find(isSet) ?? SECTIONS[0]}.${name}`;
}

/** What the person has set; values of a wrong type are left out. */
export function policySettings(): Record<string, unknown> {
  const policy: Policy = {};
  assign(policy, 'blockedCommands', merge('blockedCommands', texts, (a, b) => [...new Set([...a, ...b])]));
  // Both lists are handed on: links decide which of them is the stricter, and the server follows those whenever it judges.
  assign(policy, 'allowedDirectories', merge('allowedDirectories', directoryLists, (a, b) => [...a, ...b]));
  assign(policy, 'defaultTimeoutMs', merge('defaultTimeoutMs', positive, Math.min));
  assign(policy, 'maxConcurrentSessions', merge('maxConcurrentSessions', positive, Math.min));
  assign(policy, 'maxOutputLines', merge('maxOutputLines', positive, Math.min));
  // 0 is never, so it is the least strict.
  const sooner = (a: number, b: number): number => (a === 0 || b === 0 ? Math.max(a, b) : Math.min(a, b));
  assign(policy, 'idleTimeoutMs', merge('idleTimeoutMs', orZero, sooner));
  return { ...policy };
}

function assign<K extends keyof Policy>(policy: Policy, name: K, value: Policy[K] | undefined): void {
  if (value !== undefined) {
    policy[name] = value;
  }
}

/** Of the person and of the workspace each the first of our names that is set; where both are, the stricter of them. */
function merge<T>(
  name: keyof Policy,
  read: (value: unknown) => T | undefined,
  stricter: (person: T, workspace: T) => T,
): T | undefined {
  const found = SECTIONS.map((section) => vscode.workspace.getConfiguration(section).inspect<unknown>(name));
  const first = (values: unknown[]): T | undefined => values.map(read).find((value) => value !== undefined);
  const person = first(found.map((values) => values?.globalValue));
  const workspace = first(found.map((values) => values?.workspaceValue));
  return person !== undefined && workspace !== undefined ? stricter(person, workspace) : (person ?? workspace);
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : undefined;
}

/**
 * The list that is set, or none for an empty one, which allows all. Where something is set and no text in it, the server gets it
 * all the same, and then allows no directory.
 */
function directoryLists(value: unknown): string[][] | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const entries: unknown[] = Array.isArray(value) ? value : [JSON.stringify(value)];
  const usable = texts(entries) ?? [];
  const list = usable.length > 0 ? usable : entries.map((entry) => JSON.stringify(entry));
  return list.length > 0 ? [list] : [];
}

/** A whole number: the server takes no other. */
function orZero(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.ceil(value) : undefined;
}

function positive(value: unknown): number | undefined {
  const number = orZero(value);
  return number === 0 ? undefined : number;
}
