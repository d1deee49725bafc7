// The commands of the palette, the menus and the status bar.
//
// A command on a session gets it from the tree or a terminal's tab; called from the palette it takes the session whose terminal is
// in front, else it asks which one. Show Session always asks: what is in front is shown already.

import * as vscode from 'vscode';
import { type ProblemKind, kindOf, ServerProblem } from './connection/problem.js';
import type { ServerConnection } from './connection/serverConnection.js';
import { reasonOf } from './log.js';
import { openSetting } from './openSetting.js';
import { plainLabel, plainText } from './plainText.js';
import { textOf } from './protocol/message.js';
import { type SessionRow, isLive } from './protocol/sessionRow.js';
import type { PasswordPrompts } from './sessions/passwordPrompts.js';
import {
  type SessionGroup,
  byLifeAndAge,
  describeSession,
  describeTerminal,
  groupByAgent,
  iconOf,
} from './sessions/sessionModel.js';
import type { SessionStore } from './sessions/sessionStore.js';
import type { SessionTerminals } from './sessions/sessionTerminals.js';
import type { TreeNode } from './sessions/sessionTree.js';
import type { EditorTerminals } from './terminals/editorTerminals.js';

export interface CommandParts {
  readonly connection: ServerConnection;
  readonly store: SessionStore;
  readonly sessions: SessionTerminals;
  readonly prompts: PasswordPrompts;
  readonly terminals: EditorTerminals;
  readonly secrets: vscode.SecretStorage;
  readonly log: vscode.LogOutputChannel;
  readonly extensionId: string;
}

/** Where the token for `termbridge.serverUrl` is kept. */
export const TOKEN_KEY = 'serverToken';

export function registerCommands(parts: CommandParts): vscode.Disposable {
  const { connection, store, sessions, prompts, log } = parts;

  /** A command on a session that is given, in front, or chosen from those that it is for. */
  const onSession = (
    isFor: (row: SessionRow) => boolean,
    act: (row: SessionRow) => unknown,
    choose = () => chooseSession(store, sessions.active(), isFor),
  ) => {
    return async (given?: Given): Promise<void> => {
      const known = rowOf(parts, given);
      if (known === undefined && connection.state !== 'connected') {
        throw new ServerProblem(connection.failure || 'there is no connection to the server', connection.problem);
      }
      const row = known ?? (await choose());
      if (row !== undefined) {
        await act(row);
      }
    };
  };
  const ask = (type: string) => (row: SessionRow) => connection.request(type, { sessionId: row.sessionId });

  const commands: Record<string, (given?: Given) => unknown> = {
    menu: () => showMenu(parts),
    showSession: onSession(
      () => true,
      (row) => sessions.show(row, { preserveFocus: false }),
      () => pickSession(store.all()),
    ),
    takeOver: onSession(
      (row) => isLive(row) && !row.isDriver,
      (row) => sessions.takeOver(row),
    ),
    handBack: onSession((row) => row.isDriver, ask('hand_back')),
    fitToPanel: onSession(
      (row) => isLive(row) && row.driver === 'agent',
      (row) => sessions.fitToPanel(row),
    ),
    restoreSize: onSession((row) => row.isFitted, ask('restore_size')),
    stopSession: onSession(isLive, (row) => stopSession(connection, row)),
    stopAll: (given) => stopAll(parts, groupOf(given)),
    pauseAgent: (given) => pauseAgent(parts, groupOf(given)),
    resumeAgents: (given) => resumeAgents(parts, groupOf(given)),
    clearEnded: () => {
      sessions.closeEnded();
      store.clearEnded();
    },
    copyTranscript: onSession(
      () => true,
      (row) => copyTranscript(connection, row),
    ),
    typePassword: onSession(
      (row) => row.secret !== undefined,
      (row) => prompts.ask(row),
    ),
    scrollUp: () => sessions.scroll(-1, 0),
    scrollDown: () => sessions.scroll(1, 0),
    scrollLeft: () => sessions.scroll(0, -1),
    scrollRight: () => sessions.scroll(0, 1),
    showTerminal: (given) => agentTerminal(parts, nodeOf(given)).show(),
    closeTerminal: (given) => closeTerminal(agentTerminal(parts, nodeOf(given))),
    shareTerminal: (given) => shareTerminal(parts, given),
    stopSharingTerminal: (given) => stopSharing(parts, given),
    startServer: () => startServer(parts),
    installProgram: () => installProgram(),
    reconnect: () => connection.connect(),
    setPath: () => openSetting('termbridge.path'),
    setToken: () => setToken(parts),
    showLog: () => log.show(),
    openWalkthrough: () => openWalkthrough(parts),
  };

  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, run]) =>
      vscode.commands.registerCommand(`termbridge.${name}`, async (given?: Given) => {
        try {
          await run(given);
        } catch (error) {
          log.warn(`${name}: ${reasonOf(error)}`);
          showProblem(error);
        }
      }),
    ),
  );
}

