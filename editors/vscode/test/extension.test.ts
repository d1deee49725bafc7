// The whole extension, activated against a scripted server on a real socket.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { RECONNECT_MS } from '../src/connection/serverConnection.js';
import { activate } from '../src/extension.js';
import { POLICY_SETTINGS } from '../src/settings.js';
import { type ScriptedServer, type ScriptedServerOptions, wireRow } from './scriptedServer.js';
import { scriptedServer, settled, temporaryFolder } from './support.js';
import { editor, window, workspace } from './vscode.js';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
  contributes: {
    commands: { command: string; icon?: string }[];
    configuration: { properties: Record<string, { scope?: string }> };
    viewsWelcome: { contents: string; when: string }[];
    walkthroughs: { steps: { id: string; completionEvents: string[] }[] }[];
    menus: Record<'terminal/title/context' | 'terminal/context' | 'view/title' | 'editor/title', { command: string; when: string }[]>;
  };
};

beforeEach(() => editor.reset());

interface Activated {
  server: ScriptedServer;
  /** Activates again, as a reloaded window does. */
  activate(): Promise<{ dispose(): void }>;
}

async function world(options: ScriptedServerOptions = {}): Promise<Activated> {
  const runtime = temporaryFolder();
  vi.stubEnv('XDG_RUNTIME_DIR', runtime);
  vi.stubEnv('PATH', '');
  vi.stubEnv('HOME', temporaryFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = await scriptedServer(options, path.join(runtime, 'termbridge'));
  workspace.workspaceFolders = [{ uri: { scheme: 'file', fsPath: '/work' } }, { uri: { scheme: 'vscode-vfs', fsPath: '/x' } }];
  const values: Record<string, unknown> = {};
  const storage = temporaryFolder();
  const context = () => ({
    subscriptions: [] as { dispose(): void }[],
    extension: { id: 'termbridge.termbridge', packageJSON: manifest },
    extensionPath: temporaryFolder(),
    globalStorageUri: { fsPath: storage },
    secrets: { get: async () => undefined },
    workspaceState: {
      get: (key: string, otherwise: unknown) => values[key] ?? otherwise,
      update: async (key: string, value: unknown) => void (values[key] = value),
    },
  });
  return {
    server,
    activate: async () => {
      const activated = context();
      await activate(activated as never);
      let isDisposed = false;
      const dispose = () => {
        if (!isDisposed) {
          isDisposed = true;
          activated.subscriptions.forEach((item) => item.dispose());
        }
      };
      onTestFinished(dispose);
      return { dispose };
    },
  };
}

test('a session from its appearance to its end', async () => {
  const { server, activate: open } = await world();
  await open();
  const peer = await server.nextPeer();
  const hello = await peer.next('hello');
  expect(hello.data).toMatchObject({ editor: 'Fake Code', version: manifest.version, folders: ['/work'], trusted: true });

  peer.notify('session', wireRow('s1', { title: 'tests' }));
  await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
  const terminal = editor.terminal('tests');
  terminal.pty.open({ columns: 120, rows: 30 });
  expect((await peer.next('watch')).data).toEqual({ sessionId: 's1', cols: 120, rows: 30 });
  peer.notify('dump', { sessionId: 's1', cols: 80, rows: 24, data: 'a screen' });
  await vi.waitFor(() => expect(terminal.written).toContain('a screen'));
  expect(editor.statusBar.text).toBe('$(terminal) termbridge: 1 session');

  terminal.pty.handleInput('q');
  expect((await peer.next('input')).data).toEqual({ sessionId: 's1', data: 'q' });
  peer.notify('session', wireRow('s1', { title: 'tests', driver: 'person', isDriver: true }));
  await vi.waitFor(() => expect(terminal.name).toBe('you · tests'));
  await editor.run('termbridge.handBack');
  expect((await peer.next('hand_back')).data).toEqual({ sessionId: 's1' });

  peer.notify('ended', { sessionId: 's1', signal: 'SIGTERM' });
  peer.notify('session', wireRow('s1', { title: 'tests', state: 'exited', signal: 'SIGTERM' }));
  await vi.waitFor(() => expect(terminal.written).toContain('ended by SIGTERM'));
  await vi.waitFor(() => expect(editor.statusBar.text).toBe('$(terminal) termbridge: 0 sessions'));
});

test('nothing that is typed, shown or secret is in the log', async () => {
  const { server, activate: open } = await world({ rows: [wireRow('s1', { secret: 'Password:' })] });
  await open();
  const peer = await server.nextPeer();
  await vi.waitFor(() => expect(editor.inputBoxes[0]?.prompt).toMatch(/it prints\.$/), { timeout: 10_000 });
  editor.inputBoxes[0]?.submit('hunter2');
  expect((await peer.next('secret')).data['text']).toBe('hunter2');
  const terminal = editor.terminals[0];
  terminal?.pty.open(undefined);
  terminal?.pty.handleInput('my-typing');
  await peer.next('input');
  peer.notify('dump', { sessionId: 's1', cols: 80, rows: 24, data: 'screen-contents' });
  await peer.request('execute', { command: 'echo command-line' });
  expect(editor.log.lines.length).toBeGreaterThan(5);
  expect(editor.log.lines.join('\n')).not.toMatch(/hunter2|my-typing|screen-contents|command-line/);
});

test('a reloaded window is another, and has each session once', async () => {
  const { server, activate: open } = await world({ rows: [wireRow('s1')] });
  const first = await open();
  const before = (await (await server.nextPeer()).next('hello')).data;
  await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
  first.dispose();
  expect(editor.terminals).toHaveLength(0);
  await open();
  const after = (await (await server.nextPeer()).next('hello')).data;
  expect(after['window']).not.toBe(before['window']);
  await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
});

test('a reloaded window drives on, and the tabs that it closed are not asked about', async () => {
  const row = wireRow('s1', { driver: 'person', isDriver: true });
  const { server, activate: open } = await world({ rows: [row] });
  const first = await open();
  const peer = await server.nextPeer();
  expect((await peer.next('hello')).data['driving']).toEqual([]);
  await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
  peer.notify('session', wireRow('s1'));
  await vi.waitFor(() => expect(editor.terminals[0]?.name).toBe('s1'));
  peer.notify('session', row);
  await vi.waitFor(() => expect(editor.terminals[0]?.name).toBe('you · s1'));
  first.dispose();
  await open();
  expect((await (await server.nextPeer()).next('hello')).data['driving']).toEqual(['s1']);
  expect(editor.messages).toEqual([]);
});

test('a tab that the person closes is asked about, and the answer can be kept', async () => {
  const { server, activate: open } = await world({ rows: [wireRow('s1'), wireRow('s2')] });
  await open();
  const peer = await server.nextPeer();
  await vi.waitFor(() => expect(editor.terminals).toHaveLength(2));
  editor.press = 'Always Stop';
  editor.terminal('s1').closeTab();
  expect((await peer.next('stop')).data).toEqual({ sessionId: 's1' });
  expect(editor.settings.get('termbridge.onTabClose')).toEqual({ globalValue: 'stop' });
  editor.terminal('s2').closeTab();
  expect((await peer.next('stop')).data).toEqual({ sessionId: 's2' });
  expect(editor.messages).toHaveLength(1);
});

test('the status bar says what is shared, and that the panel is too small for the session in front', async () => {
  const { server, activate: open } = await world({ rows: [wireRow('s1', { title: 'tests', cols: 132, rows: 50 })] });
  await open();
  const peer = await server.nextPeer();
  await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
  const terminal = editor.terminal('tests');
  terminal.pty.open({ columns: 80, rows: 10 });
  peer.notify('frame', { sessionId: 's1', data: 'a part' });
  await vi.waitFor(() => expect(terminal.written).toContain('a part'));
  expect(editor.statusBar.text).toBe('$(terminal) termbridge: 1 session');
  terminal.show();
  expect(editor.statusBar.text).toBe('$(terminal) termbridge: 1 session, showing part of 132×50');
  expect(editor.statusBar.tooltip).toContain('scroll back for what is above; enlarge the panel, take over, or press Fit Session to Panel');
  expect(editor.contextKeys.get('termbridge.canScroll')).toBe(false);
  await editor.run('termbridge.scrollUp');
  expect(editor.messages.at(-1)).toContain('no full-screen program');
  peer.notify('frame', { sessionId: 's1', data: 'of vim', canScroll: true });
  await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.canScroll')).toBe(true));
  expect(editor.statusBar.tooltip).toContain('the wheel moves the view');
  for (const [command, rows, cols] of [['Up', -9, 0], ['Down', 9, 0], ['Left', 0, -40], ['Right', 0, 40]] as const) {
    await editor.run(`termbridge.scroll${command}`);
    expect((await peer.next('scroll')).data).toEqual({ sessionId: 's1', rows, cols });
  }
  peer.notify('dump', { sessionId: 's1', cols: 80, rows: 10, data: 'all' });
  await vi.waitFor(() => expect(editor.statusBar.text).toBe('$(terminal) termbridge: 1 session'));
  expect(editor.contextKeys.get('termbridge.canScroll')).toBe(false);
  window.createTerminal({ name: 'zsh' }).show();
  await editor.run('termbridge.shareTerminal');
  expect(editor.statusBar.text).toBe('$(terminal) termbridge: 1 session, 1 shared');
  expect(editor.statusBar.tooltip).toContain('Agents can use your “zsh”');
});

test('hello names the terminals that agents have here', async () => {
  const { server, activate: open } = await world();
  await open();
  const peer = await server.nextPeer();
  expect((await peer.next('hello')).data['terminals']).toEqual([]);
  await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.state')).toBe('connected'));
  await peer.request('create_terminal', { terminalName: 'tests' }, 't1');
  window.createTerminal({ name: 'private' });
  window.createTerminal({ name: 'zsh' }).show();
  await editor.run('termbridge.shareTerminal');
  const { terminalId } = (await peer.next('terminal_shared')).data;
  peer.close();
  await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.state')).toBe('disconnected'));
  await editor.run('termbridge.reconnect');
  expect((await (await server.nextPeer()).next('hello')).data['terminals']).toEqual(['t1', terminalId]);
});

test('changes of folders, trust and settings are sent', async () => {
  const { server, activate: open } = await world();
  workspace.isTrusted = false;
  await open();
  const peer = await server.nextPeer();
  expect((await peer.next('hello')).data).toMatchObject({ trusted: false, settings: {} });
  await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.state')).toBe('connected'));
  expect(await peer.request('create_terminal', {})).toMatchObject({ type: 'error', data: { code: 'untrusted' } });

  workspace.isTrusted = true;
  editor.trustGranted.fire();
  expect((await peer.next('update')).data).toMatchObject({ trusted: true });
  editor.configure('termbridge.maxConcurrentSessions', 3);
  expect((await peer.next('update')).data).toMatchObject({ settings: { maxConcurrentSessions: 3 } });
  workspace.workspaceFolders = [{ uri: { scheme: 'file', fsPath: '/other' } }];
  editor.foldersChanged.fire();
  expect((await peer.next('update')).data).toMatchObject({ folders: ['/other'] });
  editor.configure('workbench.colorTheme', 'dark');
  expect(peer.messages.filter((message) => message.type === 'update')).toHaveLength(3);
});

test('a setting of a wrong type is named once, and is not used', async () => {
  const { server, activate: open } = await world();
  editor.configure('termbridge.blockedCommands', 'curl');
  editor.configure('termbridge.autoConnect', 'yes');
  await open();
  const peer = await server.nextPeer();
  expect((await peer.next('hello')).data['settings']).toEqual({});
  expect(editor.messages).toEqual([
    'termbridge: the setting termbridge.autoConnect cannot be used: it has to be true or false',
    'termbridge: the setting termbridge.blockedCommands cannot be used: it has to be a list of texts',
  ]);
  expect(editor.buttons).toEqual(['Open Settings']);
  expect(editor.log.lines.filter((line) => line.startsWith('warn the setting'))).toHaveLength(2);
  editor.configure('termbridge.blockedCommands', 'wget');
  expect(editor.messages).toHaveLength(2);
  editor.configure('termbridge.blockedCommands', ['wget']);
  editor.configure('terminalMcp.maxOutputLines', 'many', 'workspaceValue');
  expect(editor.messages.slice(2)).toEqual(['termbridge: the setting terminalMcp.maxOutputLines cannot be used: it has to be a number above 0']);
});

test('what the server cannot use of the settings is named once, by the name that was set', async () => {
  const wrong = { now: ['a rule is one command\x1b[31m', 'proj is no absolute path'] };
  const wrongSettings = (): object[] => [
    { name: 'blockedCommands', reason: wrong.now[0] },
    { name: 'allowedDirectories', reason: wrong.now[1] },
  ];
  const { activate: open } = await world({
    hello: (peer, { id }) => {
      const data = { protocol: 1, version: '1', pid: 1, sessions: [], wrongSettings: [...wrongSettings(), 'nonsense'] };
      peer.sendRaw(`${JSON.stringify({ type: 'welcome', id, data })}\n`);
    },
    answer: ({ type }) => (type === 'update' ? { type: 'success', data: { wrongSettings: wrongSettings() } } : undefined),
  });
  editor.configure('terminalMcp.blockedCommands', ['a | b']);
  editor.configure('termbridge.allowedDirectories', ['proj']);
  await open();
  await vi.waitFor(() => expect(editor.messages).toHaveLength(2));
  expect(editor.messages[0]).toMatch(/^termbridge: the setting terminalMcp\.blockedCommands cannot be used: a rule is one command/);
  expect(editor.messages[0]).not.toContain('\x1b');
  expect(editor.messages[1]).toBe('termbridge: the setting termbridge.allowedDirectories cannot be used: proj is no absolute path');
  wrong.now[1] = 'other is no absolute path';
  editor.configure('termbridge.allowedDirectories', ['other']);
  await vi.waitFor(() => expect(editor.messages).toHaveLength(3));
  expect(editor.messages[2]).toContain('other is no absolute path');
});

describe('commands', () => {
  test('are those of the manifest', async () => {
    const { activate: open } = await world();
    await open();
    const declared = manifest.contributes.commands.map(({ command }) => command).sort();
    expect([...editor.commands.keys()].sort()).toEqual(declared);
  });

  test('take over, stop, copy transcript and show act on the session of the tree', async () => {
    const { server, activate: open } = await world({
      rows: [wireRow('s1', { title: 'one' }), wireRow('s2', { title: 'two' })],
      answer: ({ type }) => (type === 'transcript' ? { type: 'success', data: { text: 'a\nb' } } : undefined),
    });
    await open();
    const peer = await server.nextPeer();
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(2));
    const node = { kind: 'session', row: { sessionId: 's2' } };
    await editor.run('termbridge.takeOver', node);
    expect((await peer.next('take_over')).data).toMatchObject({ sessionId: 's2' });
    expect(window.activeTerminal).toBe(editor.terminal('two'));

    await editor.run('termbridge.stopSession', node);
    expect(peer.messages.some(({ type }) => type === 'stop')).toBe(false);
    editor.press = 'Stop';
    await editor.run('termbridge.stopSession', node);
    expect((await peer.next('stop')).data).toEqual({ sessionId: 's2' });

    await editor.run('termbridge.copyTranscript', node);
    expect(editor.clipboard).toBe('a\nb');

    editor.terminal('two').dispose();
    await editor.run('termbridge.showSession', node);
    expect(editor.terminals.map((terminal) => terminal.name)).toEqual(['one', 'two']);
  });

  test('from the palette ask which session is meant', async () => {
    const { server, activate: open } = await world({ rows: [wireRow('s1'), wireRow('s2', { title: '$(bug) two' })] });
    await open();
    const peer = await server.nextPeer();
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(2));
    let labels: string[] = [];
    editor.pick = (items) => {
      labels = items.map((item) => item.label);
      return items.find((item) => item.label.includes('two'));
    };
    await editor.run('termbridge.takeOver');
    expect(labels).toContain('$(terminal) \\$(bug) two');
    expect((await peer.next('take_over')).data).toMatchObject({ sessionId: 's2' });
  });

  test('show a session from the list, also of one session, and of the one in front', async () => {
    const { server, activate: open } = await world({ rows: [wireRow('s1', { title: 'one' })] });
    await open();
    const peer = await server.nextPeer();
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
    const picked: string[][] = [];
    editor.pick = (items) => {
      picked.push(items.map((item) => item.label));
      return items.find((item) => item.label.includes('two'));
    };
    await editor.run('termbridge.showSession');
    editor.terminal('one').show();
    peer.notify('session', wireRow('s2', { title: 'two' }));
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(2));
    editor.terminal('one').show();
    await editor.run('termbridge.showSession');
    expect(picked.map((labels) => labels.length)).toEqual([1, 2]);
    expect(window.activeTerminal).toBe(editor.terminal('two'));
  });

  test('stop all sessions of an agent or of all, and close the terminals that agents have in the editor', async () => {
    const rows = [wireRow('s1'), wireRow('s2', { agent: 'codex' }), wireRow('s3', { state: 'exited' })];
    const { server, activate: open } = await world({ rows });
    await open();
    const peer = await server.nextPeer();
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(2));
    await peer.request('create_terminal', { terminalName: 'tests', agent: 'claude-code' }, 't1');
    const tree = editor.treeProvider as { getChildren(): { group: { name: string } }[] };
    const codex = tree.getChildren().find(({ group }) => group.name === 'codex');
    await editor.run('termbridge.stopAll', codex);
    expect(editor.messages).toEqual(['Stop 1 session of codex? Its programs are ended.']);
    expect(peer.messages.some(({ type }) => type === 'stop')).toBe(false);
    editor.press = 'Stop All';
    await editor.run('termbridge.stopAll', codex);
    expect((await peer.next('stop')).data).toEqual({ sessionId: 's2' });
    await editor.run('termbridge.stopAll');
    expect(editor.messages.at(-1)).toMatch(/^Stop 3 sessions of all agents/);
    expect([(await peer.next('stop')).data, (await peer.next('stop')).data]).toEqual([{ sessionId: 's1' }, { sessionId: 's2' }]);
    expect(editor.terminals.map(({ name }) => name)).not.toContain('tests');
  });

  test('pause an agent and resume it', async () => {
    const { server, activate: open } = await world({ rows: [wireRow('s1'), wireRow('s2', { agent: 'codex' })] });
    await open();
    const peer = await server.nextPeer();
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(2));
    const tree = editor.treeProvider as {
      getChildren(): { group: { name: string } }[];
      getTreeItem(node: unknown): { contextValue: string; description: string };
    };
    const codex = () => tree.getChildren().find(({ group }) => group.name === 'codex');
    await editor.run('termbridge.pauseAgent', codex());
    expect((await peer.next('pause')).data).toEqual({ sessionId: 's2' });
    peer.notify('session', wireRow('s2', { agent: 'codex', paused: true }));
    await vi.waitFor(() => expect(tree.getTreeItem(codex())).toMatchObject({ contextValue: 'agent paused', description: 'paused' }));
    expect(editor.statusBar.text).toBe('$(terminal) termbridge: 2 sessions, agent paused');
    await editor.run('termbridge.resumeAgents', codex());
    expect((await peer.next('resume')).data).toEqual({ sessionId: 's2' });
    await editor.run('termbridge.resumeAgents');
    expect((await peer.next('resume')).data).toEqual({});
    editor.pick = (items) => items.find(({ label }) => label === 'claude-code');
    await editor.run('termbridge.pauseAgent');
    expect((await peer.next('pause')).data).toEqual({ sessionId: 's1' });
  });

  test('clear ended sessions, with their tabs', async () => {
    const { server, activate: open } = await world({ rows: [wireRow('s1'), wireRow('s2')] });
    await open();
    const peer = await server.nextPeer();
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(2));
    peer.notify('session', wireRow('s2', { state: 'exited', exitCode: 0 }));
    await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.hasEndedSessions')).toBe(true));
    await editor.run('termbridge.clearEnded');
    expect(editor.terminals.map(({ name }) => name)).toEqual(['s1']);
    expect(editor.contextKeys.get('termbridge.hasEndedSessions')).toBe(false);
  });

  test('at the terminal hand back, fit to the panel and restore the size', async () => {
    const { server, activate: open } = await world({ rows: [wireRow('s1', { cols: 120, rows: 40 }), wireRow('s2')] });
    await open();
    const peer = await server.nextPeer();
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(2));
    const terminal = editor.terminal('s1');
    terminal.pty.open({ columns: 100, rows: 14 });
    terminal.show();
    peer.notify('frame', { sessionId: 's1', data: 'a part' });
    await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.canFit')).toBe(true));
    await editor.run('termbridge.fitToPanel');
    expect((await peer.next('fit_to_panel')).data).toEqual({ sessionId: 's1', cols: 100, rows: 14 });
    peer.notify('session', wireRow('s1', { cols: 100, rows: 14, isFitted: true }));
    await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.isFitted')).toBe(true));
    await editor.run('termbridge.restoreSize');
    expect((await peer.next('restore_size')).data).toEqual({ sessionId: 's1' });
    peer.notify('session', wireRow('s1', { driver: 'person', isDriver: true }));
    peer.notify('session', wireRow('s2', { driver: 'person', isDriver: true }));
    await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.canHandBack')).toBe(true));
    // The tab of a terminal that is not in front.
    await editor.run('termbridge.handBack', editor.terminal('s2'));
    expect((await peer.next('hand_back')).data).toEqual({ sessionId: 's2' });
    await editor.run('termbridge.handBack');
    expect((await peer.next('hand_back')).data).toEqual({ sessionId: 's1' });
    for (const [menu, place] of [['view/title', 'view == terminal'], ['editor/title', 'resourceScheme == vscode-terminal']] as const) {
      const buttons = manifest.contributes.menus[menu].filter(({ when }) => when.startsWith(place));
      expect(buttons.map(({ when }) => when.slice(place.length))).toEqual([
        ' && termbridge.canHandBack',
        ' && termbridge.canFit',
        ' && termbridge.isFitted',
      ]);
      // Beside the icon of the terminal, and those by which the editor maximizes the panel.
      const icons = buttons.map(({ command }) => manifest.contributes.commands.find((known) => known.command === command)?.icon);
      expect(icons.filter((icon) => ['$(hubot)', '$(screen-full)', '$(screen-normal)'].includes(icon ?? ''))).toEqual([]);
    }
  });

  test('say what went wrong', async () => {
    const { server, activate: open } = await world({
      rows: [wireRow('s1')],
      answer: () => ({ type: 'error', data: { error: 'the session is gone', code: 'gone' } }),
    });
    await open();
    await server.nextPeer();
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
    await editor.run('termbridge.takeOver');
    expect(editor.messages).toEqual(['termbridge: the session is gone']);
  });

  test('share the terminal in front, and take it back', async () => {
    const { server, activate: open } = await world();
    await open();
    const peer = await server.nextPeer();
    await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.state')).toBe('connected'));
    await editor.run('termbridge.shareTerminal');
    expect(editor.messages.at(-1)).toContain('select a terminal');
    window.createTerminal({ name: 'zsh' }).show();
    await editor.run('termbridge.shareTerminal');
    const { data } = await peer.next('terminal_shared');
    expect(data['terminalName']).toBe('zsh');
    expect(editor.contextKeys.get('termbridge.isShared')).toBe(true);
    await editor.run('termbridge.stopSharingTerminal');
    expect((await peer.next('terminal_unshared')).data).toEqual({ terminalId: data['terminalId'] });
  });

  test('the menu lists sessions and what can be done', async () => {
    const { server, activate: open } = await world({ rows: [wireRow('s1', { title: 'tests', secret: 'P:' })] });
    await open();
    await server.nextPeer();
    await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
    let labels: string[] = [];
    editor.pick = (items) => {
      labels = items.map((item) => item.label);
      return items[1];
    };
    await editor.run('termbridge.menu');
    expect(labels).toEqual(expect.arrayContaining(['$(key) tests', '$(key) Type a password…', '$(debug-stop) Stop a session…']));
    expect(window.activeTerminal).toBe(editor.terminal('tests'));
  });
});

