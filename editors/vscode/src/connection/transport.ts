// A connection that carries messages, each a text: a unix socket or a WebSocket.

/** Bytes that may wait for a peer that does not read; more ends the connection. */
export const MAX_UNSENT_BYTES = 32 * 1024 * 1024;

export interface Transport {
  /** What it is connected to, for the log. */
  readonly peer: string;
  /** Sends one message; nothing happens on a closed connection. */
  send(text: string): void;
  /** Bytes that the peer has not taken yet. */
  unsentBytes(): number;
  /** Ends the connection at once. `onClose` is not called for it. */
  close(): void;
}

export interface TransportEvents {
  onMessage(text: string): void;
  /** Something came that is no message and was dropped; `what` never quotes it. */
  onGarbage(what: string): void;
  /** The connection ended; called once, not after `close`. */
  onClose(reason: string): void;
}
