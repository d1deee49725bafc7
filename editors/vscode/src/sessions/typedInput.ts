// What came from the terminal view, without what no person typed.
//
// The view is a terminal emulator of its own: it answers the queries that programs print (the server's emulator has
// answered them already, a second answer would be read as typing), and it reports focus and the mouse. Were these taken for
// typing, looking at a session would take it over from its agent.

/** Answers to queries: device attributes, status, modes, colours, versions, sizes, keyboard flags. */
const REPLIES = new RegExp(
  [
    String.raw`\x1b\[[?>=][\d;]*c`, // DA1, DA2, DA3
    String.raw`\x1b\[[?]?[03]n`, // DSR
    String.raw`\x1b\[\?[\d;]+\$y`, // DECRPM
    String.raw`\x1b\[[\d;]+\$y`,
    String.raw`\x1b\[\?\d+u`, // kitty keyboard flags
    String.raw`\x1b\[[4689];\d+;\d+t`, // sizes of window and text area
    String.raw`\x1b\](?:4;\d+|1[0-9]);rgb:[\da-fA-F/]+(?:\x07|\x1b\\)`, // OSC 4, 10 to 19
    String.raw`\x1b\]52;[^\x07\x1b]*(?:\x07|\x1b\\)`, // OSC 52, the clipboard
    String.raw`\x1bP(?:[01]\$r|>\||[01]\+r|!\|)[^\x1b]*\x1b\\`, // DECRQSS, XTVERSION, XTGETTCAP, DA3
  ].join('|'),
  'g',
);
/** A cursor position report. F3 with modifiers looks like one in line 1, columns 2 to 8, and counts as the key. */
const CURSOR_POSITION = /\x1b\[\??(\d+);(\d+)(?:;\d+)?R/g;
/** Focus and mouse (X10, SGR), which only a program wants that a person drives. */
const FOCUS_AND_MOUSE = /\x1b\[[IO]|\x1b\[M[^]{3}|\x1b\[<[\d;]+[Mm]/g;

export interface TypedInputOptions {
  /** The person of this window drives the session. */
  readonly isDriver: boolean;
}

/** What of it goes to the session; may be empty. */
export function typedInput(data: string, options: TypedInputOptions): string {
  if (!data.includes('\x1b')) {
    return data;
  }
  const typed = data.replace(REPLIES, '').replace(CURSOR_POSITION, (report, row: string, column: string) => {
    const isKey = row === '1' && Number(column) >= 2 && Number(column) <= 8;
    return isKey ? report : '';
  });
  return options.isDriver ? typed : typed.replace(FOCUS_AND_MOUSE, '');
}
