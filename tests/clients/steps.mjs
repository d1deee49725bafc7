// What each TypeScript client does with termbridge, whichever library speaks for it.
//
// The libraries check results against the tool's output schema once the tools are listed; sdk 1.x
// checks those of failed calls too, so a schema that does not allow an error fails here.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const WAIT_MS = 5000;
const TOOLS = [
  "get_cursor_position",
  "get_screen_size",
  "launch_app",
  "list_sessions",
  "resize_terminal",
  "restart_app",
  "send_keys",
  "stop_app",
  "view_screen",
  "wait_for",
];

// Who gets structured content, and under which name the client comes.
const structured = process.env.STRUCTURED ?? "auto";
export const clientName = process.env.CLIENT_NAME ?? "a_client";
const isStructured = structured === "always" || (structured === "auto" && clientName !== "claude-code");

// A server that runs, with the token it wants; without one, the client starts its own and speaks over stdio.
export const server = process.env.TERMBRIDGE_URL && {
  url: new URL(process.env.TERMBRIDGE_URL),
  options: { requestInit: { headers: { Authorization: `Bearer ${process.env.TERMBRIDGE_TOKEN}` } } },
};

export const serverCommand = server
  ? undefined
  : { command: requireBinary(), args: ["mcp", "--structured", structured], stderr: "inherit" };

/**
 * Runs the steps, says `ok NAME VERSION protocol=...` or why not, and ends the process.
 *
 * @param {string} packageName the npm package of the client library
 * @param {() => Promise<object>} connect gives `listTools`, `callTool(name, arguments)`, `protocol` and `close`
 */
export async function main(packageName, connect) {
  let client;
  let code = 0;
  try {
    client = await connect();
    await steps(packageName, client);
    console.log(`ok ${packageName} ${versionOf(packageName)} protocol=${client.protocol()}`);
  } catch (error) {
    console.error(`${packageName}: ${error.stack ?? error}`);
    code = 1;
  } finally {
    await client?.close();
  }
  process.exit(code);
}

async function steps(packageName, client) {
  const listed = (await client.listTools()).tools;
  const missing = TOOLS.filter((name) => !listed.some((tool) => tool.name === name));
  check(missing.length === 0, `tools/list lacks ${missing}`);
  for (const tool of listed) {
    check(tool.title && tool.annotations, `${tool.name} lacks its metadata`, tool);
    check(!tool.outputSchema === !isStructured, `${tool.name}'s output schema`, tool);
  }

  const text = `hello from ${packageName}`;
  const launched = await succeed(client, "launch_app", { command: "cat" });
  const [, session_id] = /session_id (\w+)/.exec(textOf(launched));
  check(!isStructured || launched.structuredContent.session_id === session_id, "two session ids", launched);
  check(typeof session_id === "string" && session_id !== "", "launch_app gave no session_id", launched);

  await succeed(client, "send_keys", { session_id, text });
  await succeed(client, "send_keys", { session_id, keys: "Enter" });
  await succeed(client, "wait_for", { session_id, text, timeout_ms: WAIT_MS });

  // Once as the echo of the terminal, once as the output of cat.
  const screen = await succeed(client, "view_screen", { session_id });
  check(textOf(screen).split(text).length === 3, "view_screen's text does not show it twice", screen);
  check(/80x24.*cursor \d+,\d+/.test(textOf(screen)), "view_screen's text lacks size or cursor", screen);
  if (isStructured) {
    const { content, cursor, rows, cols } = screen.structuredContent;
    check(content.split(text).length === 3, "view_screen's content does not show the text twice", screen);
    check(rows === 24 && cols === 80, "view_screen's size is not 80x24", screen);
    check(Number.isInteger(cursor.row) && Number.isInteger(cursor.col), "view_screen gave no cursor", screen);
  }

  await succeed(client, "stop_app", { session_id });

  const refused = await client.callTool("no_such_tool", {}).then(
    (result) => fail("an unknown tool was answered", result),
    (error) => error,
  );
  check(refused.code === -32602, `an unknown tool gave the code ${refused.code}`, String(refused));
  check(refused.message.includes("Unknown tool: no_such_tool"), `an unknown tool gave: ${refused.message}`);

  const lost = await client.callTool("view_screen", { session_id: "no-such-session" });
  check(lost.isError === true, "an unknown session is not an error", lost);
  const code = lost.structuredContent?.error?.code;
  check(code === (isStructured ? "SESSION_NOT_FOUND" : undefined), `its code is ${code}`, lost);
  check(textOf(lost).startsWith("[SESSION_NOT_FOUND]"), "its text does not begin with its code", lost);
}

async function succeed(client, name, args) {
  const result = await client.callTool(name, args);
  check(!result.isError, `${name} failed`, result);
  check((typeof result.structuredContent === "object") === isStructured, `${name}'s structuredContent`, result);
  check(textOf(result) !== "", `${name} gave no text`, result);
  return result;
}

function textOf(result) {
  return result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function check(condition, message, detail) {
  if (!condition) {
    fail(message, detail);
  }
}

function fail(message, detail) {
  throw new Error(detail === undefined ? message : `${message}: ${JSON.stringify(detail)}`);
}

function requireBinary() {
  const path = process.env.TERMBRIDGE_BIN;
  if (!path) {
    console.error("TERMBRIDGE_BIN is not set: give it the path of the termbridge program");
    process.exit(1);
  }
  return path;
}

function versionOf(packageName) {
  const path = fileURLToPath(new URL(`node_modules/${packageName}/package.json`, import.meta.url));
  return JSON.parse(readFileSync(path, "utf8")).version;
}