describe('the MCP server for the editor’s own agents', () => {
  test('is the program that connects to the shared server, in the folder of the workspace', async () => {
    const { activate: open } = await world();
    const program = path.join(temporaryFolder(), 'termbridge');
    writeFileSync(program, '#!/bin/sh\n');
    chmodSync(program, 0o755);
    editor.configure('termbridge.path', program);
    await open();
    const servers = await editor.mcpProvider?.provideMcpServerDefinitions();
    expect(servers).toMatchObject([{ label: 'termbridge', command: program, args: ['mcp', '--connect'], cwd: { fsPath: '/work' } }]);
  });

  test('is not offered without a program, nor in an untrusted workspace', async () => {
    const { activate: open } = await world();
    await open();
    expect(await editor.mcpProvider?.provideMcpServerDefinitions()).toEqual([]);
    workspace.isTrusted = false;
    expect(await editor.mcpProvider?.provideMcpServerDefinitions()).toEqual([]);
  });
});

test('the walkthrough knows of a take-over by typing', async () => {
  const { server, activate: open } = await world({ rows: [wireRow('s1')] });
  await open();
  const peer = await server.nextPeer();
  await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
  const [{ steps } = { steps: [] }] = manifest.contributes.walkthroughs;
  const events = steps.find(({ id }) => id === 'takeOver')?.completionEvents ?? [];
  const isTicked = () => events.some((event) => editor.contextKeys.get(event.replace('onContext:', '')) === true);
  expect(isTicked()).toBe(false);
  peer.notify('session', wireRow('s1', { driver: 'person', isDriver: true }));
  await vi.waitFor(() => expect(isTicked()).toBe(true));
  peer.notify('session', wireRow('s1'));
  editor.contextKeys.clear();
  // The editor looks at what changes after it has read the walkthrough.
  await editor.run('termbridge.openWalkthrough');
  expect(isTicked()).toBe(true);
});

