// One message of the editor's protocol (docs/editor-protocol.md): `{"type", "id", "data"}`.
//
// What a peer sends is data, never an exception: reading gives a message or the reason why it is none. No reason quotes
// the message, because it can hold what a terminal shows.

/** The version of the protocol, in the greeting and in `hello`. */
export const PROTOCOL = 1;
/** Longest message in bytes, in either direction. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Longest id that is taken from the peer. */
const MAX_ID = 200;

/** The fields of a message, unchecked. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Message {
  readonly type: string;
  /** Absent in a notice. */
  readonly id: string | undefined;
  readonly data: Fields;
}

export type ReadMessage =
  | { readonly message: Message }
  | { readonly unreadable: string }
  /** A server without the editor protocol, which answers as to an MCP client. */
  | { readonly foreign: 'JSON-RPC' };

/** Reads one message. Ids that are numbers become texts, as some peers count. */
export function readMessage(text: string): ReadMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { unreadable: 'it is not JSON' };
  }
  if (!isFields(value)) {
    return { unreadable: 'it is not an object' };
  }
  if ('jsonrpc' in value) {
    return { foreign: 'JSON-RPC' };
  }
  const type = value['type'];
  if (typeof type !== 'string' || type === '') {
    return { unreadable: 'it has no type' };
  }
  const id = readId(value['id']);
  if (id === null) {
    return { unreadable: 'its id is neither a text nor a number' };
  }
  const data = value['data'] ?? {};
  if (!isFields(data)) {
    return { unreadable: 'its data is not an object' };
  }
  return { message: { type, id, data } };
}

export function writeMessage(type: string, id: string | undefined, data: object | undefined): string {
  return JSON.stringify({ type, id, data });
}

export function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text field; anything else counts as absent. */
export function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

/** A finite number; anything else counts as absent. */
export function numberOf(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** `null`: neither an id nor absent. */
function readId(value: unknown): string | undefined | null {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value === 'number' && Number.isFinite(value)) {
    return String(value);
  }
  return typeof value === 'string' && value.length <= MAX_ID ? value : null;
}
