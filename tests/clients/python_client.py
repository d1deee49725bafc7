"""Drives termbridge with the Python library `mcp` 2.x.

An argument chooses how the protocol version is found: `auto` (the library's default, server/discover
first), `legacy` (the initialize handshake), or a version such as `2026-07-28`. With TERMBRIDGE_URL and
TERMBRIDGE_TOKEN it connects to a server that runs; without, it starts its own and speaks over stdio.
"""

import asyncio
import importlib.metadata
import os
import re
import sys

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

WAIT_MS = 5000
TOOLS = {
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
}


# Who gets structured content, and under which name the client comes.
STRUCTURED = os.environ.get("STRUCTURED", "auto")
CLIENT_NAME = os.environ.get("CLIENT_NAME", "a_client")
IS_STRUCTURED = STRUCTURED == "always" or (STRUCTURED == "auto" and CLIENT_NAME != "claude-code")


class Failed(Exception):
    """The server did not do what the contract says."""


def check(condition, message, detail=None):
    if not condition:
        raise Failed(message if detail is None else f"{message}: {detail!r}")


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def succeed(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    check(not result.is_error, f"{name} failed", result)
    is_structured = isinstance(result.structured_content, dict)
    check(is_structured == IS_STRUCTURED, f"{name}'s structuredContent", result)
    check(text_of(result), f"{name} gave no text", result)
    return result


async def steps(client):
    listed = (await client.list_tools()).tools
    missing = TOOLS - {tool.name for tool in listed}
    check(not missing, f"tools/list lacks {sorted(missing)}")
    for tool in listed:
        check(tool.title and tool.annotations, f"{tool.name} lacks its metadata", tool)
        check(bool(tool.output_schema) == IS_STRUCTURED, f"{tool.name}'s output schema", tool)

    text = "hello from python mcp"
    launched = await succeed(client, "launch_app", command="cat")
    session_id = re.search(r"session_id (\w+)", text_of(launched)).group(1)
    if IS_STRUCTURED:
        same = launched.structured_content.get("session_id") == session_id
        check(same, "launch_app gave two session ids", launched)

    await succeed(client, "send_keys", session_id=session_id, text=text)
    await succeed(client, "send_keys", session_id=session_id, keys="Enter")
    await succeed(client, "wait_for", session_id=session_id, text=text, timeout_ms=WAIT_MS)

    # Once as the echo of the terminal, once as the output of cat.
    screen = await succeed(client, "view_screen", session_id=session_id)
    check(text_of(screen).count(text) == 2, "view_screen's text does not show it twice", screen)
    facts = re.search(r"80x24.*cursor \d+,\d+", text_of(screen))
    check(facts, "view_screen's text lacks size or cursor", screen)
    if IS_STRUCTURED:
        view = screen.structured_content
        check(view["content"].count(text) == 2, "view_screen does not show it twice", screen)
        check((view["rows"], view["cols"]) == (24, 80), "view_screen's size is not 80x24", screen)
        check({"row", "col"} <= view["cursor"].keys(), "view_screen gave no cursor", screen)

    await succeed(client, "stop_app", session_id=session_id)

    try:
        answer = await client.call_tool("no_such_tool", {})
    except MCPError as error:
        check(error.code == -32602, f"an unknown tool gave the code {error.code}", error)
        expected = "Unknown tool: no_such_tool"
        check(expected in error.message, f"an unknown tool gave: {error.message}")
    else:
        raise Failed(f"an unknown tool was answered: {answer!r}")

    lost = await client.call_tool("view_screen", {"session_id": "no-such-session"})
    check(lost.is_error, "an unknown session is not an error", lost)
    code = (lost.structured_content or {}).get("error", {}).get("code")
    expected = "SESSION_NOT_FOUND" if IS_STRUCTURED else None
    check(code == expected, f"an unknown session gave the code {code}", lost)
    check(text_of(lost).startswith("[SESSION_NOT_FOUND]"), "its text lacks its code", lost)
    # The library checks only successes against the output schema; other clients check both.
    await client.session.validate_tool_result("view_screen", lost)


def over_http(url, token):
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
    return streamable_http_client(url, http_client=client)


async def run(binary, mode):
    if url := os.environ.get("TERMBRIDGE_URL"):
        server = over_http(url, os.environ["TERMBRIDGE_TOKEN"])
    else:
        server = StdioServerParameters(command=binary, args=["mcp", "--structured", STRUCTURED])
    info = Implementation(name=CLIENT_NAME, version="1")
    async with Client(server, mode=mode, client_info=info) as client:
        await steps(client)
        return client.protocol_version


def reasons(error):
    """The errors inside a task group's group of errors."""
    if isinstance(error, BaseExceptionGroup):
        return [reason for inner in error.exceptions for reason in reasons(inner)]
    return [error]


def main():
    binary = os.environ.get("TERMBRIDGE_BIN")
    if not binary and not os.environ.get("TERMBRIDGE_URL"):
        print("TERMBRIDGE_BIN is not set: give it the path of the termbridge program", file=sys.stderr)
        return 1
    mode = sys.argv[1] if len(sys.argv) > 1 else "auto"
    try:
        protocol = asyncio.run(run(binary, mode))
    except Exception as error:
        for reason in reasons(error):
            print(f"python mcp: {type(reason).__name__}: {reason}", file=sys.stderr)
        return 1
    print(f"ok mcp {importlib.metadata.version('mcp')} protocol={protocol}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