test('a terminal offers to be shared, or not to be any more', async () => {
  const { server, activate: open } = await world({ rows: [wireRow('s1')] });
  await open();
  const peer = await server.nextPeer();
  await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
  const offered = () => [editor.contextKeys.get('termbridge.canShare'), editor.contextKeys.get('termbridge.isShared')];
  editor.terminal('s1').show();
  expect(offered()).toEqual([false, false]);
  const own = window.createTerminal({ name: 'zsh' });
  own.show();
  expect(offered()).toEqual([true, false]);
  await editor.run('termbridge.shareTerminal');
  expect(offered()).toEqual([false, true]);
  // A menu may be older than what it is for.
  await editor.run('termbridge.shareTerminal');
  expect(editor.messages.at(-1)).toBe('termbridge: agents can use “zsh” already.');
  const other = window.createTerminal({ name: 'other' });
  other.show();
  expect(offered()).toEqual([true, false]);
  // The menu of a tab that is not in front names its terminal.
  editor.press = 'Stop Sharing';
  await editor.run('termbridge.shareTerminal', own);
  await vi.waitFor(async () => expect((await peer.next('terminal_unshared')).type).toBe('terminal_unshared'));
  editor.press = undefined;
  await editor.run('termbridge.stopSharingTerminal', own);
  expect(editor.messages.at(-1)).toBe('termbridge: “zsh” is not shared');
  await editor.run('termbridge.shareTerminal', own);
  expect(offered()).toEqual([true, false]);
  own.show();
  await editor.run('termbridge.stopSharingTerminal');
  expect(offered()).toEqual([true, false]);
  await peer.request('create_terminal', { terminalName: 'tests' }, 't1');
  editor.terminal('tests').show();
  expect(offered()).toEqual([false, false]);
  for (const menu of ['terminal/title/context', 'terminal/context'] as const) {
    expect(manifest.contributes.menus[menu].map(({ command, when }) => [command, when])).toEqual([
      ['termbridge.handBack', 'termbridge.canHandBack'],
      ['termbridge.fitToPanel', 'termbridge.canFit'],
      ['termbridge.restoreSize', 'termbridge.isFitted'],
      ['termbridge.shareTerminal', 'isWorkspaceTrusted && termbridge.canShare'],
      ['termbridge.stopSharingTerminal', 'termbridge.isShared'],
    ]);
  }
});

