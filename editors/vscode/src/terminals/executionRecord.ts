// What an agent's command printed, and how it ended: kept until the next command, for a server that was not there meanwhile.
//
// Places in the output are counted from its beginning, so that a server that has a part of it takes only the rest, and one that
// finds a gap can say so.

/** Characters of a command's output that are kept at least, the last ones; a piece more is. */
const MAX_KEPT = 256 * 1024;

export interface OutputPiece {
  /** Characters before it. */
  readonly at: number;
  readonly data: string;
}

export interface ExecutionEnd {
  readonly exitCode: number | null;
  readonly cwd: string | undefined;
}

export class ExecutionRecord {
  private readonly kept: OutputPiece[] = [];
  private keptLength = 0;
  private printed = 0;

  constructor(
    readonly executionId: string,
    /** What the agent ran, in its own words. */
    readonly command: string,
    /** What was typed for it. */
    readonly typed: string,
    public end?: ExecutionEnd | undefined,
    /** It began before the window was reloaded: what it printed since then is not known. */
    readonly isReloaded?: true,
  ) {}

  /** What a reloaded window needs to know of it. */
  summary(): Pick<ExecutionRecord, 'executionId' | 'command' | 'typed'> & { readonly end: ExecutionEnd | undefined } {
    const { executionId, command, typed, end } = this;
    return { executionId, command, typed, end };
  }

  add(data: string): OutputPiece {
    const piece = { at: this.printed, data };
    this.printed += data.length;
    this.kept.push(piece);
    this.keptLength += data.length;
    for (let [first] = this.kept; first !== undefined && this.keptLength - first.data.length >= MAX_KEPT; [first] = this.kept) {
      this.kept.shift();
      this.keptLength -= first.data.length;
    }
    return piece;
  }

  pieces(): readonly OutputPiece[] {
    return this.kept;
  }
}
