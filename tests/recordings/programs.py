"""The programs that are recorded, their keys, and the folder they run in."""

import os
import subprocess
from pathlib import Path

REPO = Path(os.environ.get("DEMO_REPO", Path(__file__).resolve().parents[2]))
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target"))
PYTHON = os.environ.get("DEMO_PYTHON", str(TARGET / "test-venv/bin/python"))
UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
ESC = "\x1b"

SMALL = (80, 24)

C_SOURCE = """#include <stdio.h>
#include <string.h>

/* Counts words: naïve, für Größe, 漢字. */
struct counter {
    size_t words;
    int in_word;
};

static void count(struct counter *c, const char *text)
{
    for (; *text; text++) {
        int space = strchr(" \\t\\n", *text) != NULL;
        if (!space && !c->in_word)
            c->words++;
        c->in_word = !space;
    }
}

int main(int argc, char **argv)
{
    struct counter c = {0};
    for (int i = 1; i < argc; i++)
        count(&c, argv[i]);
    printf("%zu words\\n", c.words);
    return 0;
}
"""


PROGRESS = """import time
from rich.progress import Progress, SpinnerColumn
with Progress(SpinnerColumn(), *Progress.get_default_columns()) as progress:
    tasks = [progress.add_task(name, total=60) for name in ('[red]Load', '[green]Build 漢字')]
    for step in range(60):
        progress.advance(tasks[step % 2], 2)
        time.sleep(0.03)
        if step % 20 == 0:
            progress.console.print(f'step [bold]{step}[/]')
"""


