import { beforeEach, expect, test } from 'vitest';
import { policySettings } from '../src/settings.js';
import { editor } from './vscode.js';

beforeEach(() => editor.reset());

test('only what was set is sent, not the defaults', () => {
  expect(policySettings()).toEqual({});
  editor.configure('termbridge.maxOutputLines', 500);
  editor.configure('termbridge.blockedCommands', ['rm -rf /'], 'workspaceValue');
  expect(policySettings()).toEqual({ maxOutputLines: 500, blockedCommands: ['rm -rf /'] });
});

test('a workspace cannot undo what the person set', () => {
  const both = (name: string, person: unknown, workspace: unknown) => {
    editor.configure(`termbridge.${name}`, person);
    editor.configure(`termbridge.${name}`, workspace, 'workspaceValue');
  };
  both('blockedCommands', ['mkfs', 'dd'], ['dd', 'curl']);
  both('allowedDirectories', ['/work', '/srv'], ['/work/app', '/etc', '/workshop', '/srv']);
  both('defaultTimeoutMs', 1_000, 60_000);
  both('maxConcurrentSessions', 10, 2);
  both('idleTimeoutMs', 5_000, 0);
  expect(policySettings()).toEqual({
    blockedCommands: ['mkfs', 'dd', 'curl'],
    allowedDirectories: [['/work', '/srv'], ['/work/app', '/etc', '/workshop', '/srv']],
    defaultTimeoutMs: 1_000,
    maxConcurrentSessions: 2,
    idleTimeoutMs: 5_000,
  });
  editor.configure('termbridge.allowedDirectories', [], 'workspaceValue');
  expect(policySettings()['allowedDirectories']).toEqual([['/work', '/srv']]);
  editor.configure('termbridge.allowedDirectories', []);
  editor.configure('termbridge.allowedDirectories', ['/etc'], 'workspaceValue');
  expect(policySettings()['allowedDirectories']).toEqual([['/etc']]);
});

test('a workspace cannot undo what the person set under the other name', () => {
  editor.configure('terminalMcp.blockedCommands', ['curl']);
  editor.configure('termbridge.blockedCommands', ['zzz'], 'workspaceValue');
  editor.configure('terminalMcp.allowedDirectories', ['/safe']);
  editor.configure('termbridge.allowedDirectories', ['/'], 'workspaceValue');
  editor.configure('terminalMcp.maxConcurrentSessions', 2);
  editor.configure('termbridge.maxConcurrentSessions', 50, 'workspaceValue');
  expect(policySettings()).toEqual({
    blockedCommands: ['curl', 'zzz'],
    allowedDirectories: [['/safe'], ['/']],
    maxConcurrentSessions: 2,
  });
});

test('the names of the earlier extension count where ours are not set', () => {
  editor.configure('terminalMcp.maxOutputLines', 7);
  editor.configure('terminalMcp.idleTimeoutMs', 0, 'workspaceValue');
  expect(policySettings()).toEqual({ maxOutputLines: 7, idleTimeoutMs: 0 });
  editor.configure('termbridge.maxOutputLines', 9);
  expect(policySettings()).toEqual({ maxOutputLines: 9, idleTimeoutMs: 0 });
});

test('values of a wrong type are left out', () => {
  editor.configure('termbridge.blockedCommands', 'rm');
  editor.configure('termbridge.allowedDirectories', ['/a', 7, null]);
  editor.configure('termbridge.defaultTimeoutMs', '30');
  editor.configure('termbridge.maxConcurrentSessions', 0);
  editor.configure('termbridge.maxOutputLines', Number.NaN);
  editor.configure('termbridge.idleTimeoutMs', -1);
  expect(policySettings()).toEqual({ allowedDirectories: [['/a']] });
});

test('directories of which none can be read are handed on: the server then allows none', () => {
  for (const value of ['/a', [7], {}, [null]]) {
    editor.configure('termbridge.allowedDirectories', value);
    const handed = policySettings()['allowedDirectories'];
    expect(handed).toHaveLength(1);
    expect(String(handed)).not.toMatch(/^[/~]/);
  }
});
