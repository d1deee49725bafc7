// How much a session may print before its view skips some of it: the editor draws all that it is given, however far behind it is.

const MAX_BURST = 1024 * 1024;
const BURST_MS = 250;

export class OutputBurst {
  private since = 0;
  private length = 0;

  /** Whether this is more output than is drawn in such a time. */
  isTooMuch(length: number): boolean {
    const now = Date.now();
    if (now - this.since > BURST_MS) {
      this.since = now;
      this.length = 0;
    }
    this.length += length;
    return this.length > MAX_BURST;
  }
}