const INSTALL = 'Install';
const OPEN_SETTINGS = 'Open Settings';
const SHOW_LOG = 'Show Log';
const MANAGE_TRUST = 'Manage Trust';
const TRUST_COMMAND = 'workbench.trust.manage';
const BUTTONS: Record<ProblemKind, readonly string[]> = {
  missing: [INSTALL, OPEN_SETTINGS, SHOW_LOG],
  wrongPath: [OPEN_SETTINGS],
  outdated: [OPEN_SETTINGS, SHOW_LOG],
  unanswered: [SHOW_LOG],
  untrusted: [MANAGE_TRUST],
  other: [],
};

/** A message with what can be done next. Not waited for: it stays until the person presses something. */
function showProblem(error: unknown): void {
  const reason = plainText(reasonOf(error), 300);
  const text = reason.startsWith('termbridge') ? reason : `termbridge: ${reason}`;
  void Promise.resolve(vscode.window.showErrorMessage(text, ...BUTTONS[kindOf(error)])).then((pressed) => {
    if (pressed === INSTALL) {
      return installProgram();
    }
    if (pressed === OPEN_SETTINGS) {
      return openSetting('termbridge.path');
    }
    if (pressed === MANAGE_TRUST) {
      return vscode.commands.executeCommand(TRUST_COMMAND);
    }
    return pressed === SHOW_LOG ? vscode.commands.executeCommand('termbridge.showLog') : undefined;
  });
}

type SessionItem = vscode.QuickPickItem & { readonly row: SessionRow };

function sessionItems(rows: readonly SessionRow[]): SessionItem[] {
  const now = Date.now();
  return [...rows]
    .sort((a, b) => Number(b.isHere) - Number(a.isHere) || byLifeAndAge(a, b))
    .map((row) => ({
      row,
      label: `$(${iconOf(row).icon}) ${plainLabel(row.title) || 'session'}`,
      description: plainLabel(describeSession(row, now), 120),
      detail: plainLabel([row.agent, row.cwd].filter((part) => part !== '').join(' · '), 160),
    }));
}

async function chooseSession(
  store: SessionStore,
  active: SessionRow | undefined,
  isFor: (row: SessionRow) => boolean,
): Promise<SessionRow | undefined> {
  if (active !== undefined && isFor(active)) {
    return active;
  }
  const rows = store.all().filter(isFor);
  if (rows.length === 0 && store.all().length > 0) {
    void vscode.window.showInformationMessage('termbridge: There is no session for which this can be done.');
    return undefined;
  }
  return rows.length === 1 ? rows[0] : pickSession(rows);
}

async function pickSession(rows: readonly SessionRow[]): Promise<SessionRow | undefined> {
  if (rows.length === 0) {
    void vscode.window.showInformationMessage('termbridge: There are no sessions yet.');
    return undefined;
  }
  const options = { placeHolder: 'Which session?', matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(sessionItems(rows), options))?.row;
}

interface MenuItem extends vscode.QuickPickItem {
  run?(): unknown;
}

