#!/usr/bin/env python3
"""An agent's loop on a failing project: run, read the failure, mend it, run again.

    python3 examples/run_and_fix.py [path of termbridge]

The "agent" is a script here, so that the transcript is the same every time; a model would choose the
same calls. Ends with 0 when the project's tests pass.
"""

import sys

from mcp_client import Client, program, project

PRICES = '''\
def total(prices, discount=0):
    return sum(prices) - sum(prices) * discount / 10
'''

TESTS = '''\
import unittest
from prices import total

class Total(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(total([1, 2]), 3)

    def test_discount_in_percent(self):
        self.assertEqual(total([100, 100], discount=50), 100)
'''


def main():
    server = program()
    with project({"prices.py": PRICES, "test_prices.py": TESTS}):
        client = Client(server, "--shell", "bash", "--no-history")
        test = "python3 -m unittest -q"
        first = client.call("execute_command", command=test)
        if first["exit_code"] == 0:
            sys.exit("the project was to fail")
        client.call("get_terminal_output", command_id=first["command_id"], grep="Error: ")
        client.call("execute_command", command="grep -n discount prices.py")
        client.call("execute_command", command="sed -i 's:/ 10$:/ 100:' prices.py")
        last = client.call("execute_command", command=test)
        return last["exit_code"]


if __name__ == "__main__":
    sys.exit(main())
