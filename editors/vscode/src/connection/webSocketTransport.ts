// A server's WebSocket: one message per text frame. Used only with the setting `termbridge.serverUrl`.

import { MAX_MESSAGE_BYTES } from '../protocol/message.js';
import { MAX_UNSENT_BYTES, type Transport, type TransportEvents } from './transport.js';

/** How long a server may take to accept a connection. */
const OPEN_LIMIT_MS = 10_000;

/** The part of the platform's WebSocket that is used; `@types/node` of our oldest Node has none. */
interface PlatformSocket {
  readonly bufferedAmount: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: string, listener: (event: { data?: unknown; reason?: string }) => void): void;
}

/** Why an address must not be used, or `undefined`. A server can run commands here, so the way to it has to be safe. */
export function refusedUrl(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return 'termbridge.serverUrl is not an address';
  }
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(parsed.hostname);
  if (parsed.protocol === 'wss:' || (parsed.protocol === 'ws:' && isLocal)) {
    return undefined;
  }
  return 'termbridge.serverUrl has to be wss://, or ws:// on this machine';
}

/** Connects. A rejected promise leaves nothing open. */
export function connectWebSocket(url: string, events: TransportEvents, signal: AbortSignal): Promise<Transport> {
  const refused = refusedUrl(url);
  const Platform = (globalThis as { WebSocket?: new (url: string) => PlatformSocket }).WebSocket;
  if (refused !== undefined || Platform === undefined) {
    return Promise.reject(new Error(refused ?? 'this editor has no WebSocket: update it'));
  }
  return new Promise((resolve, reject) => {
    const socket = new Platform(url);
    let transport: WebSocketTransport | undefined;
    const fail = (reason: string): void => {
      settle();
      socket.close();
      reject(new Error(reason));
    };
    const onAbort = (): void => fail('given up');
    const timer = setTimeout(() => fail('the server is silent'), OPEN_LIMIT_MS);
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const ended = (reason: string): void => {
      if (transport === undefined) {
        fail(reason);
      } else {
        transport.ended(reason);
      }
    };
    signal.addEventListener('abort', onAbort);
    socket.addEventListener('open', () => {
      settle();
      // It may have been given up in the meantime.
      if (!signal.aborted) {
        transport = new WebSocketTransport(new URL(url).host, socket, events);
        resolve(transport);
      }
    });
    socket.addEventListener('message', (event) => transport?.received(event.data));
    socket.addEventListener('error', () => ended('the connection failed'));
    socket.addEventListener('close', (event) => ended(event.reason || 'the server closed the connection'));
    if (signal.aborted) {
      onAbort();
    }
  });
}

class WebSocketTransport implements Transport {
  private isClosed = false;

  constructor(
    readonly peer: string,
    private readonly socket: PlatformSocket,
    private readonly events: TransportEvents,
  ) {}

  send(text: string): void {
    if (this.isClosed) {
      return;
    }
    this.socket.send(text);
    if (this.socket.bufferedAmount > MAX_UNSENT_BYTES) {
      this.ended('the server does not read');
    }
  }

  unsentBytes(): number {
    return this.socket.bufferedAmount;
  }

  close(): void {
    this.isClosed = true;
    this.socket.close();
  }

  received(data: unknown): void {
    if (this.isClosed) {
      return;
    }
    if (typeof data !== 'string') {
      this.events.onGarbage('a frame that is not text');
    } else if (Buffer.byteLength(data) > MAX_MESSAGE_BYTES) {
      this.events.onGarbage(`a message of ${data.length} characters`);
    } else {
      this.events.onMessage(data);
    }
  }

  ended(reason: string): void {
    if (!this.isClosed) {
      this.close();
      this.events.onClose(reason);
    }
  }
}