async function showMenu(parts: CommandParts): Promise<void> {
  const { connection, store, sessions, terminals } = parts;
  const run = (command: string) => () => vscode.commands.executeCommand(`termbridge.${command}`);
  const separator = (label: string): MenuItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const items: MenuItem[] = [];
  const manageTrust = (what: string): MenuItem => ({
    label: `$(shield) Restricted Mode: ${what}. Manage trust…`,
    run: () => vscode.commands.executeCommand(TRUST_COMMAND),
  });
  if (connection.state === 'connected') {
    const rows = sessionItems(store.all());
    items.push(separator('Sessions'));
    items.push(...rows.map((item) => ({ ...item, run: () => sessions.show(item.row, { preserveFocus: false }) })));
    const own = terminals.created().map((terminal) => ({
      label: `$(terminal) ${plainLabel(terminal.name) || 'terminal'}`,
      description: plainLabel(describeTerminal(terminal, Date.now()), 120),
      detail: plainLabel(terminal.agent, 160),
      run: () => terminals.terminalOf(terminal)?.show(),
    }));
    items.push(...own);
    if (rows.length + own.length === 0) {
      items.push({ label: 'No agent uses a terminal right now' });
    }
    const all = store.all();
    items.push(separator('Actions'));
    if (!vscode.workspace.isTrusted) {
      items.push(manageTrust('agents get no terminal of this window'));
    }
    if (all.some((row) => row.secret !== undefined)) {
      items.push({ label: '$(key) Type a password…', run: run('typePassword') });
    }
    if (all.some((row) => row.isDriver)) {
      items.push({ label: '$(reply) Hand a session back to its agent…', run: run('handBack') });
    }
    if (all.some(isLive)) {
      items.push({ label: '$(person) Take over a session…', run: run('takeOver') });
      items.push({ label: '$(debug-stop) Stop a session…', run: run('stopSession') });
      items.push({ label: '$(debug-stop) Stop all sessions…', run: run('stopAll') });
      items.push({ label: '$(debug-pause) Pause an agent…', run: run('pauseAgent') });
      items.push({ label: '$(copy) Copy a transcript…', run: run('copyTranscript') });
    }
    if (all.some((row) => row.paused)) {
      items.push({ label: '$(debug-continue) Resume agents', run: run('resumeAgents') });
    }
    if (all.some((row) => !isLive(row))) {
      items.push({ label: '$(clear-all) Clear ended sessions', run: run('clearEnded') });
    }
  } else {
    if (!vscode.workspace.isTrusted) {
      items.push(manageTrust('no server is started before you trust this window'));
    } else if (connection.failure !== '') {
      items.push({ label: `$(warning) ${plainLabel(connection.failure, 160)}`, run: run('showLog') });
    }
    if (connection.problem === 'missing') {
      items.push({ label: '$(cloud-download) Install termbridge…', run: run('installProgram') });
    }
    if (vscode.workspace.isTrusted) {
      items.push({ label: '$(play) Start the server', run: run('startServer') });
    }
    items.push({ label: '$(refresh) Connect to the server now', run: run('reconnect') });
  }
  const { activeTerminal } = vscode.window;
  if (activeTerminal !== undefined && terminals.isShared(activeTerminal)) {
    items.push({ label: '$(circle-slash) Stop sharing this terminal with agents', run: run('stopSharingTerminal') });
  } else if (activeTerminal !== undefined && !sessions.isSession(activeTerminal)) {
    items.push({ label: '$(broadcast) Share this terminal with agents', run: run('shareTerminal') });
  }
  items.push({ label: '$(output) Show the log', run: run('showLog') });
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: 'termbridge', matchOnDescription: true });
  await chosen?.run?.();
}

async function openWalkthrough({ connection, store, terminals, extensionId }: CommandParts): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#start`, false);
  // The editor never ticks off a step whose condition held before it read the walkthrough: these are set after that.
  const done = {
    connected: connection.state === 'connected',
    hasSessions: store.all().length + terminals.created().length > 0,
    hasTakenOver: store.hasDriven,
  };
  for (const [key, isDone] of Object.entries(done)) {
    await vscode.commands.executeCommand('setContext', `termbridge.walkthrough.${key}`, isDone);
  }
}

async function stopSession(connection: ServerConnection, row: SessionRow): Promise<void> {
  const stop = 'Stop';
  const question = `Stop ${plainText(row.title) || 'the session'}? Its programs are ended.`;
  if ((await vscode.window.showWarningMessage(question, { modal: true }, stop)) === stop) {
    await connection.request('stop', { sessionId: row.sessionId });
  }
}

