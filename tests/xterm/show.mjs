// Feeds xterm.js and prints what it shows. One JSON object per line in, one out, in order:
// {cols, rows, scrollback, options, feeds: [hex, ...], last} → {shown: [what is shown after each feed]}, or {error} when
// xterm.js throws. `options` are further ones of xterm.js. `last`: only what is shown after the last feed.
//
// A cell is [characters, columns, foreground, background, attributes, underline style, underline colour, link]. Those of
// its right end that have their default are left out, and so are blank cells at the end of a row. A colour is null, a
// number of the palette, or "#rrggbb". The bits of the attributes have the order of `flags`, bold first.
import readline from "node:readline";
import unicode from "@xterm/addon-unicode11";
import xterm from "@xterm/headless";

const PALETTE = [0x1000000, 0x2000000];
const RGB = 0x3000000;

function color(mode, value) {
  if (mode === RGB) return `#${value.toString(16).padStart(6, "0")}`;
  return PALETTE.includes(mode) ? value : null;
}

// Without a colour of its own, an underline is said to have that of the text; after SGR 59, all bits are set.
const hasUnderlineColor = (cell) =>
  cell.hasExtendedAttrs() && cell.extended.underlineColor !== 0x3ffffff && !cell.isUnderlineColorDefault();

// A link has an underline of its own, which hides that of the cell.
const underlineStyle = (cell) => (cell.hasExtendedAttrs() ? (cell.extended._ext >> 26) & 7 : 0);

function showCell(cell, links) {
  const underline = underlineStyle(cell);
  const flags = [
    cell.isBold(), cell.isDim(), cell.isItalic(), cell.isBlink(), cell.isInverse(), cell.isInvisible(),
    cell.isStrikethrough(),
  ];
  const shown = [
    cell.getChars() || " ",
    cell.getWidth(),
    color(cell.getFgColorMode(), cell.getFgColor()),
    color(cell.getBgColorMode(), cell.getBgColor()),
    flags.reduce((bits, flag, index) => bits | (flag ? 1 << index : 0), 0),
    // The cell has this, the public interface does not.
    underline,
    hasUnderlineColor(cell) ? color(cell.getUnderlineColorMode(), cell.getUnderlineColor()) : null,
    (cell.hasExtendedAttrs() && links.getLinkData(cell.extended.urlId)?.uri) || "",
  ];
  while (shown.length > 2 && !shown.at(-1)) {
    // The palette's colour 0 is no default.
    if (shown.at(-1) === 0 && [3, 4, 7].includes(shown.length)) break;
    shown.pop();
  }
  return shown;
}

const isBlank = (cell) => cell.length === 2 && cell[0] === " " && cell[1] === 1;

// Half of a wide character is a blank: xterm.js leaves some behind.
const blanked = (shown) => [" ", 1, ...shown.slice(2)];

function showRow(buffer, y, terminal, cell) {
  const line = buffer.getLine(y);
  const cells = [];
  let used = 0;
  for (let x = 0; x < terminal.cols; x++) {
    const width = line.getCell(x, cell).getWidth();
    let shown = showCell(cell, terminal._core._oscLinkService);
    const isWhole = width === 2 && x + 1 < terminal.cols && line.getCell(x + 1).getWidth() === 0;
    if (width !== 1 && !isWhole) shown = blanked(shown);
    cells.push(shown);
    if (isWhole) x++;
    if (!isBlank(shown)) used = cells.length;
  }
  cells.length = used;
  // A row is marked here when the one before continues in it.
  return { wrapped: y + 1 < buffer.length && buffer.getLine(y + 1).isWrapped, cells };
}

function show(terminal, replies) {
  const buffer = terminal.buffer.active;
  const cell = buffer.getNullCell();
  const rows = [];
  for (let y = 0; y < buffer.length; y++) rows.push(showRow(buffer, y, terminal, cell));
  const { modes } = terminal;
  return {
    rows,
    cursor: [buffer.cursorY, Math.min(buffer.cursorX, terminal.cols - 1)],
    visible: !terminal._core.coreService.isCursorHidden,
    alternate: buffer.type === "alternate",
    modes: {
      "application cursor keys": modes.applicationCursorKeysMode,
      "application keypad": modes.applicationKeypadMode,
      "bracketed paste": modes.bracketedPasteMode,
      "focus events": modes.sendFocusMode,
    },
    // Nothing else is shown of these, so they are only compared with another screen of xterm.js.
    hidden: [modes.insertMode, modes.originMode, modes.wraparoundMode],
    mouse: modes.mouseTrackingMode,
    replies,
  };
}

function answer({ cols, rows, scrollback = 1000, options = {}, feeds, last = false }) {
  const terminal = new xterm.Terminal({
    cols, rows, scrollback, allowProposedApi: true, logLevel: "off", ...options,
  });
  terminal.loadAddon(new unicode.Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  let replies = "";
  terminal.onData((data) => (replies += data));
  const shown = [];
  try {
    feeds.forEach((feed, index) => {
      // Not `write`: what that throws ends the process.
      terminal._core.writeSync(Buffer.from(feed, "hex"));
      if (!last || index === feeds.length - 1) shown.push(show(terminal, replies));
    });
  } catch (error) {
    return { error: `${error.stack}`.split("\n").slice(0, 2).join(" ") };
  } finally {
    terminal.dispose();
  }
  return { shown };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
}
