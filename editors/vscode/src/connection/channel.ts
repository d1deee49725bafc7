// Requests, replies and notices over one connection.
//
//     request:  ours → reply of the same id, within `REQUEST_LIMIT_MS`
//     request:  the server's → `handle`, whose answer gets the same id; `ping` is answered here
//     notice:   no id, either way
//
// A message that fits nothing is logged and dropped. When the channel closes, every open request is rejected.

import { type Log, reasonOf } from '../log.js';
import { MAX_MESSAGE_BYTES, type Message, readMessage, textOf, writeMessage } from '../protocol/message.js';
import type { Transport, TransportEvents } from './transport.js';

/** How long the server may take to answer. */
export const REQUEST_LIMIT_MS = 30_000;
/** The server sends `ping` every 30 s: after three missed ones it is gone. */
export const SILENCE_LIMIT_MS = 95_000;
/** Requests of ours that may be open at once, and of the server's. */
export const MAX_OPEN_REQUESTS = 64;

/** The types of the server's replies. */
const REPLIES: ReadonlySet<string> = new Set(['welcome', 'success', 'error']);

/** The server answered with `error`. */
export class ServerError extends Error {
  constructor(message: string, readonly code: string | undefined) {
    super(message);
  }
}

export interface Answer {
  readonly type: string;
  readonly data: object;
}

export interface ChannelHandlers {
  /** A request of the server's; `undefined` for a type that is not known. Rejections become `error` replies. */
  onRequest(type: string, id: string, data: Message['data']): Promise<Answer> | undefined;
  onNotice(message: Message): void;
  /** The connection ended; called once, not after `close`. */
  onClose(reason: string): void;
}

interface OpenRequest {
  readonly type: string;
  readonly timer: NodeJS.Timeout;
  resolve(message: Message): void;
  reject(error: Error): void;
}

export class Channel implements TransportEvents {
  private readonly open = new Map<string, OpenRequest>();
  private readonly silence: NodeJS.Timeout;
  private transport: Transport | undefined;
  private lastId = 0;
  private answering = 0;

  constructor(
    private readonly log: Log,
    private readonly handlers: ChannelHandlers,
  ) {
    this.silence = setTimeout(() => this.fail('the server is silent'), SILENCE_LIMIT_MS);
  }

  /** The connection that this channel is of, once it is made. */
  use(transport: Transport): void {
    this.transport = transport;
  }

  get peer(): string {
    return this.transport?.peer ?? '';
  }

  unsentBytes(): number {
    return this.transport?.unsentBytes() ?? 0;
  }

  /** Asks the server. Rejects with a `ServerError` where it refuses. */
  async request(type: string, data: object): Promise<Message> {
    if (this.transport === undefined) {
      throw new Error('there is no connection to the server');
    }
    if (this.open.size >= MAX_OPEN_REQUESTS) {
      throw new Error('too many requests wait for the server');
    }
    this.lastId += 1;
    const id = `e${this.lastId}`;
    const text = writeMessage(type, id, data);
    if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) {
      throw new Error('the message is too long for the server');
    }
    this.log.debug(`→ ${type} ${id}`);
    const reply = await new Promise<Message>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.open.delete(id);
        this.log.warn(`${type} ${id}: no reply within ${REQUEST_LIMIT_MS / 1000} s`);
        reject(new Error('the server did not answer'));
      }, REQUEST_LIMIT_MS);
      this.open.set(id, { type, timer, resolve, reject });
      this.transport?.send(text);
    });
    if (reply.type === 'error') {
      const code = textOf(reply.data, 'code');
      throw new ServerError(textOf(reply.data, 'error') ?? 'the server refused', code);
    }
    return reply;
  }

  notify(type: string, data: object): void {
    this.transport?.send(writeMessage(type, undefined, data));
  }

  close(reason = 'the connection to the server was lost'): void {
    clearTimeout(this.silence);
    this.transport?.close();
    this.transport = undefined;
    const open = [...this.open.values()];
    this.open.clear();
    for (const request of open) {
      clearTimeout(request.timer);
      request.reject(new Error(reason));
    }
  }

  onMessage(text: string): void {
    this.silence.refresh();
    const read = readMessage(text);
    if ('unreadable' in read) {
      this.onGarbage(`a message of ${text.length} characters: ${read.unreadable}`);
      return;
    }
    if ('foreign' in read) {
      this.fail('the server is too old for this extension: update it');
      return;
    }
    const { message } = read;
    if (message.type === 'ping') {
      this.log.debug(`← ping ${message.id ?? ''}`);
      this.transport?.send(writeMessage('pong', message.id, undefined));
    } else if (message.id === undefined) {
      this.handlers.onNotice(message);
    } else {
      this.onMessageWithId(message, message.id);
    }
  }

  onGarbage(what: string): void {
    this.silence.refresh();
    this.log.warn(`dropped ${what}`);
  }

  onClose(reason: string): void {
    this.fail(reason);
  }

  private fail(reason: string): void {
    this.close(reason);
    this.handlers.onClose(reason);
  }

  private onMessageWithId(message: Message, id: string): void {
    // By its type, because both sides choose the ids of their requests.
    if (REPLIES.has(message.type)) {
      this.onReply(message, id);
    } else {
      this.onRequest(message, id);
    }
  }

  private onReply(message: Message, id: string): void {
    const request = this.open.get(id);
    if (request === undefined) {
      this.log.warn(`dropped ${message.type} ${id}: no request of this id is open`);
    } else {
      this.open.delete(id);
      clearTimeout(request.timer);
      this.log.debug(`← ${message.type} ${id}`);
      request.resolve(message);
    }
  }

  private onRequest(message: Message, id: string): void {
    if (this.answering >= MAX_OPEN_REQUESTS) {
      this.log.warn(`refused ${message.type} ${id}: too many requests are open`);
      this.reply(id, { type: 'error', data: { error: 'too many requests are open', code: 'busy' } });
      return;
    }
    const answer = this.handlers.onRequest(message.type, id, message.data);
    if (answer === undefined) {
      this.log.warn(`dropped ${message.type.slice(0, 50)} ${id}: its type is not known`);
      return;
    }
    this.log.debug(`← ${message.type} ${id}`);
    void this.answer(id, answer);
  }

  private async answer(id: string, answer: Promise<Answer>): Promise<void> {
    this.answering += 1;
    try {
      this.reply(id, await answer);
    } catch (error) {
      const code = error instanceof RequestError ? error.code : undefined;
      this.reply(id, { type: 'error', data: { error: reasonOf(error), code } });
    } finally {
      this.answering -= 1;
    }
  }

  private reply(id: string, answer: Answer): void {
    this.log.debug(`→ ${answer.type} ${id}`);
    this.transport?.send(writeMessage(answer.type, id, answer.data));
  }
}

/** A request of the server's cannot be done; sent to it as `error`. */
export class RequestError extends Error {
  constructor(message: string, readonly code?: string) {
    super(message);
  }
}
