// A server that speaks the editor's protocol on a real unix socket and does what a test tells it to.
//
// Used by the tests under vitest and, run by Node itself, by the scenarios in a real VS Code: only syntax that Node can strip.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, type Socket, createServer } from 'node:net';
import * as path from 'node:path';

export interface WireMessage {
  type: string;
  id?: string;
  data?: Record<string, unknown>;
}

export interface ScriptedServerOptions {
  /** The sessions in `welcome`. */
  rows?: object[];
  /** Answers the greeting; `undefined` leaves it unanswered. */
  greeting?: string | undefined;
  /** Answers `hello` instead of a `welcome`. */
  hello?: (peer: Peer, message: WireMessage) => void;
  /** Answers a request; without one, or where it returns `undefined`, the answer is `success {}`. */
  answer?: (message: WireMessage, peer: Peer) => { type: string; data?: object } | undefined;
  /** Types of requests that are left unanswered. */
  silent?: string[];
}

const GREETING = '{"termbridge":{"protocol":1,"version":"0.0.0-scripted","pid":1,"clients":0,"window":1}}';

export class ScriptedServer {
  readonly folder: string;
  readonly socketPath: string;
  readonly options: ScriptedServerOptions;
  readonly peers: Peer[] = [];
  private server: Server | undefined;
  private readonly waiting: ((peer: Peer) => void)[] = [];
  private taken = 0;

  /** Call `listen` next. `folder` is the runtime folder, made if it is missing. */
  constructor(folder: string, options: ScriptedServerOptions = {}) {
    this.folder = folder;
    this.socketPath = path.join(folder, 'server.sock');
    this.options = { greeting: GREETING, ...options };
  }

  async listen(): Promise<this> {
    const servers = path.join(this.folder, 'servers');
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    mkdirSync(servers, { recursive: true, mode: 0o700 });
    rmSync(this.socketPath, { force: true });
    const server = createServer((socket) => this.accept(socket));
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.socketPath, resolve);
    });
    const record = { pid: process.pid, version: '0.0.0', started: 1, socket: this.socketPath, http: null, workspace: '/' };
    writeFileSync(path.join(servers, `${process.pid}.json`), `${JSON.stringify(record)}\n`, { mode: 0o600 });
    return this;
  }

  /** The next window that has said `hello`. */
  async nextPeer(): Promise<Peer> {
    const ready = this.peers[this.taken];
    this.taken += 1;
    return ready ?? new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Ends in order: the socket and the record are gone. */
  async close(): Promise<void> {
    rmSync(path.join(this.folder, 'servers', `${process.pid}.json`), { force: true });
    await this.end();
    rmSync(this.socketPath, { force: true });
  }

  /** Ends as one that was killed: the socket's file stays, and nobody listens. */
  async kill(): Promise<void> {
    await this.end();
    // Node removes the file of a socket that it closes: one is left in its place.
    await leaveStaleSocket(this.socketPath);
  }

  private async end(): Promise<void> {
    for (const peer of this.peers) {
      peer.close();
    }
    await new Promise((resolve) => (this.server === undefined ? resolve(undefined) : this.server.close(resolve)));
  }

  private accept(socket: Socket): void {
    const peer = new Peer(socket, this.options, () => {
      this.peers.push(peer);
      this.waiting.shift()?.(peer);
    });
  }
}

/** One window's connection. */
export class Peer {
  /** Every message that came, the oldest first. */
  readonly messages: WireMessage[] = [];
  /** The first line. */
  greeting: string | undefined;
  isClosed = false;
  private readonly socket: Socket;
  private readonly options: ScriptedServerOptions;
  private readonly onHello: () => void;
  private readonly waiting = new Set<() => void>();
  private readonly seen = new WeakSet<WireMessage>();
  private text = '';
  private lastId = 0;

  constructor(socket: Socket, options: ScriptedServerOptions, onHello: () => void) {
    this.socket = socket;
    this.options = options;
    this.onHello = onHello;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.received(text));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
      this.wake();
    });
  }

  /** The next message of a type that was not returned before; rejects when the connection ends first. */
  async next(type: string): Promise<WireMessage & { data: Record<string, unknown> }> {
    for (;;) {
      const found = this.messages.find((message) => message.type === type && !this.seen.has(message));
      if (found !== undefined) {
        this.seen.add(found);
        return { ...found, data: found.data ?? {} };
      }
      if (this.isClosed) {
        throw new Error(`the connection ended before ${type}`);
      }
      await this.anything();
    }
  }

  /** Resolves when the connection has ended. */
  async closed(): Promise<void> {
    while (!this.isClosed) {
      await this.anything();
    }
  }

  notify(type: string, data: object): void {
    this.sendRaw(`${JSON.stringify({ type, data })}\n`);
  }

  /** Sends a request and resolves with its reply. */
  async request(type: string, data: object, id = this.newId()): Promise<WireMessage & { data: Record<string, unknown> }> {
    this.sendRaw(`${JSON.stringify({ type, id, data })}\n`);
    for (;;) {
      const reply = this.messages.find((message) => message.id === id);
      if (reply !== undefined) {
        return { ...reply, data: reply.data ?? {} };
      }
      if (this.isClosed) {
        throw new Error(`the connection ended before the reply to ${type}`);
      }
      await this.anything();
    }
  }

  sendRaw(text: string | Buffer): void {
    this.socket.write(text);
  }

  close(): void {
    this.socket.destroy();
  }

  private newId(): string {
    this.lastId += 1;
    return `s${this.lastId}`;
  }

  private anything(): Promise<void> {
    return new Promise((resolve) => this.waiting.add(resolve));
  }

  private wake(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const resolve of waiting) {
      resolve();
    }
  }

  private received(text: string): void {
    this.text += text;
    for (let end = this.text.indexOf('\n'); end !== -1; end = this.text.indexOf('\n')) {
      const line = this.text.slice(0, end);
      this.text = this.text.slice(end + 1);
      if (this.greeting === undefined) {
        this.greeting = line;
        if (this.options.greeting !== undefined) {
          this.sendRaw(`${this.options.greeting}\n`);
        }
      } else {
        this.onMessage(JSON.parse(line) as WireMessage);
      }
    }
  }

  private onMessage(message: WireMessage): void {
    this.messages.push(message);
    if (message.type === 'hello') {
      this.answerHello(message);
    } else if (message.id?.startsWith('e') === true && this.options.silent?.includes(message.type) !== true) {
      const answer = this.options.answer?.(message, this) ?? { type: 'success' };
      this.sendRaw(`${JSON.stringify({ ...answer, id: message.id })}\n`);
    }
    this.wake();
  }

  private answerHello(message: WireMessage): void {
    if (this.options.hello !== undefined) {
      this.options.hello(this, message);
    } else {
      const data = { protocol: 1, version: '0.0.0-scripted', pid: process.pid, sessions: this.options.rows ?? [] };
      this.sendRaw(`${JSON.stringify({ type: 'welcome', id: message.id, data })}\n`);
    }
    this.onHello();
  }
}

/** A row as a server sends it, with what a test cares about. */
export function wireRow(sessionId: string, fields: object = {}): object {
  return {
    sessionId,
    name: sessionId,
    title: sessionId,
    agent: 'claude-code',
    folder: '/work',
    isHere: true,
    state: 'running',
    cwd: '/work',
    created: 1_700_000_000_000,
    cols: 80,
    rows: 24,
    driver: 'agent',
    isDriver: false,
    ...fields,
  };
}

async function leaveStaleSocket(socketPath: string): Promise<void> {
  const { spawnSync } = await import('node:child_process');
  const script = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', script, socketPath]);
}