/** Stops an agent's sessions and closes its terminals of this editor; those of all agents without one. */
async function stopAll({ connection, store, terminals, log }: CommandParts, group: SessionGroup | undefined): Promise<void> {
  const rows = (group?.sessions ?? store.all()).filter(isLive);
  const own = group?.terminals ?? terminals.created();
  const count = rows.length + own.length;
  if (count === 0) {
    void vscode.window.showInformationMessage('termbridge: No session is running.');
    return;
  }
  const whose = group === undefined ? 'all agents, including those in other folders' : plainText(group.name);
  const stop = 'Stop All';
  const what = count === 1 ? '1 session' : `${count} sessions`;
  const question = `Stop ${what} of ${whose}? ${count === 1 ? 'Its' : 'Their'} programs are ended.`;
  if ((await vscode.window.showWarningMessage(question, { modal: true }, stop)) !== stop) {
    return;
  }
  own.forEach((terminal) => terminals.terminalOf(terminal)?.dispose());
  const stopped = await Promise.allSettled(rows.map(({ sessionId }) => connection.request('stop', { sessionId })));
  const reasons = stopped.flatMap((outcome) => (outcome.status === 'rejected' ? [reasonOf(outcome.reason)] : []));
  reasons.forEach((reason) => log.warn(`stopAll: ${reason}`));
  // One that has ended meanwhile cannot be stopped.
  const left = rows.filter(({ sessionId }, index) => stopped[index]?.status === 'rejected' && isLive(store.get(sessionId)));
  if (left.length > 0) {
    throw new Error(`${left.length} of ${count} were not stopped: ${reasons[0] ?? ''}`);
  }
}

/** Refuses an agent's commands and input until it is resumed. */
async function pauseAgent({ connection, store }: CommandParts, given: SessionGroup | undefined): Promise<void> {
  const group = given ?? (await pickAgent(groupByAgent(store.all()).filter(({ paused }) => !paused)));
  for (const { sessionId } of group?.sessions ?? []) {
    await connection.request('pause', { sessionId });
  }
}

async function resumeAgents({ connection }: CommandParts, group: SessionGroup | undefined): Promise<void> {
  if (group === undefined) {
    await connection.request('resume', {});
  }
  for (const { sessionId } of group?.sessions ?? []) {
    await connection.request('resume', { sessionId });
  }
}

async function pickAgent(groups: readonly SessionGroup[]): Promise<SessionGroup | undefined> {
  if (groups.length === 0) {
    void vscode.window.showInformationMessage('termbridge: There is no agent that can be paused.');
    return undefined;
  }
  const items = groups.map((group) => ({ group, label: plainLabel(group.name), description: plainLabel(group.folder, 120) }));
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Which agent?' }))?.group;
}

/** Ways to install the program, each as its command line. */
const INSTALLERS = [
  { label: 'npm install -g termbridge', description: 'with Node' },
  { label: 'uv tool install termbridge-mcp', description: 'with Python and uv' },
  { label: 'pipx install termbridge-mcp', description: 'with Python and pipx' },
  { label: 'cargo binstall termbridge', description: 'with Rust and cargo-binstall' },
];

/** Types the command that installs the program into a new terminal; the person presses Enter. */
async function installProgram(): Promise<void> {
  const placeHolder = 'Which command? It is typed into a terminal: press Enter there to run it';
  const chosen = await vscode.window.showQuickPick(INSTALLERS, { placeHolder });
  if (chosen !== undefined) {
    const terminal = vscode.window.createTerminal({ name: 'Install termbridge' });
    terminal.show();
    terminal.sendText(chosen.label, false);
  }
}

async function copyTranscript(connection: ServerConnection, row: SessionRow): Promise<void> {
  const reply = await connection.request('transcript', { sessionId: row.sessionId });
  const text = textOf(reply, 'text') ?? '';
  await vscode.env.clipboard.writeText(text);
  const lines = text === '' ? 0 : text.split('\n').length;
  void vscode.window.setStatusBarMessage(`$(copy) ${lines} lines copied`, 3_000);
}