def make_demo(folder):
    """A small project with a history."""
    home = folder / "home"
    (home / ".config").mkdir(parents=True)
    (home / ".inputrc").write_text("set colored-stats on\nset show-all-if-ambiguous on\nset bell-style none\n")
    (home / ".tmux.conf").write_text("set -g status-right '%d'\nset -g default-terminal tmux-256color\n")
    (home / ".zshrc").write_text("PROMPT='%F{green}demo%f %B%~%b %# '\nautoload -Uz compinit; compinit -u -D\nzstyle ':completion:*' menu select\nzstyle ':completion:*' list-colors ''\n")
    (home / ".vimrc").write_text("syntax on\nset number ruler laststatus=2 background=dark termguicolors\ncolorscheme desert\n")
    (folder / "src").mkdir()
    (folder / "main.c").write_text(C_SOURCE)
    (folder / "README.md").write_text("# Demo\n\nCounts words in **text**, with _style_ and `code`.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n")
    (folder / "notes.txt").write_text("".join(f"{n:3} the quick brown fox 日本語 naïve 🙂 jumps\n" for n in range(200)))
    (folder / "data.json").write_text('{"name": "demo", "list": [1, 2.5, null, true], "nested": {"text": "a\\tb"}}\n')
    (folder / "page.html").write_text("<html><body><h1>Demo</h1><table border=1><tr><td>one</td><td>日本</td></tr></table><p>A <b>bold</b> <a href='x.html'>link</a>.</p><form><input name=q><input type=submit></form></body></html>")
    for name in ["alpha", "beta", "gamma"]:
        (folder / "src" / f"{name}.py").write_text(f"def {name}(x):\n    return x * 2  # {name}\n")
    (folder / "progress.py").write_text(PROGRESS)
    (home / "package").mkdir()
    (home / "package/package.json").write_text('{"name": "demo", "version": "1.2.3", "scripts": {"build": "true", "test": "echo test"}}\n')
    (home / "package/index.js").write_text("module.exports = 1;\n")
    cargo = folder / "hello"
    (cargo / "src").mkdir(parents=True)
    (cargo / "Cargo.toml").write_text('[package]\nname = "hello"\nversion = "0.1.0"\nedition = "2024"\n\n[workspace]\n')
    (cargo / "src/main.rs").write_text('fn main() {\n    let unused = 1;\n    let text: &str = 5;\n    println!("{text}");\n}\n')
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    for key, value in [("user.name", "Demo"), ("user.email", "demo@example.org"), ("init.defaultBranch", "main"), ("safe.directory", "*")]:
        subprocess.run(["git", "config", "--global", key, value], env=env, check=True)
    git = lambda *arguments: subprocess.run(["git", *arguments], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    git("init")
    (folder / ".gitignore").write_text("home\nhello\n")
    for index, path in enumerate(["README.md", "main.c", "src", "notes.txt", "data.json"]):
        git("add", path)
        git("commit", "-m", f"Add {path}, step {index}: größer")
    git("checkout", "-q", "-b", "topic", "HEAD~2")
    (folder / "topic.txt").write_text("topic\n")
    git("add", "topic.txt")
    git("commit", "-m", "A topic")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    (folder / "main.c").write_text(C_SOURCE.replace("words", "tokens"))


def program(name, command, *keys, **more):
    return {"name": name, "command": command, "keys": list(keys), **more}


PROGRAMS = [
    program("vim", "vim main.c", "/count\r", "n", "V3j", "d", "u", ":split README.md\r", "\x17j", "ohello 漢字 \x1b", ":set hlsearch\r"),
    program("vim-help", "vim -c 'help windows' -c only", "\x06", "\x06", "\x04", "G", "gg", ":vsplit\r", size=SMALL),
    program("vim-diff", "vim -d main.c README.md", "]c", "do", "u", "\x17l", size=SMALL),
    program("nvim", "nvim --clean main.c", "/words\r", "ciwtokens\x1b", ":vsplit\r", "\x06", ":terminal\r", "iecho hi\r"),
    program("emacs", "emacs -nw -Q main.c", "\x1b>", "\x1b<", "\x13count", "\r", "\x18" + "2", "\x18o", "\x1bxcalendar\r"),
    program("emacs-dired", "emacs -nw -Q .", "n", "n", "m", "g", "\x18" + "3", size=SMALL),
    program("nano", "nano -l -Y c main.c", "\x17count\r", "\x0b", "\x15", "hello \x1b[C", "\x0b", "\x07", size=SMALL),
    program("joe", "joe main.c", "\x0bh", DOWN, DOWN, "text", "\x0bf", "count\r", "\r", size=SMALL),
    program("less", "less -N notes.txt", " ", " ", "b", "G", "g", "/fox\r", "n", "n", "-S\r", RIGHT),
    program("less-wide", "less -R notes.txt", "j", "j", "k", "\x04", "\x15", "G", "k", "k", size=(40, 12)),
    program("more", "more notes.txt", " ", " ", "\r", size=SMALL),
    program("man", "bash -c 'MANPAGER=less man ls; true'", " ", " ", "/sort\r", "n", "b", size=SMALL),
    program("htop", "htop -d 5", DOWN, DOWN, "t", "I", "?", "q", "u", size=SMALL, quiet=0.3, seconds=6),
    program("top", "top -d 1", "1", "z", "x", "V", "m", size=SMALL, quiet=0.4, seconds=6),
    program("watch", "watch -n 1 -d -t --color 'ls -l --color=always; date +%N'", size=SMALL, seconds=5, quiet=2),
    program("mc", "mc -d", DOWN, DOWN, "\x1b5", "\x1b", "\t", DOWN, "\x1b9", RIGHT, DOWN, ESC + ESC, "\x1b3", size=(120, 40)),
    program("mc-edit", "mcedit main.c", DOWN, DOWN, "\x1b7", "count\r", "\x1b9", DOWN, size=SMALL),
    program("tmux", "tmux -L demo -f home/.tmux.conf new 'bash --norc'", "\x02%", "ls --color\r", '\x02"', "seq 30\r", "\x02o", "vim main.c\r", "\x02c", "\x02w", quiet=0.7),
    program("tmux-copy", "tmux -L demo2 -f home/.tmux.conf new 'bash --norc'", "seq 100\r", "\x02[", "\x02", "kkk", " kk", "\r", "\x02]", size=SMALL),
    program("screen", "screen -c /dev/null bash --norc", " ", "ls --color\r", "\x01S", "\x01\t", "\x01c", "seq 40\r", size=SMALL),
    program("fzf", "bash -c 'git ls-files | fzf --multi --preview=\"head -20 {}\"'", "m", "\x7f", DOWN, "\t", DOWN, "src"),
    program("fzf-inline", "bash -c 'seq 1000 | fzf --height 10 --reverse --border'", "5", "7", "\x7f", DOWN, DOWN, size=SMALL),
    program("git-log", "git -c core.pager='less -RX' log --graph --stat --color", " ", " ", "/topic\r", "b", size=SMALL),
    program("git-diff", "git -c core.pager=cat diff --color --color-words", size=SMALL),
    program("git-add-p", "git -c color.ui=always add -p", "?\r", "s\r", "n\r", "n\r", size=SMALL),
    program("tig", "tig", DOWN, "\r", DOWN, "t", "q", "s", "h"),
    program("cargo-build", "bash -c 'cd hello; cargo build --offline --color always --config term.progress.when=\\\"always\\\" --config term.progress.width=80; sleep 9'", size=SMALL, env={"CARGO_HOME": "/root/.cargo", "RUSTUP_HOME": "/root/.rustup"}, quiet=3),
    program("rich-progress", f"{PYTHON} progress.py", size=SMALL, quiet=2, bytes=16000),
    program("rich", f"{PYTHON} -m rich", quiet=2, bytes=29000),
    program("textual", f"{PYTHON} {REPO}/tests/programs/textual_menu.py", DOWN, DOWN, "/", "an", ESC, size=SMALL),
    program("ink", f"node {REPO}/tests/programs/ink/menu.mjs", DOWN, DOWN, "/", "an", ESC, size=SMALL),
    program("curses", f"{PYTHON} {REPO}/tests/programs/curses_menu.py", DOWN, DOWN, "/", "an", ESC, size=SMALL),
    program("bubbletea", f"{TARGET}/test-programs/bubbletea-menu", DOWN, DOWN, "/", "a", "n", ESC, size=SMALL),
    program("ratatui", os.environ.get("DEMO_RATATUI", f"{TARGET}/debug/examples/ratatui_menu"), DOWN, DOWN, "/", "an", ESC, size=SMALL),
    program("dialog", "dialog --checklist 'Choose 漢字' 15 50 5 a Apple on b Banana off c Cherry off", DOWN, " ", "\t", LEFT, size=SMALL),
    program("dialog-gauge", "bash -c 'for i in 10 40 70 90; do echo $i; sleep 0.2; done | dialog --gauge Working 8 50 0; sleep 3'", size=SMALL, quiet=1),
    program("dialog-calendar", "dialog --calendar Day 0 0 1 1 2026", DOWN, RIGHT, size=SMALL),
    program("whiptail", "whiptail --title Demo --radiolist Choose 15 50 4 a Apple on b Banana off c Cherry off", DOWN, " ", "\t", size=SMALL),
    program("bash", "bash --norc -i", "ls --color=auto\r", "cat no\t", "| hea\t -3\r", "echo $((6*7))\r", "\x12ls", "\x07", "printf '\\e[31mred\\e[0m %s\\n' äöü\r", "clear\r", "seq 30\r", size=SMALL),
    program("zsh", "zsh -i", "ls --color\r", "cat s\t", "\t\t", DOWN, "\r", "\x03", "echo 漢字 | tr a b\r", "for i in {1..5}; do echo $i; done\r", size=SMALL),
    program("fish", "fish --no-config", "ls\r", "cat s\t", "\t", DOWN, "\r", "\x03", "echo (math 6 \\* 7)\r", "functions -n\r", size=SMALL, quiet=0.8),
    program("python-repl", "python3 -q", "import sys\r", "[n ** 2 for n in range(40)]\r", "def f(x):\r    return x\r\r", "f('naïve 漢字')\r", "1/0\r", "imp\t\t", size=SMALL),
    program("node-repl", "node", "[1, 'two', {three: [3]}]\r", "Object.ke", "\t\t", "\x03", "new Map([[1, 2]])\r", "throw new Error('x')\r", size=SMALL, env={"NODE_REPL_HISTORY": ""}),
    program("w3m", "w3m page.html", "\t", "\t", "\r", "\x07", "=", size=SMALL),
    program("lynx", "lynx page.html", DOWN, DOWN, "=", LEFT, size=SMALL),
    program("ncdu", "ncdu --color dark src", DOWN, DOWN, "i", "i", "g", size=SMALL),
    program("ranger", "ranger", DOWN, DOWN, "l", "h", "zh", ":", ESC),
    program("gdb-tui", "gdb -q -tui -nx /bin/true", "info line\r", "help\r", "q", "layout asm\r", size=SMALL),
    program("ls-colors", "bash -c 'ls -la --color=always / | head -5; grep --color=always -rn return src; jq -C . data.json; sleep 5'", size=SMALL, quiet=1),
    program("npm", "bash -c 'cd home/package; npm pack --dry-run --color=always; npm run --color=always; sleep 9'", size=SMALL, quiet=4),
]
