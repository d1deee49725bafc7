// The view of sessions and of the editor's terminals by agent, and of the terminals that are shared with agents.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { plainText } from '../plainText.js';
import type { SessionRow } from '../protocol/sessionRow.js';
import type { AgentTerminal, SharedTerminal } from '../terminals/editorTerminals.js';
import {
  type SessionGroup,
  contextOf,
  contextOfAgent,
  describeSession,
  describeTerminal,
  groupByAgent,
  iconOf,
} from './sessionModel.js';
import type { SessionStore } from './sessionStore.js';

/** How often ages are drawn anew, while the view is seen. */
const AGE_MS = 60_000;
/** Changes that come within this time are drawn at once. */
const REDRAW_MS = 100;

export type TreeNode =
  | { readonly kind: 'group'; readonly group: SessionGroup }
  | { readonly kind: 'session'; readonly row: SessionRow }
  | { readonly kind: 'terminal'; readonly terminal: AgentTerminal }
  | { readonly kind: 'sharedTerminals' }
  | { readonly kind: 'shared'; readonly shared: SharedTerminal };

/** The terminals of this editor that agents may use. */
export interface UsedTerminals {
  readonly onDidChange: vscode.Event<void>;
  created(): readonly AgentTerminal[];
  shared(): readonly SharedTerminal[];
}

/** The part of the connection that the view goes by. */
export interface ConnectionFailure {
  readonly failure: string;
  readonly onDidChangeFailure: vscode.Event<void>;
}

export class SessionTree implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<TreeNode>;
  private readonly subscriptions: vscode.Disposable[];
  private redraw: NodeJS.Timeout | undefined;
  private ages: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: SessionStore,
    private readonly terminals: UsedTerminals,
    private readonly connection: ConnectionFailure,
  ) {
    this.view = vscode.window.createTreeView('termbridge.sessions', { treeDataProvider: this });
    this.subscriptions = [
      this.view,
      store.onDidChange(() => this.redrawSoon()),
      terminals.onDidChange(() => this.redrawSoon()),
      connection.onDidChangeFailure(() => this.describeFailure()),
      this.view.onDidChangeVisibility(({ visible }) => this.onVisibility(visible)),
    ];
    this.onVisibility(this.view.visible);
  }

  getChildren(node?: TreeNode): TreeNode[] {
    switch (node?.kind) {
      case undefined: {
        const byAgent = groupByAgent(this.store.all(), this.terminals.created());
        const groups = byAgent.map((group): TreeNode => ({ kind: 'group', group }));
        return this.terminals.shared().length === 0 ? groups : [...groups, { kind: 'sharedTerminals' }];
      }
      case 'group':
        return [
          ...node.group.sessions.map((row): TreeNode => ({ kind: 'session', row })),
          ...node.group.terminals.map((terminal): TreeNode => ({ kind: 'terminal', terminal })),
        ];
      case 'sharedTerminals':
        return this.terminals.shared().map((shared) => ({ kind: 'shared', shared }));
      default:
        return [];
    }
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    switch (node.kind) {
      case 'group':
        return groupItem(node.group);
      case 'session':
        return sessionItem(node.row, Date.now());
      case 'terminal':
        return terminalItem(node, Date.now());
      case 'sharedTerminals': {
        const item = new vscode.TreeItem('Shared with agents', vscode.TreeItemCollapsibleState.Expanded);
        item.id = 'shared';
        item.iconPath = new vscode.ThemeIcon('broadcast');
        return item;
      }
      case 'shared': {
        const item = new vscode.TreeItem(plainText(node.shared.name));
        item.id = `shared ${node.shared.terminalId}`;
        item.iconPath = new vscode.ThemeIcon('terminal');
        item.contextValue = 'shared';
        return item;
      }
    }
  }

  dispose(): void {
    clearTimeout(this.redraw);
    clearInterval(this.ages);
    vscode.Disposable.from(...this.subscriptions, this.changed).dispose();
  }

  /** The texts for an empty view are fixed in the manifest: the reason itself stands beside the title. */
  private describeFailure(): void {
    this.view.description = plainText(this.connection.failure, 120);
  }

  private redrawSoon(): void {
    this.redraw ??= setTimeout(() => {
      this.redraw = undefined;
      this.changed.fire();
    }, REDRAW_MS);
  }

  private onVisibility(isVisible: boolean): void {
    clearInterval(this.ages);
    this.ages = isVisible ? setInterval(() => this.redrawSoon(), AGE_MS) : undefined;
  }
}

function groupItem(group: SessionGroup): vscode.TreeItem {
  const item = new vscode.TreeItem(group.name, vscode.TreeItemCollapsibleState.Expanded);
  item.id = `agent ${group.name} ${group.folder}`;
  item.iconPath = new vscode.ThemeIcon(group.paused ? 'debug-pause' : 'hubot');
  item.contextValue = contextOfAgent(group);
  // Its last part tells folders apart; the view is too narrow for the rest.
  item.description = [group.paused ? 'paused' : '', path.basename(group.folder)].filter((part) => part !== '').join(' · ');
  if (group.folder !== '') {
    item.tooltip = `${group.name}\n${group.folder}`;
  }
  return item;
}

function terminalItem(node: TreeNode & { readonly kind: 'terminal' }, now: number): vscode.TreeItem {
  const { terminal } = node;
  const name = plainText(terminal.name) || 'terminal';
  const description = describeTerminal(terminal, now);
  const item = new vscode.TreeItem(name);
  item.id = `terminal ${terminal.terminalId}`;
  item.description = description;
  const isRunning = terminal.running !== '';
  item.iconPath = isRunning
    ? new vscode.ThemeIcon('play', new vscode.ThemeColor('charts.green'))
    : new vscode.ThemeIcon('terminal');
  item.contextValue = 'terminal';
  item.tooltip = [name, description, plainText(terminal.running, 200)].filter((line) => line !== '').join('\n');
  item.accessibilityInformation = { label: `${name}, ${description}` };
  item.command = { command: 'termbridge.showTerminal', title: 'Show Terminal', arguments: [node] };
  return item;
}

function sessionItem(row: SessionRow, now: number): vscode.TreeItem {
  const title = plainText(row.title) || 'session';
  const description = describeSession(row, now);
  const { icon, color } = iconOf(row);
  const item = new vscode.TreeItem(title);
  item.id = `session ${row.sessionId}`;
  item.description = description;
  item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
  item.contextValue = contextOf(row);
  item.tooltip = [title, description, plainText(row.cwd, 200), plainText(row.running, 200)]
    .filter((line) => line !== '')
    .join('\n');
  item.accessibilityInformation = { label: `${title}, ${description}` };
  item.command = { command: 'termbridge.showSession', title: 'Show Session', arguments: [{ kind: 'session', row }] };
  return item;
}