test('a window that is not trusted says so while it is connected', async () => {
  const { server, activate: open } = await world();
  workspace.isTrusted = false;
  await open();
  await server.nextPeer();
  await vi.waitFor(() => expect(editor.statusBar.text).toBe('$(terminal) termbridge: 0 sessions, Restricted Mode'));
  expect(editor.statusBar.tooltip).toContain('agents get no terminal of this window');
  let labels: string[] = [];
  editor.pick = (items) => void (labels = items.map((item) => item.label));
  await editor.run('termbridge.menu');
  expect(labels).toContain('$(shield) Restricted Mode: agents get no terminal of this window. Manage trust…');
  workspace.isTrusted = true;
  editor.trustGranted.fire();
  expect(editor.statusBar.text).toBe('$(terminal) termbridge: 0 sessions');
});

test('the program is started where no server runs, and not in an untrusted workspace', async () => {
  const { server, activate: open } = await world();
  await server.close();
  const folder = temporaryFolder();
  const program = path.join(folder, 'termbridge');
  writeFileSync(program, `#!/bin/sh\necho "$@" >> ${folder}/called\necho "termbridge: the disk is full" >&2\nexit 1\n`);
  chmodSync(program, 0o755);
  editor.configure('termbridge.path', program);
  workspace.isTrusted = false;
  await open();
  await vi.waitFor(() => expect(editor.statusBar.text).toBe('$(shield) termbridge: Restricted Mode'));
  expect(editor.statusBar.tooltip).toContain('starts no server');
  let labels: string[] = [];
  editor.pick = (items) => {
    labels = items.map((item) => item.label);
    return items[0];
  };
  await editor.run('termbridge.menu');
  expect(labels).toEqual([
    '$(shield) Restricted Mode: no server is started before you trust this window. Manage trust…',
    '$(refresh) Connect to the server now',
    '$(output) Show the log',
  ]);
  expect(editor.workbench).toEqual([['workbench.trust.manage']]);
  editor.press = 'Manage Trust';
  await editor.run('termbridge.startServer');
  expect(editor.messages).toEqual(['termbridge: this window is in Restricted Mode: trust it first']);
  await vi.waitFor(() => expect(editor.workbench).toHaveLength(2));
  workspace.isTrusted = true;
  editor.trustGranted.fire();
  await vi.waitFor(() => expect(editor.statusBar.tooltip).toBe('Not connected: the disk is full'));
  expect(readFileSync(path.join(folder, 'called'), 'utf8')).toBe('start-server\n');
});

