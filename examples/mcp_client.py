"""A small MCP client for the examples: nothing but Python's own library."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile


def program():
    """The server to start: the first argument, TERMBRIDGE_BIN, or what the path has."""
    found = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TERMBRIDGE_BIN", "termbridge")
    return os.path.abspath(found) if os.sep in found else found


@contextlib.contextmanager
def project(files):
    """A folder with these files, which is the working directory for as long as it is there."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in files.items():
            with open(name, "w") as file:
                file.write(text)
        yield


class Client:
    def __init__(self, program, *arguments, hidden=()):
        """`hidden`: what is another on every machine, and what is shown instead."""
        self.hidden = dict(hidden)
        self.server = subprocess.Popen(
            [program, "mcp", "--log-level", "error", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next_id = 0
        self.request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "example", "version": "1"}})
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
        shown = {**arguments, "session_id": "SESSION"} if "session_id" in arguments else arguments
        print(self.shown(f"> {tool} {json.dumps(shown)}"))
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        # Session ids and folders are random; the rest of a transcript is the same on every machine.
        answer = result["structuredContent"]
        data = answer.get("data") or {}
        for session in [answer.get("session_id"), arguments.get("session_id"), data.get("sessionId")]:
            text = text.replace(session, "SESSION") if session else text
        print(self.shown(text) + "\n")
        if result.get("isError"):
            sys.exit(1)
        sys.stdout.flush()
        return result["structuredContent"]

    def shown(self, text):
        for private, public in {os.getcwd(): "/project", **self.hidden}.items():
            text = text.replace(private, public)
        return re.sub(r"0x[0-9a-f]{8,}", "0x…", text)
