// Why something cannot be done, mostly that there is no server, where a person can do something about it.

/** What the view's text and the buttons of messages go by. */
export type ProblemKind = 'missing' | 'wrongPath' | 'outdated' | 'unanswered' | 'untrusted' | 'other';

export class ServerProblem extends Error {
  constructor(
    /** One short line for people. */
    message: string,
    readonly kind: ProblemKind,
    /** What the log has beside it. */
    readonly detail = '',
  ) {
    super(message);
  }
}

export function kindOf(error: unknown): ProblemKind {
  return error instanceof ServerProblem ? error.kind : 'other';
}
