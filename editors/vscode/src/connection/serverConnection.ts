// Keeps one connection to a server: finds it or starts it, says `hello`, and connects again after it was lost.
//
//     disconnected ──connect──► connecting ──welcome──► connected ──lost──► disconnected, again after RECONNECT_MS
//
// A server is started when none was found for the first time, when a person asks for it, and when one was killed: that
// one left its socket behind. A program that is not installed is looked for with each attempt, and used as soon as it is there. A
// server that ended in order stays stopped, as the person who stopped it wanted. Nothing runs while it is
// connected but the timer that notices a silent server.

import * as vscode from 'vscode';
import { type Log, reasonOf } from '../log.js';
import { type Fields, type Message, PROTOCOL, textOf } from '../protocol/message.js';
import { type SessionRow, readRows } from '../protocol/sessionRow.js';
import { type WrongSetting, readWrongSettings } from '../protocol/wrongSetting.js';
import { type Answer, Channel, RequestError, ServerError } from './channel.js';
import { type ProblemKind, ServerProblem, kindOf } from './problem.js';
import { hasStaleSocket, serverSockets } from './runtimeFolder.js';
import { connectSocket } from './socketTransport.js';
import type { Transport, TransportEvents } from './transport.js';
import { connectWebSocket } from './webSocketTransport.js';

/** Time between two attempts to connect. */
export const RECONNECT_MS = 5_000;
/** Starts in this time are counted: one that failed is not tried again within it, and one that dies each time only so often. */
const START_WINDOW_MS = 60_000;
const MAX_STARTS = 3;
/** Notices that are kept until the `welcome` before them is handled. */
const MAX_EARLY_NOTICES = 1_000;

export type ConnectionState = 'disconnected' | 'connecting' | 'connected';

/** What this window is, as it is sent in `hello` and `update`. */
export interface WindowDescription {
  readonly folders: readonly string[];
  readonly trusted: boolean;
  /** It does not answer its extensions. */
  readonly away: boolean;
  readonly settings: Fields;
}

/** Where to connect, and what is sent; asked anew for every attempt. */
export interface ConnectionOptions {
  /** The runtime folder; `undefined` on a system that has none. */
  readonly folder: string | undefined;
  readonly identity: { readonly window: string; readonly editor: string; readonly version: string };
  describe(): WindowDescription;
  /** The ids of the terminals that agents have here: the server ends those that it knows and that are not named. */
  terminals(): readonly string[];
  /** The sessions that the person of this window drove when the connection was lost. */
  driving(): readonly string[];
  autoConnect(): boolean;
  /** A server may be started here: the setting is on and the workspace is trusted. */
  mayStart(): boolean;
  /** The address and the token of a server to use instead of this machine's. */
  remote(): Promise<{ readonly url: string; readonly token: string | undefined } | undefined>;
  start(signal: AbortSignal): Promise<void>;
}

export interface RequestHandler {
  (type: string, id: string, data: Fields): Promise<Answer> | undefined;
}

export class ServerConnection implements vscode.Disposable {
  private readonly stateChanged = new vscode.EventEmitter<ConnectionState>();
  private readonly welcomed = new vscode.EventEmitter<readonly SessionRow[]>();
  private readonly noticed = new vscode.EventEmitter<Message>();
  private readonly failureChanged = new vscode.EventEmitter<void>();
  private readonly settingsRead = new vscode.EventEmitter<readonly WrongSetting[]>();
  readonly onDidChangeState = this.stateChanged.event;
  /** A server was connected to; its sessions. */
  readonly onDidConnect = this.welcomed.event;
  /** There is another reason for that there is no connection, or none. */
  readonly onDidChangeFailure = this.failureChanged.event;
  readonly onDidReceiveNotice = this.noticed.event;
  /** The server has read the settings of this window; those that it cannot use. */
  readonly onDidReadSettings = this.settingsRead.event;

  private currentState: ConnectionState = 'disconnected';
  private channel: Channel | undefined;
  private retry: NodeJS.Timeout | undefined;
  private attempt: AbortController | undefined;
  private handler: RequestHandler = () => undefined;
  /** Notices that came with the `welcome`, before it was handled. */
  private readonly early: Message[] = [];
  /** Begins what was asked together with the `welcome`: what is reported after that comes first. */
  private readonly held: (() => void)[] = [];
  private mayStartUnasked = true;
  /** When servers were started of late, in milliseconds since 1970. */
  private starts: number[] = [];
  private hasStartFailed = false;
  /** Why the last start failed; kept until one succeeds, because later attempts only find that no server runs. */
  private startProblem: unknown;
  private lastFailure = '';
  private lastKind: ProblemKind = 'other';
  private isDisposed = false;

  constructor(
    private readonly log: Log,
    private readonly options: ConnectionOptions,
  ) {}

  get state(): ConnectionState {
    return this.currentState;
  }

  /** Why there is no connection, for people; empty when nothing failed. */
  get failure(): string {
    return this.lastFailure;
  }

