// Bytes of a socket → lines of text, however the bytes are cut.
//
// A line is at most `MAX_MESSAGE_BYTES` long; the bytes of a longer one are dropped as they come and the line is reported
// as too long, so the memory that a peer can claim is bounded.

import { MAX_MESSAGE_BYTES } from '../protocol/message.js';

const NEWLINE = 0x0a;

export type Line = { readonly text: string } | { readonly tooLong: number };

export class LineDecoder {
  private chunks: Buffer[] = [];
  private length = 0;

  constructor(private readonly longest = MAX_MESSAGE_BYTES) {}

  /** The lines that end in these bytes, blank ones left out. */
  *decode(bytes: Buffer): Generator<Line> {
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      this.keep(bytes.subarray(from, end));
      from = end + 1;
      const line = this.take();
      if (line !== undefined) {
        yield line;
      }
    }
    this.keep(bytes.subarray(from));
  }

  private keep(bytes: Buffer): void {
    this.length += bytes.length;
    if (this.length > this.longest) {
      this.chunks = [];
    } else if (bytes.length > 0) {
      this.chunks.push(bytes);
    }
  }

  private take(): Line | undefined {
    const { chunks, length } = this;
    this.chunks = [];
    this.length = 0;
    if (length > this.longest) {
      return { tooLong: length };
    }
    const text = Buffer.concat(chunks, length).toString('utf8').trim();
    return text === '' ? undefined : { text };
  }
}
