// The settings that the server is told as policy: only those that the person has set.
//
// A value of the workspace comes with a repository, and must not undo what the person set for all workspaces: where both are
// set, the stricter holds. `terminalMcp.*`, the names of an earlier extension, count where `termbridge.*` is not set.

import * as path from 'node:path';
import * as vscode from 'vscode';

const SECTIONS = ['termbridge', 'terminalMcp'] as const;

interface Policy {
  blockedCommands?: string[];
  allowedDirectories?: string[];
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

/** What the person has set; values of a wrong type are left out. */
export function policySettings(): Record<string, unknown> {
  const policy: Policy = {};
  assign(policy, 'blockedCommands', merge('blockedCommands', texts, (a, b) => [...new Set([...a, ...b])]));
  assign(policy, 'allowedDirectories', merge('allowedDirectories', texts, narrower));
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

function merge<T>(
  name: keyof Policy,
  read: (value: unknown) => T | undefined,
  stricter: (person: T, workspace: T) => T,
): T | undefined {
  for (const section of SECTIONS) {
    const found = vscode.workspace.getConfiguration(section).inspect<unknown>(name);
    const person = read(found?.globalValue);
    const workspace = read(found?.workspaceValue);
    if (person !== undefined && workspace !== undefined) {
      return stricter(person, workspace);
    }
    if (person !== undefined || workspace !== undefined) {
      return person ?? workspace;
    }
  }
  return undefined;
}

/** The workspace's directories that are in one of the person's; the person's where none is. An empty list allows all. */
function narrower(person: string[], workspace: string[]): string[] {
  if (person.length === 0) {
    return workspace;
  }
  const inside = workspace.filter((directory) => person.some((allowed) => isWithin(directory, allowed)));
  return inside.length === 0 ? person : inside;
}

function isWithin(directory: string, parent: string): boolean {
  const way = path.relative(parent, directory);
  return way === '' || (!way.startsWith('..') && !path.isAbsolute(way));
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : undefined;
}

function orZero(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function positive(value: unknown): number | undefined {
  const number = orZero(value);
  return number === 0 ? undefined : number;
}