  /** What kind of reason that is. */
  get problem(): ProblemKind {
    return this.lastKind;
  }

  /** Answers the server's requests from now on. */
  handleRequests(handler: RequestHandler): void {
    this.handler = handler;
  }

  /** Connects now, whether or not an earlier attempt goes on or waits; `start` is a person's wish. */
  async connect(how: { readonly start?: boolean } = {}): Promise<void> {
    if (this.isDisposed || this.currentState === 'connected') {
      return;
    }
    this.attempt?.abort();
    clearTimeout(this.retry);
    this.changeState('connecting');
    await this.tryOnce(how.start === true);
  }

  /** Ends the connection and makes a new one, because where to connect has changed. */
  async reconnect(): Promise<void> {
    this.disconnect('the settings have changed');
    if (this.options.autoConnect()) {
      await this.connect();
    }
  }

  /** Tries at once, whatever was tried before, because how a server is started has changed. */
  async startAnew(): Promise<void> {
    if (this.currentState === 'connected') {
      return;
    }
    this.starts = [];
    this.hasStartFailed = false;
    this.startProblem = undefined;
    this.mayStartUnasked = true;
    if (this.options.autoConnect()) {
      await this.connect();
    }
  }

  /** Sends what has changed about this window. */
  async update(): Promise<void> {
    if (this.currentState === 'connected') {
      this.settingsRead.fire(readWrongSettings(await this.request('update', this.options.describe())));
    }
  }

  async request(type: string, data: object): Promise<Fields> {
    const { channel } = this;
    if (channel === undefined || this.currentState !== 'connected') {
      throw new Error('there is no connection to the server');
    }
    return (await channel.request(type, data)).data;
  }

  /** Sends a notice; dropped while there is no connection. */
  notify(type: string, data: object): void {
    if (this.currentState === 'connected') {
      this.channel?.notify(type, data);
    }
  }

  /** Bytes that the server has not taken yet. */
  unsentBytes(): number {
    return this.channel?.unsentBytes() ?? 0;
  }

  dispose(): void {
    this.isDisposed = true;
    this.disconnect('the window closes');
    this.stateChanged.dispose();
    this.welcomed.dispose();
    this.settingsRead.dispose();
    this.noticed.dispose();
    this.failureChanged.dispose();
  }

  private disconnect(reason: string): void {
    clearTimeout(this.retry);
    this.attempt?.abort();
    if (this.channel !== undefined) {
      this.log.info(`disconnected: ${reason}`);
      this.channel.close();
      this.channel = undefined;
    }
    this.changeState('disconnected');
  }

  private async tryOnce(isWish: boolean): Promise<void> {
    const attempt = new AbortController();
    this.attempt = attempt;
    this.early.length = 0;
    this.held.length = 0;
    try {
      const rows = await this.open(attempt.signal, isWish);
      if (attempt.signal.aborted) {
        return;
      }
      this.mayStartUnasked = false;
      this.startProblem = undefined;
      this.setFailure('', 'other');
      this.changeState('connected');
      this.welcomed.fire(rows);
      for (const notice of this.early.splice(0)) {
        this.noticed.fire(notice);
      }
      this.held.splice(0).forEach((begin) => begin());
    } catch (error) {
      if (attempt.signal.aborted) {
        return;
      }
      this.failed(error);
    }
  }

  private failed(error: unknown): void {
    this.channel?.close();
    this.channel = undefined;
    const reason = reasonOf(error);
    if (reason !== this.lastFailure) {
      this.log.warn(`not connected: ${reason}`);
      if (error instanceof ServerProblem && error.detail !== '') {
        this.log.info(error.detail);
      }
    }
    this.setFailure(reason, kindOf(error));
    this.changeState('disconnected');
    this.retryLater();
  }

  private retryLater(): void {
    clearTimeout(this.retry);
    if (this.options.autoConnect() && !this.isDisposed) {
      // Quietly: a view that changes every few seconds would only be a nuisance.
      this.retry = setTimeout(() => void this.tryOnce(false), RECONNECT_MS);
    }
  }

  /** Makes a connection and says `hello`. */
  private async open(signal: AbortSignal, isWish: boolean): Promise<SessionRow[]> {
    const channel = new Channel(this.log, {
      onRequest: (type, id, data) => this.onRequest(type, id, data),
      onNotice: (message) => this.onNotice(message),
      onClose: (reason) => this.lost(channel, reason),
    });
    const abandon = (): void => channel.close();
    signal.addEventListener('abort', abandon);
    try {
      const remote = await this.options.remote();
      const transport =
        remote === undefined
          ? await this.openLocal(channel, signal, isWish)
          : await connectWebSocket(remote.url, channel, signal);
      channel.use(transport);
      signal.throwIfAborted();
      this.channel = channel;
      return await this.hello(channel, remote?.token);
    } catch (error) {
      channel.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', abandon);
    }
  }