/** A program that does what a shell script says. */
function program(script: string): string {
  const file = path.join(temporaryFolder(), 'termbridge');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe('why there is no server', () => {
  test('is kept when it is looked for again, and shown in the status bar, the view and the menu', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { server, activate: open } = await world();
    await server.close();
    await open();
    const isShown = () => expect(editor.statusBar.tooltip).toBe('Not connected: termbridge is not installed');
    await vi.waitFor(isShown);
    await vi.advanceTimersByTimeAsync(11_000);
    await new Promise((resolve) => setImmediate(resolve));
    isShown();
    expect(editor.treeView.description).toBe('termbridge is not installed');
    expect(editor.contextKeys.get('termbridge.problem')).toBe('missing');
    expect(editor.log.lines.filter((line) => line.includes('searched for termbridge in:'))).toHaveLength(1);
    let labels: string[] = [];
    editor.pick = (items) => void (labels = items.map((item) => item.label));
    await editor.run('termbridge.menu');
    expect(labels[0]).toBe('$(warning) termbridge is not installed');
  });

  test('is over as soon as the program is installed, without a reload', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { server, activate: open } = await world();
    await server.close();
    await open();
    await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.problem')).toBe('missing'));
    expect(await editor.mcpProvider?.provideMcpServerDefinitions()).toEqual([]);
    const welcome = manifest.contributes.viewsWelcome.find(({ when }) => when.includes("'missing'"))?.contents;
    expect(welcome).toContain('[Install termbridge](command:termbridge.installProgram)');
    await editor.run('termbridge.installProgram');
    const terminal = editor.terminal('Install termbridge');
    expect(terminal.sent).toEqual([{ text: 'npm install -g termbridge', enter: false }]);
    expect(welcome).toContain(terminal.sent[0]?.text);

    const folder = path.join(process.env['HOME'] ?? '', '.local', 'bin');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'termbridge'), '#!/bin/sh\necho "termbridge: found it" >&2\nexit 1\n', { mode: 0o755 });
    await vi.advanceTimersByTimeAsync(RECONNECT_MS);
    await vi.waitFor(() => expect(editor.statusBar.tooltip).toBe('Not connected: found it'));
    expect(editor.log.lines.filter((line) => line.includes('no server runs: starting one'))).toHaveLength(1);
  });

  test('has buttons for what to do', async () => {
    const { server, activate: open } = await world();
    await server.close();
    await open();
    editor.press = 'Open Settings';
    await editor.run('termbridge.startServer');
    expect(editor.messages).toEqual(['termbridge is not installed']);
    expect(editor.buttons).toEqual(['Install', 'Open Settings', 'Show Log']);
    await vi.waitFor(() => expect(editor.workbench).toEqual([['workbench.action.openSettings', 'termbridge.path']]));
    await editor.run('termbridge.takeOver');
    expect(editor.messages.at(-1)).toBe('termbridge is not installed');
  });

  test('leads to the settings of the machine that the program is on', async () => {
    const { server, activate: open } = await world();
    await server.close();
    await open();
    await editor.run('termbridge.setPath');
    editor.isRemote = true;
    await editor.run('termbridge.setPath');
    editor.press = 'Open Settings';
    editor.configure('termbridge.path', 7);
    await vi.waitFor(() => expect(editor.workbench).toHaveLength(3));
    editor.configure('termbridge.autoStart', 'yes');
    await vi.waitFor(() => expect(editor.workbench).toHaveLength(4));
    expect(editor.workbench).toEqual([
      ['workbench.action.openSettings', 'termbridge.path'],
      ['workbench.action.openRemoteSettings', { query: 'termbridge.path' }],
      ['workbench.action.openRemoteSettings', { query: 'termbridge.path' }],
      ['workbench.action.openSettings', 'termbridge.autoStart'],
    ]);
    for (const { contents } of manifest.contributes.viewsWelcome) {
      expect(contents).not.toContain('workbench.action.openSettings');
    }
  });

  test('may be a program that is too old', async () => {
    const { server, activate: open } = await world();
    await server.close();
    const old = program(`[ "$1" = --version ] && echo termbridge 0.0.7 || { echo "error: unrecognized subcommand '$1'" >&2; exit 2; }`);
    editor.configure('termbridge.path', old);
    await open();
    await vi.waitFor(() =>
      expect(editor.statusBar.tooltip).toBe(`Not connected: termbridge at ${old} is too old (version 0.0.7): update it`),
    );
    expect(editor.contextKeys.get('termbridge.problem')).toBe('outdated');
  });

  test('may be a program that says it has started a server, which is not there', async () => {
    const { server, activate: open } = await world();
    await server.close();
    editor.configure('termbridge.path', program('exit 0'));
    await open();
    await vi.waitFor(() => expect(editor.statusBar.tooltip).toContain('start-server succeeded, but no server answers'));
    expect(editor.contextKeys.get('termbridge.problem')).toBe('unanswered');
  });

  test('is looked into at once when the path of the program, or whether it is started, changes', async () => {
    const { server, activate: open } = await world();
    await server.close();
    editor.configure('termbridge.autoStart', false);
    await open();
    await vi.waitFor(() => expect(editor.statusBar.tooltip).toBe('Not connected: no server runs'));
    editor.configure('termbridge.autoStart', true);
    await vi.waitFor(() => expect(editor.statusBar.tooltip).toContain('not installed'));
    editor.configure('termbridge.path', program('echo "termbridge: the disk is full" >&2; exit 1'));
    await vi.waitFor(() => expect(editor.statusBar.tooltip).toContain('the disk is full'));
  });
});

