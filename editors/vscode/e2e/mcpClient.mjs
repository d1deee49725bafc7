// An agent for scenarios: an MCP client on `termbridge mcp --connect`.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export class McpClient {
  /** Starts the client in a folder, which is the agent's own. */
  static async start(program, { cwd, env, name = 'e2e-agent' }) {
    const client = new McpClient(spawn(program, ['mcp', '--connect'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] }));
    await client.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name, version: '1' },
    });
    client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  constructor(process) {
    this.process = process;
    this.process.setMaxListeners(0);
    this.open = new Map();
    this.lastId = 0;
    createInterface({ input: process.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.open.get(message.id)?.(message);
      this.open.delete(message.id);
    });
  }

  send(message) {
    this.process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async request(method, params) {
    this.lastId += 1;
    const id = this.lastId;
    const reply = await new Promise((resolve, reject) => {
      this.open.set(id, resolve);
      this.process.once('exit', () => reject(new Error(`the server ended during ${method}`)));
      this.send({ jsonrpc: '2.0', id, method, params });
    });
    if (reply.error !== undefined) {
      throw new Error(`${method}: ${JSON.stringify(reply.error)}`);
    }
    return reply.result;
  }

  /** Calls a tool; the structured part of its result. */
  async call(tool, args = {}) {
    const result = await this.request('tools/call', { name: tool, arguments: args });
    if (result.isError) {
      throw new Error(`${tool}: ${result.content?.[0]?.text}`);
    }
    return result.structuredContent;
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.stdin.end();
    await ended;
  }
}
