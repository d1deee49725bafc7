// Ties the parts together; the only file that knows all of them.
//
//     server ◄─ connection ─► store ─► terminals, tree, status bar, password prompts
//                   └───────► the editor's own terminals

import { randomUUID } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { TOKEN_KEY, registerCommands } from './commands.js';
import { findBinary, usualFolders } from './connection/binary.js';
import { runtimeFolder } from './connection/runtimeFolder.js';
import { ServerConnection } from './connection/serverConnection.js';
import { startServer } from './connection/startServer.js';
import { type Log, reasonOf } from './log.js';
import { registerMcpServer } from './mcpServer.js';
import { type Message, textOf } from './protocol/message.js';
import { isLive, readRow } from './protocol/sessionRow.js';
import { ClosedTabs, type OnTabClose } from './sessions/closedTabs.js';
import { PasswordPrompts } from './sessions/passwordPrompts.js';
import { SessionStore } from './sessions/sessionStore.js';
import { SessionTerminals, type ShowTerminals } from './sessions/sessionTerminals.js';
import { SessionTree } from './sessions/sessionTree.js';
import { StatusBar } from './sessions/statusBar.js';
import { settingWarnings } from './settingWarnings.js';
import { POLICY_SETTINGS, setting } from './settings.js';
import { EditorTerminals } from './terminals/editorTerminals.js';
import { PanelFront } from './terminals/panelFront.js';
import { answerTerminalRequest } from './terminals/terminalRequests.js';
import { describeWindow } from './window.js';
import { WindowPresence } from './windowPresence.js';

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('termbridge', { log: true });
  // Nothing tells a window that was loaded anew from another on the same folders.
  const window = randomUUID();
  const version = String((context.extension.packageJSON as { version?: unknown }).version ?? '0');
  const binary = (): Promise<string> =>
    findBinary({
      setting: setting('path', ''),
      extension: context.extensionPath,
      searchPath: process.env['PATH'] ?? '',
      usual: usualFolders(),
    });
  const presence = new WindowPresence();
  const connection: ServerConnection = new ServerConnection(log, {
    folder: runtimeFolder(),
    identity: { window, editor: vscode.env.appName, version },
    describe: () => describeWindow(presence),
    terminals: (): string[] => terminals.ids(),
    driving: (): string[] => sessions.driving(),
    autoConnect: () => setting('autoConnect', true),
    mayStart: () => setting('autoStart', true) && vscode.workspace.isTrusted,
    remote: async () => {
      const url = setting('serverUrl', '');
      return url === '' ? undefined : { url, token: await context.secrets.get(TOKEN_KEY) };
    },
    start: async (signal) => startServer(await binary(), signal),
  });
  const store = new SessionStore(context.workspaceState);
  const showTerminals = (): ShowTerminals => setting<ShowTerminals>('showTerminals', 'always');
  const front = new PanelFront();
  const memory = context.workspaceState;
  const place = { folder: path.join(context.globalStorageUri.fsPath, 'terminals'), window };
  const closedTabs = new ClosedTabs(
    connection,
    {
      onTabClose: () => setting<OnTabClose>('onTabClose', 'ask'),
      remember: (choice) =>
        vscode.workspace.getConfiguration('termbridge').update('onTabClose', choice, vscode.ConfigurationTarget.Global),
      isLive: (sessionId) => isLive(store.get(sessionId)),
    },
    log,
  );
  const sessions: SessionTerminals = new SessionTerminals(
    store,
    connection,
    { showTerminals, memory, front, closedTabs },
    log,
  );
  const terminals: EditorTerminals = new EditorTerminals(connection, log, place, presence);
  front.know((terminal) => sessions.userOf(terminal));
  front.know((terminal) => terminals.userOf(terminal));
  const prompts = new PasswordPrompts(store, connection, log, { isInHand: (row) => sessions.isInHand(row) });

  connection.handleRequests((type, id, data) =>
    answerTerminalRequest(
      terminals,
      {
        isTrusted: () => vscode.workspace.isTrusted,
        showsTerminals: () => showTerminals() === 'always',
        front,
        answers: () => presence.answers(),
      },
      { type, id, data },
    ),
  );

  context.subscriptions.push(
    // Disposed of in this order.
    prompts,
    closedTabs,
    sessions,
    terminals,
    new SessionTree(store, terminals, connection),
    new StatusBar(store, connection, terminals, sessions),
    connection.onDidConnect((rows) => {
      store.replaceAll(rows);
      sessions.online();
      void terminals.online();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => sessions.showAll()),
    connection.onDidReceiveNotice((message) => onNotice(message, { store, sessions, terminals }, log)),
    connection.onDidChangeState((state) => {
      if (state === 'disconnected') {
        sessions.offline();
        store.replaceAll([]);
      }
    }),
    ...contextKeys(connection, { store, sessions, terminals }),
    presence,
    ...windowChanges(connection, presence, log),
    settingWarnings(connection, log),
    registerMcpServer(binary, version, connection.onDidConnect, log),
    registerCommands({
      connection,
      store,
      sessions,
      prompts,
      terminals,
      secrets: context.secrets,
      log,
      extensionId: context.extension.id,
    }),
    connection,
    store,
    log,
  );

  if (setting('autoConnect', true)) {
    // Not awaited: the editor waits for `activate`.
    void connection.connect();
  }
}