test('a command on a session says when there is none', async () => {
  const { server, activate: open } = await world();
  await open();
  await server.nextPeer();
  await vi.waitFor(() => expect(editor.contextKeys.get('termbridge.state')).toBe('connected'));
  await editor.run('termbridge.takeOver');
  expect(editor.messages).toEqual(['termbridge: There are no sessions yet.']);
  await editor.run('termbridge.startServer');
  expect(editor.messages.at(-1)).toBe('termbridge: the server runs, and this window is connected to it.');
});

test('the reply that names an execution comes before its output and its end', async () => {
  const { server, activate: open } = await world();
  await open();
  const peer = await server.nextPeer();
  await peer.request('create_terminal', { terminalName: 'tests' }, 't1');
  const integration = editor.terminal('tests').integrate();
  const reply = peer.request('execute', { terminalId: 't1', command: 'ls', capture: true }, 'x1');
  await vi.waitFor(() => expect(integration.executions).toHaveLength(1));
  integration.executions[0]?.print('a file');
  integration.executions[0]?.end(0);
  await reply;
  await peer.next('execution_ended');
  const order = peer.messages.filter((message) => message.id === 'x1' || message.data?.['executionId'] === 'x1');
  expect(order.map((message) => message.type)).toEqual(['success', 'execution_output', 'execution_ended']);
});

