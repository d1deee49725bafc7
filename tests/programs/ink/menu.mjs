// The fruit menu of ../README.md in ink, without a build step.

import React, { useEffect, useRef, useState } from "react";

// ink draws nothing but its last frame where it believes itself in CI, and it looks when it is loaded.
for (const name of Object.keys(process.env)) {
  if (/^(CI$|CI_|CONTINUOUS_INTEGRATION$)/.test(name)) {
    delete process.env[name];
  }
}
const { Box, Text, render, useApp, useInput, useStdout } = await import("ink");

const ITEMS = ["Apple", "Banana", "Cherry", "Dragonfruit", "Elderberry"];
const FIRST_ITEM_ROW = 2;
const FILTER_ROW = 8;
const STATUS_ROW = 9;
const NOTHING_CHOSEN = 3;
const ENTER_ALTERNATE_SCREEN = "\x1b[?1049h\x1b[2J\x1b[H";
const LEAVE_ALTERNATE_SCREEN = "\x1b[?1049l";

const h = React.createElement;

function useSize() {
  const { stdout } = useStdout();
  const read = () => ({ cols: stdout.columns, rows: stdout.rows });
  const [size, setSize] = useState(read);
  useEffect(() => {
    const update = () => setSize(read());
    stdout.on("resize", update);
    update();
    return () => stdout.off("resize", update);
  }, [stdout]);
  return size;
}

function matching(filter) {
  return ITEMS.filter((item) => item.toLowerCase().includes((filter ?? "").toLowerCase()));
}

// What a key makes of the state: the next state, or `{ done, choice }`.
function step(state, input, key) {
  const { selected, filter } = state;
  const filtering = filter !== undefined;
  const visible = matching(filter);
  if ((key.ctrl && input === "c") || (input === "q" && !filtering)) {
    return { done: true };
  }
  if (key.return) {
    return visible.length > 0 ? { done: true, choice: visible[selected] } : state;
  }
  if (key.downArrow || (input === "j" && !filtering)) {
    return { filter, selected: Math.max(0, Math.min(selected + 1, visible.length - 1)) };
  }
  if (key.upArrow || (input === "k" && !filtering)) {
    return { filter, selected: Math.max(selected - 1, 0) };
  }
  if (!filtering) {
    return input === "/" ? { filter: "", selected: 0 } : state;
  }
  if (key.escape) {
    return { filter: undefined, selected: 0 };
  }
  // ink names the byte 0x7f, which Backspace sends, `delete`.
  if (key.backspace || key.delete) {
    return { filter: filter.slice(0, -1), selected: 0 };
  }
  return input === "" || key.ctrl || key.meta ? state : { filter: filter + input, selected: 0 };
}

// ink hands over what was typed quickly as one text, with Enter and Backspace inside it.
function keysOf(input, key) {
  if (input.length < 2) {
    return [[input, key]];
  }
  const named = { "\r": "return", "\b": "backspace", "\x7f": "delete" };
  return [...input].map((character) => {
    const name = named[character];
    return name === undefined ? [character, {}] : ["", { [name]: true }];
  });
}

function Menu({ onDone }) {
  const { exit } = useApp();
  const { cols, rows } = useSize();
  const current = useRef({ filter: undefined, selected: 0 });
  const [state, setState] = useState(current.current);

  useInput((input, key) => {
    for (const [character, modifiers] of keysOf(input, key)) {
      const next = step(current.current, character, modifiers);
      if (next.done) {
        onDone(next.choice);
        exit();
        return;
      }
      current.current = next;
    }
    setState(current.current);
  });

  const lines = Array(STATUS_ROW + 1).fill(" ");
  lines[0] = "Fruit menu";
  matching(state.filter).forEach((item, index) => {
    const selected = index === state.selected;
    lines[FIRST_ITEM_ROW + index] = selected
      ? h(Text, { inverse: true }, `> ${item}`)
      : `  ${item}`;
  });
  if (state.filter !== undefined) {
    lines[FILTER_ROW] = `Filter: ${state.filter}`;
  }
  lines[STATUS_ROW] = `Size: ${cols}x${rows}`;
  const row = (line, index) => h(Text, { key: index, wrap: "truncate" }, line);
  return h(Box, { flexDirection: "column" }, lines.map(row));
}

let choice;
process.stdout.write(ENTER_ALTERNATE_SCREEN);
const onDone = (item) => {
  choice = item;
};
await render(h(Menu, { onDone }), { exitOnCtrlC: false }).waitUntilExit();
process.stdout.write(LEAVE_ALTERNATE_SCREEN);
console.log(choice === undefined ? "No choice" : `You chose: ${choice}`);
process.exitCode = choice === undefined ? NOTHING_CHOSEN : 0;
