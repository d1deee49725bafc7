// Feeds xterm.js and says what it shows. One JSON object per line in, one out, in order:
// {cols, rows, feeds: [hex, ...]} → [what is shown after each feed].
import readline from "node:readline";
import xterm from "@xterm/headless";

const color = (mode, value) => (mode === 0 ? "-" : mode === 0x3000000 ? `#${value.toString(16)}` : `${value}`);

function show(terminal) {
  const buffer = terminal.buffer.active;
  const cell = buffer.getNullCell();
  const rows = [];
  for (let y = 0; y < buffer.length; y++) {
    const line = buffer.getLine(y);
    const cells = [];
    for (let x = 0; x < terminal.cols; x++) {
      line.getCell(x, cell);
      if (cell.getWidth() === 0) continue;
      const flags = [
        cell.isBold(), cell.isDim(), cell.isItalic(), cell.isUnderline(), cell.isBlink(), cell.isInverse(),
        cell.isInvisible(), cell.isStrikethrough(),
      ];
      cells.push([
        cell.getChars() || " ",
        color(cell.getFgColorMode(), cell.getFgColor()),
        color(cell.getBgColorMode(), cell.getBgColor()),
        flags.map((flag) => (flag ? "1" : "0")).join(""),
      ]);
    }
    // A row is marked here when the one before goes on in it.
    const next = buffer.getLine(y + 1);
    rows.push({ wrapped: next?.isWrapped ?? false, cells });
  }
  const { modes } = terminal;
  return {
    rows,
    cursor: [buffer.cursorX, buffer.cursorY],
    alternate: buffer.type === "alternate",
    modes: [
      modes.applicationCursorKeysMode, modes.applicationKeypadMode, modes.bracketedPasteMode,
      modes.insertMode, modes.originMode, modes.sendFocusMode, modes.wraparoundMode,
    ],
    mouse: modes.mouseTrackingMode,
  };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { cols, rows, feeds } = JSON.parse(line);
  const terminal = new xterm.Terminal({ cols, rows, scrollback: 1000, allowProposedApi: true });
  const shown = [];
  for (const feed of feeds) {
    await new Promise((done) => terminal.write(Buffer.from(feed, "hex"), done));
    shown.push(show(terminal));
  }
  process.stdout.write(`${JSON.stringify(shown)}\n`);
}
