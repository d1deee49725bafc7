#!/usr/bin/env python3
"""An agent debugs a web server: it starts it, asks it something in a terminal and looks at the request.

    python3 examples/debug_server.py [path of termbridge]

Needs a `python3` with debugpy, and curl. Ends with 0 when the server answered what it was made to.
"""

import socket
import sys

from mcp_client import Client, program, project

SHOP = '''\
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse

PRICES = {"pen": 1.5, "ink": 4.0}


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        query = parse_qs(urlparse(self.path).query)
        item, count = query["item"][0], query.get("count", ["1"])
        total = PRICES[item] * len(count)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{total}\\n".encode())

    def log_message(self, *words):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
'''


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main():
    server, port = program(), str(free_port())
    with project({"shop.py": SHOP}):
        client = Client(server, "--shell", "bash", "--no-history", "--debug-backend", "native",
                        hidden={port: "PORT"})
        client.call("breakpoint_set", path="shop.py", text="total = ")
        client.call("debug_start", program="shop.py", args=[port])
        ask = f"curl -s --retry 9 --retry-connrefused 'http://127.0.0.1:{port}/?item=ink&count=3'"
        # The server stops at the breakpoint, so the answer is not there yet.
        asked = client.call("execute_command", command=ask, timeout_ms=300)
        stop = client.call("debug_wait_for_hit")["data"]
        count = next(local for local in stop["locals"] if local["name"] == "count")
        if count["value"] != "['3']":
            sys.exit("the cause was to show")
        client.call("debug_evaluate", expression="count = range(3)")
        client.call("debug_continue", wait=False)
        answer = client.call("get_terminal_output", session_id=asked["session_id"], wait_ms=5000, until="end")
        client.call("debug_stop")
        return 0 if "12.0" in answer["output"] else 1


if __name__ == "__main__":
    sys.exit(main())
