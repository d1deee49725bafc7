#!/usr/bin/env python3
"""An agent's session with vim, as any MCP client would have it; nothing but Python's own library.

    python3 examples/edit_in_vim.py [path of termbridge]

Prints each call and what came back; ends with 0 when the file on disk is what was typed.
"""

import json
import os
import subprocess
import sys
import tempfile


class Client:
    def __init__(self, program):
        self.server = subprocess.Popen(
            [program, "mcp", "--log-level", "error"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next_id = 0
        self.request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "edit_in_vim", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        print(json.dumps(message), file=self.server.stdin, flush=True)

    def request(self, method, params):
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        for line in self.server.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
        sys.exit("the server closed the connection")

    def call(self, tool, **arguments):
        """Calls a tool, shows call and answer, and returns the structured part."""
        shown = {name: value for name, value in arguments.items() if name != "session_id"}
        print(f"> {tool} {json.dumps(shown)}")
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        # Session ids are random; everything else of a transcript is the same on every machine.
        session = result["structuredContent"].get("session_id") or arguments.get("session_id", "-")
        print(text.replace(session, "SESSION") + "\n")
        if result.get("isError"):
            sys.exit(1)
        return result["structuredContent"]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TERMBRIDGE_BIN", "termbridge")
    program = os.path.abspath(program) if os.sep in program else program
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        client = Client(program)
        vim = client.call(
            "launch_app", command="vim",
            # A lone Escape is one after 50 ms, as in every vim with its defaults.
            args=["-u", "NONE", "-N", "--cmd", "set ttimeout ttimeoutlen=50", "poem.txt"],
            cols=50, rows=8,
            wait={"idle_ms": 300}, view="plain")["session_id"]
        client.call(
            "send_keys", session_id=vim, keys="iRoses are red,<Enter>terminals are too.<Escape>",
            wait={"idle_ms": 300}, view="diff")
        client.call(
            "send_keys", session_id=vim, keys=":%s/red/green/<Enter>", wait={"idle_ms": 300},
            view="plain")
        client.call("send_keys", session_id=vim, keys=":wq<Enter>", wait={"exit": True})
        with open("poem.txt", encoding="utf-8") as file:
            poem = file.read()
        print(f"poem.txt:\n{poem}", end="")
        sys.exit(0 if poem == "Roses are green,\nterminals are too.\n" else 1)


if __name__ == "__main__":
    main()
