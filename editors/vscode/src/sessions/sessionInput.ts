// What a person types into a session's terminal, on its way to the server: in order, and few messages at a time.

import { type Log, reasonOf } from '../log.js';

/** Typed characters that may wait for the server; more are dropped, with a beep. */
const MAX_UNSENT_INPUT = 4 * 1024 * 1024;
/** Largest part of them in one message. */
const MAX_INPUT = 256 * 1024;
const BELL = '\x07';
/** The dump that comes with the next connection erases it. */
const NOT_SENT = '\x1b[0m\r\n\x1b[2m[offline: not sent]\x1b[0m\r\n';

/** The terminal that the keys come from, and the session that they go to. */
export interface InputTarget {
  readonly sessionId: string;
  isOnline(): boolean;
  hasEnded(): boolean;
  /** What comes before the first key; nothing to wait for where it is done already. */
  prepare(): Promise<void> | undefined;
  send(data: string): Promise<unknown>;
  /** Shows something to the person who types. */
  write(text: string): void;
}

export class SessionInput {
  private unsent = '';
  private isSending = false;
  private hasSaidNotSent = false;

  constructor(
    private readonly target: InputTarget,
    private readonly log: Log,
  ) {}

  add(typed: string): void {
    if (!this.target.isOnline()) {
      this.sayNotSent();
    } else if (this.unsent.length + typed.length > MAX_UNSENT_INPUT) {
      this.target.write(BELL);
    } else {
      this.unsent += typed;
      void this.sendAll();
    }
  }

  /** The connection was lost. */
  goOffline(): void {
    if (this.unsent !== '') {
      this.unsent = '';
      this.sayNotSent();
    }
  }

  goOnline(): void {
    this.hasSaidNotSent = false;
  }

  /** What is typed while a message is under way goes with the next one. */
  private async sendAll(): Promise<void> {
    if (this.isSending) {
      return;
    }
    this.isSending = true;
    try {
      const prepared = this.target.prepare();
      if (prepared !== undefined) {
        await prepared;
      }
      while (this.unsent !== '') {
        const data = this.unsent.slice(0, MAX_INPUT);
        this.unsent = this.unsent.slice(MAX_INPUT);
        await this.target.send(data);
      }
    } catch (error) {
      this.unsent = '';
      if (this.target.isOnline()) {
        this.target.write(BELL);
      } else {
        this.sayNotSent();
      }
      this.log.warn(`input to session ${this.target.sessionId}: ${reasonOf(error)}`);
    } finally {
      this.isSending = false;
    }
  }

  /** Once for as long as the connection is lost; a beep for each key after that. */
  private sayNotSent(): void {
    this.target.write(this.hasSaidNotSent || this.target.hasEnded() ? BELL : BELL + NOT_SENT);
    this.hasSaidNotSent = true;
  }
}