interface NoticeParts {
  readonly store: SessionStore;
  readonly sessions: SessionTerminals;
  readonly terminals: EditorTerminals;
}

function onNotice(message: Message, { store, sessions, terminals }: NoticeParts, log: Log): void {
  switch (message.type) {
    case 'session': {
      const row = readRow(message.data);
      if (row === undefined) {
        log.warn('dropped the notice session: it has no sessionId');
      } else {
        store.put(row);
      }
      break;
    }
    case 'session_gone':
      store.remove(textOf(message.data, 'sessionId') ?? '');
      break;
    case 'dump':
    case 'output':
    case 'frame':
    case 'ended':
    case 'focus':
      sessions.onNotice(message);
      break;
    case 'terminal_unknown':
      terminals.disown(textOf(message.data, 'terminalId') ?? '');
      break;
    default:
      log.warn(`dropped the notice ${message.type.slice(0, 50)}: its type is not known`);
  }
}

/** What the manifest's `when` clauses go by. */
function contextKeys(connection: ServerConnection, { store, sessions, terminals }: NoticeParts): vscode.Disposable[] {
  const set = (key: string, value: unknown): void => {
    void vscode.commands.executeCommand('setContext', `termbridge.${key}`, value);
  };
  const flags = new Map<string, boolean>();
  const setFlag = (key: string, value: boolean): void => {
    if (flags.get(key) !== value) {
      flags.set(key, value);
      set(key, value);
    }
  };
  /** What menus and keys of terminals are for: they know of no state but that of the terminal in front. */
  const lookAtFront = (): void => {
    const { activeTerminal: front } = vscode.window;
    setFlag('isShared', front !== undefined && terminals.isShared(front));
    setFlag('canShare', front !== undefined && !terminals.has(front) && !sessions.isSession(front));
    setFlag('canScroll', sessions.canScroll());
    const { canHandBack, canFit, isFitted } = sessions.buttons();
    setFlag('canHandBack', canHandBack);
    setFlag('canFit', canFit);
    setFlag('isFitted', isFitted);
  };
  const countSessions = (): void => {
    const rows = store.all();
    const own = terminals.created().length;
    setFlag('hasSessions', rows.length + own > 0);
    setFlag('hasLiveSessions', rows.some(isLive) || own > 0);
    setFlag('hasEndedSessions', rows.some((row) => !isLive(row)));
  };
  set('state', connection.state);
  lookAtFront();
  return [
    connection.onDidChangeState((state) => set('state', state)),
    connection.onDidChangeFailure(() => set('problem', connection.problem)),
    sessions.onDidChangeClipping(lookAtFront),
    store.onDidChange(() => {
      lookAtFront();
      countSessions();
      setFlag('hasTakenOver', store.hasDriven);
    }),
    vscode.window.onDidChangeActiveTerminal(lookAtFront),
    terminals.onDidChange(() => {
      lookAtFront();
      countSessions();
    }),
  ];
}

/** Tells the server when this window changes, and connects anew when where to connect changes. */
function windowChanges(connection: ServerConnection, presence: WindowPresence, log: Log): vscode.Disposable[] {
  const update = (): void => {
    connection.update().catch((error: unknown) => log.warn(`update: ${reasonOf(error)}`));
  };
  const policy = [...POLICY_SETTINGS].flatMap((name) => [`termbridge.${name}`, `terminalMcp.${name}`]);
  return [
    vscode.workspace.onDidChangeWorkspaceFolders(update),
    presence.onDidChange(update),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      update();
      if (setting('autoConnect', true)) {
        void connection.connect();
      }
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (policy.some((name) => event.affectsConfiguration(name))) {
        update();
      }
      if (['serverUrl', 'autoConnect'].some((name) => event.affectsConfiguration(`termbridge.${name}`))) {
        void connection.reconnect();
      } else if (['path', 'autoStart'].some((name) => event.affectsConfiguration(`termbridge.${name}`))) {
        void connection.startAnew();
      }
    }),
  ];
}
