#!/usr/bin/env python3
"""An agent finds what changes a map behind its program's back: with a breakpoint on a function.

    python3 examples/debug_cpp.py [path of termbridge]

Needs `g++` and lldb-dap. Ends with 0 when the cause was seen.
"""

import sys

from mcp_client import Client, program, project

WORDS = '''\
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

std::optional<int> count(std::map<std::string, int>& words, const std::string& word) {
    int found = words[word];
    if (found == 0) return std::nullopt;
    return found;
}

int main() {
    std::map<std::string, int> words{{"sea", 2}, {"sky", 1}};
    std::vector<std::string> asked{"sea", "sand"};
    for (const auto& word : asked) {
        auto found = count(words, word);
        std::cout << word << ": " << found.value_or(0) << "\\n";
    }
    std::cout << words.size() << " words\\n";
}
'''


def main():
    server = program()
    with project({"words.cpp": WORDS}):
        client = Client(server, "--shell", "bash", "--no-history", "--debug-backend", "native")
        client.call("execute_command", command="g++ -g -std=c++17 words.cpp -o words && ./words")
        client.call("breakpoint_set", path="words.cpp", text="found.value_or", hitCondition="2")
        stop = client.call("debug_start", program="words", wait=True)["data"]["stop"]
        words = next(local for local in stop["locals"] if local["name"] == "words")
        if '"sand": 0' not in words["value"]:
            sys.exit("the cause was to show")
        return client.call("debug_continue")["data"]["exit"]["code"]


if __name__ == "__main__":
    sys.exit(main())