test('disposing leaves no socket, no timer, no listener and no terminal', async () => {
  const before = openResources();
  const { server, activate: open } = await world({ rows: [wireRow('s1', { secret: 'Password:' })] });
  const extension = await open();
  const peer = await server.nextPeer();
  await vi.waitFor(() => expect(editor.terminals).toHaveLength(1));
  editor.treeView.visibility.fire({ visible: true });
  await peer.request('create_terminal', { terminalName: 'tests' }, 't1');
  const listeners = editor.listenerCount();
  const running = peer.request('execute', { terminalId: 't1', command: 'sleep 9', capture: true }).catch(() => undefined);
  editor.terminal('s1').pty.open(undefined);
  await peer.next('watch');
  // The command waits for its shell.
  await vi.waitFor(() => expect(editor.listenerCount()).toBeGreaterThan(listeners));
  extension.dispose();
  await peer.closed();
  await running;
  await server.close();
  expect(editor.terminals.map((terminal) => terminal.name)).toEqual(['tests']);
  expect(editor.inputBoxes.some((box) => box.isOpen)).toBe(false);
  expect(editor.listenerCount()).toBe(0);
  expect(editor.commands.size).toBe(0);
  // Sockets are closed a few turns after they were told to.
  const left = () => openResources().filter((name, index, all) => all.indexOf(name) + count(before, name) <= index);
  for (let turn = 0; turn < 1_000 && left().length > 0; turn += 1) {
    await settled();
  }
  expect(left()).toEqual([]);
});

/** What keeps a process alive, by kind, sorted. */
const openResources = () => process.getActiveResourcesInfo().sort();
const count = (names: string[], wanted: string) => names.filter((name) => name === wanted).length;

test('settings that name a program or a server cannot be set by a workspace', () => {
  const { properties } = manifest.contributes.configuration;
  expect(properties['termbridge.path']?.scope).toBe('machine');
  expect(properties['termbridge.serverUrl']?.scope).toBe('machine');
  // Without a connection the person's limits are not in force.
  expect(properties['termbridge.autoConnect']?.scope).toBe('machine');
  for (const name of POLICY_SETTINGS) {
    expect(properties).toHaveProperty([`termbridge.${name}`]);
  }
});

test('a runtime folder that is not safe is named in the status bar', async () => {
  const { server, activate: open } = await world();
  await server.close();
  mkdirSync(server.folder, { recursive: true });
  chmodSync(server.folder, 0o777);
  await open();
  await vi.waitFor(() => expect(editor.statusBar.tooltip).toContain('is open to others'));
});
