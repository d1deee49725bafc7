// Offers termbridge to the editor's own agents, as the stdio server `termbridge mcp --connect`.

import * as vscode from 'vscode';
import { type Log, reasonOf } from './log.js';
import { localFolders } from './window.js';

/** Registers the server where the editor knows of such; an older one, or a fork, may not. */
export function registerMcpServer(
  findBinary: () => Promise<string>,
  version: string,
  /** A server was connected to: the program may have been installed since it was looked for. */
  onDidConnect: vscode.Event<unknown>,
  log: Log,
): vscode.Disposable {
  const register = (vscode.lm as typeof vscode.lm | undefined)?.registerMcpServerDefinitionProvider;
  if (typeof register !== 'function' || typeof vscode.McpStdioServerDefinition !== 'function') {
    log.info('this editor does not take MCP servers from extensions');
    return new vscode.Disposable(() => undefined);
  }
  const changed = new vscode.EventEmitter<void>();
  let isMissing = false;
  return vscode.Disposable.from(
    changed,
    onDidConnect(() => {
      if (isMissing) {
        changed.fire();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changed.fire()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('termbridge.path')) {
        changed.fire();
      }
    }),
    register.call(vscode.lm, 'termbridge', {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions: async () => {
        if (!vscode.workspace.isTrusted) {
          return [];
        }
        try {
          const server = mcpServer(await findBinary(), version);
          isMissing = false;
          return [server];
        } catch (error) {
          isMissing = true;
          log.warn(`no MCP server is offered to the editor: ${reasonOf(error)}`);
          return [];
        }
      },
    }),
  );
}

function mcpServer(binary: string, version: string): vscode.McpStdioServerDefinition {
  const server = new vscode.McpStdioServerDefinition('termbridge', binary, ['mcp', '--connect'], {}, version);
  const [folder] = localFolders();
  if (folder !== undefined) {
    server.cwd = folder.uri;
  }
  return server;
}
