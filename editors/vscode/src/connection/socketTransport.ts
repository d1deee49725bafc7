// The unix socket of a server of this user: one message per line, after two lines of greeting.
//
//     → {"termbridge":{"protocol":1,"editor":true}}
//     ← {"termbridge":{"protocol":1,"version":"0.1.0","pid":77,…}}   or   {"termbridge":{"error":"…"}}

import { type Socket, createConnection } from 'node:net';
import { reasonOf } from '../log.js';
import { PROTOCOL, isFields, textOf } from '../protocol/message.js';
import { LineDecoder } from './lineDecoder.js';
import { MAX_UNSENT_BYTES, type Transport, type TransportEvents } from './transport.js';

/** How long a server may take to answer the greeting. */
const GREETING_LIMIT_MS = 10_000;
/** Longest answer to the greeting. */
const MAX_GREETING_BYTES = 64 * 1024;

/** A server answered, but not as one that this extension can use. */
export class RefusedError extends Error {}

/** Connects and greets. A rejected promise leaves nothing open. */
export function connectSocket(path: string, events: TransportEvents, signal: AbortSignal): Promise<Transport> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    const greeting = new LineDecoder(MAX_GREETING_BYTES);
    const fail = (error: Error): void => {
      settle();
      // A late error of a socket that nobody waits for any more must not end the extension host.
      socket.on('error', () => undefined).destroy();
      reject(error);
    };
    const onAbort = (): void => fail(new Error('given up'));
    const onError = (error: Error): void => fail(error);
    const onEnd = (): void => fail(new Error('the server closed the connection'));
    const onData = (bytes: Buffer): void => {
      const newline = bytes.indexOf(0x0a);
      const end = newline === -1 ? bytes.length : newline + 1;
      for (const line of greeting.decode(bytes.subarray(0, end))) {
        const refusal = 'text' in line ? refusalOf(line.text) : 'its greeting is too long';
        if (refusal !== undefined) {
          fail(new RefusedError(refusal));
          return;
        }
        settle();
        resolve(new SocketTransport(path, socket, events, bytes.subarray(end)));
      }
    };
    const timer = setTimeout(() => fail(new Error('the server is silent')), GREETING_LIMIT_MS);
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('data', onData).removeListener('end', onEnd).removeListener('error', onError);
    };
    signal.addEventListener('abort', onAbort);
    socket.on('data', onData).on('end', onEnd).on('error', onError);
    socket.on('connect', () => {
      socket.write(`${JSON.stringify({ termbridge: { protocol: PROTOCOL, editor: true } })}\n`);
    });
    if (signal.aborted) {
      onAbort();
    }
  });
}

/** Why the answer to the greeting is not a server's that can be used. */
function refusalOf(text: string): string | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return 'its greeting is not understood';
  }
  const greeting = isFields(answer) ? answer['termbridge'] : undefined;
  if (!isFields(greeting)) {
    return 'its greeting is not understood';
  }
  const error = textOf(greeting, 'error');
  if (error !== undefined) {
    return `the server refused: ${error.slice(0, 500)}`;
  }
  return greeting['protocol'] === PROTOCOL ? undefined : 'it speaks another version of the protocol';
}

class SocketTransport implements Transport {
  private readonly decoder = new LineDecoder();
  private isClosed = false;

  constructor(
    readonly peer: string,
    private readonly socket: Socket,
    private readonly events: TransportEvents,
    begun: Buffer,
  ) {
    socket.on('data', (bytes: Buffer) => this.received(bytes));
    socket.on('error', (error) => this.ended(reasonOf(error)));
    socket.on('close', () => this.ended('the server closed the connection'));
    if (begun.length > 0) {
      // Not before the caller has the transport.
      queueMicrotask(() => this.received(begun));
    }
  }

  send(text: string): void {
    if (this.isClosed) {
      return;
    }
    this.socket.write(`${text}\n`);
    if (this.socket.writableLength > MAX_UNSENT_BYTES) {
      this.ended('the server does not read');
    }
  }

  unsentBytes(): number {
    return this.socket.writableLength;
  }

  close(): void {
    this.isClosed = true;
    this.socket.destroy();
  }

  private received(bytes: Buffer): void {
    for (const line of this.decoder.decode(bytes)) {
      // A message may have been the reason to close.
      if (this.isClosed) {
        return;
      }
      if ('text' in line) {
        this.events.onMessage(line.text);
      } else {
        this.events.onGarbage(`a line of ${line.tooLong} bytes`);
      }
    }
  }

  private ended(reason: string): void {
    if (!this.isClosed) {
      this.close();
      this.events.onClose(reason);
    }
  }
}