async function shareTerminal({ terminals, sessions, connection }: CommandParts, given: Given): Promise<void> {
  const terminal = clickedTerminal(given);
  if (terminal === undefined || sessions.isSession(terminal)) {
    throw new Error('select a terminal of your own first');
  }
  if (!vscode.workspace.isTrusted) {
    throw new ServerProblem('this window is in Restricted Mode: trust it first', 'untrusted');
  }
  const name = plainText(terminal.name);
  if (terminals.has(terminal)) {
    const stop = 'Stop Sharing';
    const buttons = terminals.isShared(terminal) ? [stop] : [];
    const pressed = vscode.window.showInformationMessage(`termbridge: agents can use “${name}” already.`, ...buttons);
    void Promise.resolve(pressed).then((button) => (button === stop ? terminals.unshare(terminal) : undefined));
    return;
  }
  await terminals.share(terminal);
  const when = connection.state === 'connected' ? 'now' : 'once the server is connected';
  void vscode.window.setStatusBarMessage(`$(broadcast) Agents can use “${name}” ${when}`, 5_000);
}

/** What a menu passes: the view a node, the list of terminals the terminal of a tab, which need not be in front. */
type Given = TreeNode | vscode.Terminal | undefined;

function nodeOf(given: Given): TreeNode | undefined {
  return typeof given === 'object' && given !== null && 'kind' in given ? given : undefined;
}

/** The session of a node of the view, or of a terminal's tab. */
function rowOf({ store, sessions }: CommandParts, given: Given): SessionRow | undefined {
  const node = nodeOf(given);
  if (node !== undefined) {
    return node.kind === 'session' ? store.get(node.row.sessionId) : undefined;
  }
  const terminal = vscode.window.terminals.find((known) => known === given);
  return terminal && sessions.rowOf(terminal);
}

function groupOf(given: Given): SessionGroup | undefined {
  const node = nodeOf(given);
  return node?.kind === 'group' ? node.group : undefined;
}

function clickedTerminal(given: Given): vscode.Terminal | undefined {
  return vscode.window.terminals.find((terminal) => terminal === given) ?? vscode.window.activeTerminal;
}

/** The agent's terminal of a node; the one in front where there is none. */
function agentTerminal({ terminals }: CommandParts, node: TreeNode | undefined): vscode.Terminal {
  const inFront = terminals.created().map((known) => terminals.terminalOf(known));
  const terminal =
    node?.kind === 'terminal'
      ? terminals.terminalOf(node.terminal)
      : inFront.find((known) => known !== undefined && known === vscode.window.activeTerminal);
  if (terminal === undefined) {
    throw new Error('this terminal is no agent’s, or is gone');
  }
  return terminal;
}

async function closeTerminal(terminal: vscode.Terminal): Promise<void> {
  const close = 'Close';
  const question = `Close ${plainText(terminal.name) || 'the terminal'}? Its programs are ended.`;
  if ((await vscode.window.showWarningMessage(question, { modal: true }, close)) === close) {
    terminal.dispose();
  }
}

function stopSharing({ terminals }: CommandParts, given: Given): void {
  const node = nodeOf(given);
  const terminal = node?.kind === 'shared' ? terminals.terminalOf(node.shared) : clickedTerminal(given);
  if (terminal === undefined || !terminals.isShared(terminal)) {
    throw new Error(terminal === undefined ? 'this terminal is not shared' : `“${plainText(terminal.name)}” is not shared`);
  }
  terminals.unshare(terminal);
}

async function startServer({ connection }: CommandParts): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    throw new ServerProblem('this window is in Restricted Mode: trust it first', 'untrusted');
  }
  const isConnected = (): boolean => connection.state === 'connected';
  if (isConnected()) {
    void vscode.window.showInformationMessage('termbridge: the server runs, and this window is connected to it.');
    return;
  }
  await connection.connect({ start: true });
  if (!isConnected() && connection.failure !== '') {
    throw new ServerProblem(connection.failure, connection.problem);
  }
}

async function setToken({ secrets, connection }: CommandParts): Promise<void> {
  const token = await vscode.window.showInputBox({
    title: 'Token for termbridge.serverUrl',
    prompt: 'Kept in the editor’s secret storage. Leave it empty to remove the token.',
    password: true,
    ignoreFocusOut: true,
  });
  if (token === undefined) {
    return;
  }
  await (token === '' ? secrets.delete(TOKEN_KEY) : secrets.store(TOKEN_KEY, token));
  await connection.reconnect();
}
