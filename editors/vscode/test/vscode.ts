// A small `vscode` of our own: as much of the editor's API as the extension uses, and `editor` for tests to act as the person.

type Listener<T> = (event: T) => unknown;

export class Disposable {
  static from(...items: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => items.forEach((item) => item.dispose()));
  }

  constructor(private readonly onDispose: () => unknown) {}

  dispose(): void {
    this.onDispose();
  }
}

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();

  readonly event = (listener: Listener<T>): Disposable => {
    const own: Listener<T> = (event) => listener(event);
    this.listeners.add(own);
    return new Disposable(() => this.listeners.delete(own));
  };

  fire(event: T): void {
    [...this.listeners].forEach((listener) => listener(event));
  }

  get listenerCount(): number {
    return this.listeners.size;
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export class TabInputTerminal {}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class ThemeIcon {
  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const TerminalExitReason = { Unknown: 0, Shutdown: 1, Process: 2, User: 3, Extension: 4 };
export const ConfigurationTarget = { Global: 1, Workspace: 2, WorkspaceFolder: 3 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };

export class TreeItem {
  constructor(
    readonly label: string,
    readonly collapsibleState = TreeItemCollapsibleState.None,
  ) {}
}

export class McpStdioServerDefinition {
  cwd: unknown;

  constructor(
    readonly label: string,
    readonly command: string,
    readonly args: string[],
    readonly env: object,
    readonly version: string,
  ) {}
}

interface Pty {
  open(dimensions: unknown): void;
  close(): void;
  handleInput(data: string): void;
  setDimensions(dimensions: unknown): void;
  onDidWrite(listener: Listener<string>): Disposable;
  onDidOverrideDimensions(listener: Listener<unknown>): Disposable;
  onDidChangeName(listener: Listener<string>): Disposable;
  onDidClose(listener: Listener<unknown>): Disposable;
}

export interface TerminalOptions {
  name: string;
  pty?: Pty;
  cwd?: string;
  env?: object;
  shellPath?: string;
  isTransient?: boolean;
}

/** A terminal of the editor, or one that shows a pseudoterminal. */
export class FakeTerminal {
  name: string;
  processId = Promise.resolve<number | undefined>(4242);
  exitStatus: { code: number | undefined; reason: number } | undefined;
  shellIntegration: FakeShellIntegration | undefined;
  state = { isInteractedWith: false, shell: 'bash' };
  /** What was written to the view. */
  written = '';
  /** The sizes that the view was told to have. */
  readonly overrides: unknown[] = [];
  readonly sent: { text: string; enter: boolean }[] = [];
  readonly shown: { preserveFocus: boolean | undefined }[] = [];
  isClosed = false;

  constructor(readonly creationOptions: TerminalOptions) {
    this.name = creationOptions.name;
    const { pty } = creationOptions;
    if (pty !== undefined) {
      pty.onDidWrite((text) => (this.written += text));
      pty.onDidOverrideDimensions((dimensions) => this.overrides.push(dimensions));
      pty.onDidChangeName((name) => (this.name = name));
      pty.onDidClose(() => this.dispose());
    }
  }

  /** The editor does this a moment after it opened the terminal. */
  takeFirstName(): void {
    this.name = this.creationOptions.name;
  }

  get pty(): Pty {
    if (this.creationOptions.pty === undefined) {
      throw new Error('not a pseudoterminal');
    }
    return this.creationOptions.pty;
  }

  show(preserveFocus?: boolean): void {
    this.shown.push({ preserveFocus });
    window.activeTerminal = this;
    editor.activated.fire(this);
  }

  sendText(text: string, enter = true): void {
    this.sent.push({ text, enter });
  }

  /** The person closes its tab. */
  closeTab(): void {
    this.exitStatus = { code: undefined, reason: TerminalExitReason.User };
    this.dispose();
  }

  /** It is closed by the extension, or as its `exitStatus` says. */
  dispose(): void {
    if (!this.isClosed) {
      this.isClosed = true;
      editor.terminals.splice(editor.terminals.indexOf(this), 1);
      window.activeTerminal = window.activeTerminal === this ? undefined : window.activeTerminal;
      this.creationOptions.pty?.close();
      editor.closedTerminal.fire(this);
    }
  }

  /** Its shell reports itself. */
  integrate(cwd = '/work'): FakeShellIntegration {
    this.shellIntegration = new FakeShellIntegration(this, cwd);
    editor.integrated.fire({ terminal: this, shellIntegration: this.shellIntegration });
    return this.shellIntegration;
  }
}

export class FakeShellIntegration {
  readonly cwd: { fsPath: string };
  readonly executions: FakeExecution[] = [];

  constructor(
    readonly terminal: FakeTerminal,
    cwd: string,
  ) {
    this.cwd = { fsPath: cwd };
  }

  executeCommand(command: string): FakeExecution {
    const execution = new FakeExecution(this.terminal, command);
    this.executions.push(execution);
    return execution;
  }
}

export class FakeExecution {
  private readonly chunks: string[] = [];
  private isOver = false;
  private isRead = false;
  private wake: () => void = () => undefined;

  constructor(
    readonly terminal: FakeTerminal,
    readonly command: string,
  ) {}

  get commandLine(): { value: string } {
    return { value: this.command };
  }

  /** As in the editor: what was printed before is not part of it. */
  read(): AsyncIterable<string> {
    this.isRead = true;
    return this.stream();
  }

  start(): void {
    editor.startedExecution.fire({ terminal: this.terminal, execution: this });
  }

  print(text: string): void {
    if (this.isRead) {
      this.chunks.push(text);
      this.wake();
    }
  }

  end(exitCode: number | undefined): void {
    this.isOver = true;
    this.wake();
    editor.endedExecution.fire({ terminal: this.terminal, execution: this, exitCode });
  }

  private async *stream(): AsyncGenerator<string> {
    for (;;) {
      const chunk = this.chunks.shift();
      if (chunk !== undefined) {
        yield chunk;
      } else if (this.isOver) {
        return;
      } else {
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    }
  }
}

export class FakeInputBox {
  value = '';
  title = '';
  prompt = '';
  placeholder = '';
  password = false;
  ignoreFocusOut = false;
  isOpen = false;
  private readonly accepted = new EventEmitter<void>();
  private readonly hidden = new EventEmitter<void>();
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  validationMessage: string | undefined;
  private readonly changed = new EventEmitter<string>();
  readonly onDidChangeValue = this.changed.event;

  show(): void {
    this.isOpen = true;
  }

  hide(): void {
    if (this.isOpen) {
      this.isOpen = false;
      this.hidden.fire();
    }
  }

  dispose(): void {
    this.hide();
  }

  /** The person types. */
  type(text: string): void {
    this.value += text;
    this.changed.fire(this.value);
  }

  /** The person types and presses Enter. */
  submit(text: string): void {
    this.type(text);
    this.accepted.fire();
  }
}

class FakeLog {
  readonly lines: string[] = [];
  private write(level: string, message: string): void {
    this.lines.push(`${level} ${message}`);
  }
  debug = (message: string): void => this.write('debug', message);
  info = (message: string): void => this.write('info', message);
  warn = (message: string): void => this.write('warn', message);
  error = (message: string): void => this.write('error', message);
  show = (): void => undefined;
  dispose = (): void => undefined;
}

type Scope = 'globalValue' | 'workspaceValue';

/** What a test sees and does in the place of the person and the editor. */
export const editor = {
  terminals: [] as FakeTerminal[],
  inputBoxes: [] as FakeInputBox[],
  log: new FakeLog(),
  statusBar: { text: '', tooltip: '', backgroundColor: undefined as unknown, isShown: false },
  treeView: { visible: false, description: '', visibility: new EventEmitter<{ visible: boolean }>() },
  treeProvider: undefined as unknown,
  contextKeys: new Map<string, unknown>(),
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  messages: [] as string[],
  /** The buttons of the last message. */
  buttons: [] as string[],
  clipboard: '',
  /** The editor's own commands that were run. */
  workbench: [] as unknown[][],
  mcpProvider: undefined as { provideMcpServerDefinitions(): Promise<McpStdioServerDefinition[]> } | undefined,
  /** The window is on another machine, or a browser's. */
  isRemote: false,
  /** What the person picks in the next quick pick, given its items. */
  pick: (items: readonly { label: string }[]): unknown => items[0],
  /** The button that the person presses in a message. */
  press: undefined as string | undefined,
  closedTerminal: new EventEmitter<FakeTerminal>(),
  activated: new EventEmitter<FakeTerminal | undefined>(),
  openedTerminal: new EventEmitter<FakeTerminal>(),
  integrated: new EventEmitter<{ terminal: FakeTerminal; shellIntegration: FakeShellIntegration }>(),
  startedExecution: new EventEmitter<object>(),
  endedExecution: new EventEmitter<object>(),
  configured: new EventEmitter<{ affectsConfiguration(name: string): boolean }>(),
  trustGranted: new EventEmitter<void>(),
  foldersChanged: new EventEmitter<void>(),
  settings: new Map<string, Partial<Record<Scope, unknown>>>(),

  /** Sets a setting as a person does, or a workspace. */
  configure(name: string, value: unknown, scope: Scope = 'globalValue'): void {
    editor.settings.set(name, { ...editor.settings.get(name), [scope]: value });
    editor.configured.fire({ affectsConfiguration: (asked) => name === asked || name.startsWith(`${asked}.`) });
  },

  run(command: string, ...args: unknown[]): Promise<unknown> {
    return commands.executeCommand(command, ...args);
  },

  /** The editor restores a terminal after a reload: of its options it knows none. */
  restore(name: string, pid: number): FakeTerminal {
    const terminal = new FakeTerminal({ name });
    terminal.processId = Promise.resolve(pid);
    editor.terminals.push(terminal);
    editor.openedTerminal.fire(terminal);
    return terminal;
  },

  terminal(name: string): FakeTerminal {
    const found = editor.terminals.find((terminal) => terminal.name.includes(name));
    if (found === undefined) {
      throw new Error(`no terminal ${name} among ${editor.terminals.map((terminal) => terminal.name).join(', ')}`);
    }
    return found;
  },

  /** A new editor, as in a new window. */
  reset(): void {
    Object.assign(editor, { terminals: [], inputBoxes: [], log: new FakeLog(), messages: [], buttons: [], workbench: [], clipboard: '' });
    Object.assign(editor, { mcpProvider: undefined, treeProvider: undefined, press: undefined, isRemote: false });
    editor.pick = (items) => items[0];
    editor.statusBar = { text: '', tooltip: '', backgroundColor: undefined, isShown: false };
    editor.treeView = { visible: false, description: '', visibility: new EventEmitter() };
    for (const map of [editor.contextKeys, editor.commands, editor.settings]) {
      map.clear();
    }
    for (const emitter of emitters()) {
      emitter.dispose();
    }
    window.activeTerminal = undefined;
    window.tabGroups.all = [];
    workspace.isTrusted = true;
    workspace.workspaceFolders = [];
  },

  /** Listeners that are still there: a disposed extension leaves none. */
  listenerCount(): number {
    return emitters().reduce((sum, emitter) => sum + emitter.listenerCount, 0);
  },
};

function emitters(): EventEmitter<never>[] {
  const { closedTerminal, activated, openedTerminal, integrated, startedExecution, endedExecution, configured, trustGranted, foldersChanged } = editor;
  return [closedTerminal, activated, openedTerminal, integrated, startedExecution, endedExecution, configured, trustGranted, foldersChanged] as never[];
}

async function showMessage(message: string, ...items: unknown[]): Promise<string | undefined> {
  editor.messages.push(message);
  editor.buttons = items.filter((item) => typeof item === 'string');
  return editor.press !== undefined && editor.buttons.includes(editor.press) ? editor.press : undefined;
}

export const window = {
  activeTerminal: undefined as FakeTerminal | undefined,
  get terminals(): readonly FakeTerminal[] {
    return editor.terminals;
  },
  tabGroups: { all: [] as { tabs: { input: unknown }[] }[] },
  createTerminal(options: TerminalOptions): FakeTerminal {
    const terminal = new FakeTerminal(options);
    editor.terminals.push(terminal);
    return terminal;
  },
  createInputBox(): FakeInputBox {
    const box = new FakeInputBox();
    editor.inputBoxes.push(box);
    return box;
  },
  createOutputChannel: () => editor.log,
  createStatusBarItem: () =>
    Object.assign(editor.statusBar, {
      show: () => (editor.statusBar.isShown = true),
      dispose: () => (editor.statusBar.isShown = false),
    }),
  createTreeView: (_id: string, options: { treeDataProvider: unknown }) => {
    editor.treeProvider = options.treeDataProvider;
    const { visibility } = editor.treeView;
    return Object.assign(editor.treeView, { onDidChangeVisibility: visibility.event, dispose: () => undefined });
  },
  showQuickPick: async (items: readonly { label: string }[]) => editor.pick(items),
  showInputBox: async () => undefined,
  showErrorMessage: showMessage,
  showInformationMessage: showMessage,
  showWarningMessage: showMessage,
  setStatusBarMessage: (message: string) => void editor.messages.push(message),
  onDidChangeActiveTerminal: editor.activated.event,
  onDidCloseTerminal: editor.closedTerminal.event,
  onDidOpenTerminal: editor.openedTerminal.event,
  onDidChangeTerminalShellIntegration: editor.integrated.event,
  onDidStartTerminalShellExecution: editor.startedExecution.event,
  onDidEndTerminalShellExecution: editor.endedExecution.event,
};

export const workspace = {
  isTrusted: true,
  workspaceFolders: [] as { uri: { scheme: string; fsPath: string } }[],
  getConfiguration: (section: string) => ({
    get: (name: string, otherwise: unknown) => {
      const found = editor.settings.get(`${section}.${name}`);
      return found?.workspaceValue ?? found?.globalValue ?? otherwise;
    },
    update: async (name: string, value: unknown, target: number) =>
      editor.configure(`${section}.${name}`, value, target === ConfigurationTarget.Global ? 'globalValue' : 'workspaceValue'),
    inspect: (name: string) => ({ key: name, defaultValue: 'a default', ...editor.settings.get(`${section}.${name}`) }),
  }),
  onDidChangeConfiguration: editor.configured.event,
  onDidGrantWorkspaceTrust: editor.trustGranted.event,
  onDidChangeWorkspaceFolders: editor.foldersChanged.event,
};

export const commands = {
  registerCommand(name: string, run: (...args: unknown[]) => unknown): Disposable {
    editor.commands.set(name, run);
    return new Disposable(() => editor.commands.delete(name));
  },
  /** The editor's own, as far as it matters here. */
  getCommands: async () => ['workbench.action.openSettings', ...(editor.isRemote ? ['workbench.action.openRemoteSettings'] : [])],
  async executeCommand(name: string, ...args: unknown[]): Promise<unknown> {
    if (name === 'setContext') {
      editor.contextKeys.set(String(args[0]), args[1]);
      return undefined;
    }
    if (name.startsWith('workbench.')) {
      editor.workbench.push([name, ...args]);
    }
    return editor.commands.get(name)?.(...args);
  },
};

export const env = {
  appName: 'Fake Code',
  shell: '/bin/bash',
  clipboard: {
    writeText: async (text: string) => {
      editor.clipboard = text;
    },
  },
};

export const lm = {
  registerMcpServerDefinitionProvider(_id: string, provider: NonNullable<typeof editor.mcpProvider>): Disposable {
    editor.mcpProvider = provider;
    return new Disposable(() => (editor.mcpProvider = undefined));
  },
};