  private async openLocal(events: TransportEvents, signal: AbortSignal, isWish: boolean): Promise<Transport> {
    const { folder } = this.options;
    if (folder === undefined) {
      throw new Error('servers are not found on this system: set termbridge.serverUrl');
    }
    let found = await openFirst(await serverSockets(folder), events, signal);
    if (found === undefined && (await this.shouldStart(folder, isWish))) {
      await this.start(signal);
      found = await openFirst(await serverSockets(folder), events, signal);
      if (found === undefined) {
        this.hasStartFailed = true;
        this.startProblem = new ServerProblem(`termbridge start-server succeeded, but no server answers in ${folder}`, 'unanswered');
      }
    }
    if (found === undefined) {
      throw this.startProblem ?? new Error('no server runs');
    }
    return found;
  }

  private async shouldStart(folder: string, isWish: boolean): Promise<boolean> {
    if (isWish) {
      return true;
    }
    this.starts = this.starts.filter((start) => start > Date.now() - START_WINDOW_MS);
    if (!this.options.mayStart() || this.starts.length >= (this.hasStartFailed ? 1 : MAX_STARTS)) {
      return false;
    }
    return this.mayStartUnasked || (await hasStaleSocket(folder));
  }

  private async start(signal: AbortSignal): Promise<void> {
    if (!isNotFound(this.startProblem)) {
      this.log.info('no server runs: starting one');
    }
    this.starts.push(Date.now());
    this.hasStartFailed = true;
    try {
      await this.options.start(signal);
    } catch (error) {
      if (!signal.aborted) {
        this.startProblem = error;
      }
      if (isNotFound(error)) {
        // Nothing was started: it may be installed at any time.
        this.starts.pop();
        this.hasStartFailed = false;
      }
      throw error;
    }
    this.startProblem = undefined;
    this.hasStartFailed = false;
  }

  private async hello(channel: Channel, token: string | undefined): Promise<SessionRow[]> {
    const { identity } = this.options;
    const hello = {
      protocol: PROTOCOL,
      token,
      ...identity,
      ...this.options.describe(),
      terminals: this.options.terminals(),
      driving: this.options.driving(),
    };
    let welcome: Message;
    try {
      welcome = await channel.request('hello', hello);
    } catch (error) {
      if (error instanceof ServerError) {
        throw new Error(`the server refused: ${error.message}`, { cause: error });
      }
      throw error;
    }
    if (welcome.type !== 'welcome') {
      throw new Error('the server does not speak the editor protocol: update it');
    }
    const rows = readRows(welcome.data['sessions']);
    this.settingsRead.fire(readWrongSettings(welcome.data));
    const version = textOf(welcome.data, 'version') ?? '?';
    this.log.info(`connected to the server at ${channel.peer}, version ${version}, ${rows.length} sessions`);
    return rows;
  }

  private onRequest(type: string, id: string, data: Fields): Promise<Answer> | undefined {
    if (this.currentState === 'connected') {
      return this.handler(type, id, data);
    }
    return new Promise<void>((resolve) => this.held.push(resolve)).then(() => {
      const answer = this.handler(type, id, data);
      if (answer === undefined) {
        throw new RequestError('this type of request is not known');
      }
      return answer;
    });
  }

  private onNotice(message: Message): void {
    if (this.currentState === 'connected') {
      this.noticed.fire(message);
    } else if (this.early.length < MAX_EARLY_NOTICES) {
      this.early.push(message);
    }
  }

  private lost(channel: Channel, reason: string): void {
    // During `hello` the rejected request reports it.
    if (this.channel !== channel || this.currentState !== 'connected') {
      return;
    }
    this.channel = undefined;
    this.log.warn(`the connection was lost: ${reason}`);
    this.setFailure(reason, 'other');
    this.changeState('disconnected');
    this.retryLater();
  }

  private setFailure(reason: string, kind: ProblemKind): void {
    if (reason !== this.lastFailure || kind !== this.lastKind) {
      this.lastFailure = reason;
      this.lastKind = kind;
      this.failureChanged.fire();
    }
  }

  private changeState(state: ConnectionState): void {
    if (state !== this.currentState && !(this.isDisposed && state !== 'disconnected')) {
      this.currentState = state;
      this.stateChanged.fire(state);
    }
  }
}

/** There is no program to start. */
function isNotFound(error: unknown): boolean {
  return ['missing', 'wrongPath'].includes(kindOf(error));
}

/** The first of these sockets at which a server answers; `undefined` when nobody listens at any. */
async function openFirst(
  sockets: readonly string[],
  events: TransportEvents,
  signal: AbortSignal,
): Promise<Transport | undefined> {
  let refusal: unknown;
  for (const socket of sockets) {
    try {
      return await connectSocket(socket, events, signal);
    } catch (error) {
      signal.throwIfAborted();
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ECONNREFUSED') {
        refusal = error;
      }
    }
  }
  if (refusal !== undefined) {
    throw refusal;
  }
  return undefined;
}
