// What the extension writes to its output channel.
//
// Types, ids, sizes and reasons only: never what a terminal shows, what a person types, a command line, a token or a password.

/** The part of VS Code's LogOutputChannel that is used. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
