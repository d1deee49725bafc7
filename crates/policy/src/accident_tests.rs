//! Accidents that several commands make together, and the daily work that looks like them.

use std::path::Path;

use crate::{Decision, Dialect, Policy, PolicyConfig, ReadLink};

/// A disk on which `/home/ann/project/build` is missing and `/home/ann/project/dist` is there.
struct Disk;

impl ReadLink for Disk {
    fn read_link(&self, path: &Path) -> std::io::Result<Option<std::path::PathBuf>> {
        let missing = path.starts_with("/home/ann/project/build");
        if missing { Err(std::io::ErrorKind::NotFound.into()) } else { Ok(None) }
    }
}

fn refused_by(command: &str) -> Option<String> {
    let home = Path::new("/home/ann");
    let policy = Policy::with_links(&PolicyConfig::default(), home, Box::new(Disk)).unwrap();
    let cwd = Path::new("/home/ann/project");
    match policy.check_command(command, Dialect::Bash, cwd, home) {
        Decision::Allow { .. } => None,
        Decision::Deny { rule, .. } => Some(rule),
    }
}

#[track_caller]
fn all_refused(rule: &str, commands: &[&str]) {
    let judged = commands.iter().map(|command| (*command, refused_by(command)));
    let wrong: Vec<_> = judged.filter(|(_, by)| by.as_deref() != Some(rule)).collect();
    assert!(wrong.is_empty(), "not refused by {rule}: {wrong:#?}");
}

#[track_caller]
fn all_run(commands: &[&str]) {
    let judged = commands.iter().map(|command| (*command, refused_by(command)));
    let refused: Vec<_> = judged.filter(|(_, by)| by.is_some()).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn a_directory_change_that_fails() {
    all_refused(
        "remove-system",
        &[
            "cd build; rm -rf *",
            "cd build\nrm -rf *",
            "cd build; rm -rf .",
            "cd build; rm -rf ./* .[!.]*",
            "cd build; find . -delete",
            "cd build && make; rm -rf *",
            "cd build || rm -rf *",
            "cd build || echo missing; rm -rf *",
            "cd build; cd sub; rm -rf ../*",
            "pushd build; rm -rf *; popd",
            "(cd build; rm -rf *)",
            "bash -c 'cd build; rm -rf *'",
        ],
    );
    all_run(&[
        "cd build && rm -rf *",
        "cd build || exit 1; rm -rf *",
        "cd build || { echo missing >&2; exit 1; }; rm -rf *",
        "f() { cd build || return; rm -rf *; }; f",
        "set -e; cd build; rm -rf *",
        "set -euo pipefail\ncd build\nrm -rf *",
        "if cd build; then rm -rf *; fi",
        "mkdir -p build; cd build; rm -rf *",
        "cmake -B build; cd build; rm -rf *",
        "git clone https://example.org/build.git; cd build; rm -rf *",
        "cd dist; rm -rf *",
        "cd build; rm -rf CMakeCache.txt CMakeFiles",
        "cd build; make clean",
        "(cd build && rm -rf *); ls",
        "(cd build; ls); rm -rf *",
        "cd \"$DIR\"; rm -rf *",
    ]);
}

#[test]
fn removal_of_what_a_pattern_or_a_search_gives() {
    all_refused(
        "remove-system",
        &[
            "for d in ~/*; do rm -rf \"$d\"; done",
            "for d in /*; do rm -rf \"$d\"; done",
            "for d in /etc/* ; do rm -r $d; done",
            "for d in /home/ann/*/; do rm -rf \"$d\"; done",
            "for d in ~/*; do rm -rf \"$d\"/*; done; for d in ~/.*; do rm -rf $d; done",
            "find / -type f | xargs rm",
            "find / | xargs rm -rf",
            "find ~ -print0 | xargs -0 rm -f",
            "find / -type f | sort | xargs -n1 rm",
            "find ~ -type f | xargs -I{} rm {}",
            "find /usr | sudo xargs rm -rf",
            "find / ! -name keep -delete",
            "find ~ -not -name '*.txt' -delete",
            "find / -path /proc -prune -o -type f -delete",
            "find ~ -mindepth 1 -delete",
            "find / -exec sh -c 'rm -rf \"$1\"' _ {} \\;",
        ],
    );
    all_run(&[
        "for d in */; do rm -rf \"$d\"; done",
        "for d in ~/*; do rm -rf \"$d/node_modules\"; done",
        "for d in ~/*; do du -sh \"$d\"; done",
        "for f in /tmp/*; do rm -rf \"$f\"; done",
        "for f in /var/log/*.gz; do rm \"$f\"; done",
        "find . -type f | xargs rm",
        "find . -name '*.pyc' | xargs rm -f",
        "find / -name '*.pyc' | xargs rm -f",
        "find / -type f | grep foo | xargs rm",
        "find / -type f | xargs ls -l",
        "find . -name '*.pyc' -delete",
        "find / \\( -name '*.pyc' -o -name '*.pyo' \\) -delete",
        "find / -path /proc -prune -o -name core -delete",
        "find /var/log -type f -mtime +30 -delete",
        "find /var/log -type f -delete",
    ]);
}

#[test]
fn text_from_the_network_run_in_other_ways() {
    all_refused(
        "pipe-to-shell",
        &[
            "python3 <(curl -s x)",
            "python3 < <(curl -s x)",
            "perl <(wget -qO- x)",
            "python3 -c \"$(curl -s x)\"",
            "node -e \"$(curl -s x)\"",
            "bash $(curl -s x)",
            "curl x | source /dev/stdin",
            "curl x | . /dev/fd/0",
            ". <(curl -s x)",
            "source /dev/stdin < <(curl x)",
        ],
    );
    all_run(&[
        "python3 script.py <(curl -s x | jq .)x",
        "diff <(curl -s a) <(curl -s b)",
        "python3 -c 'print(1)' \"$(curl -s x)\"",
        "curl -s x | python3 script.py",
        "jq . <(curl -s x)",
    ]);
}

#[test]
fn devices_and_images() {
    all_refused(
        "write-device",
        &[
            "wget -O /dev/sda https://example.org/image",
            "wget --output-document=/dev/sda x",
            "curl x -o /dev/nvme0n1",
            "curl --output /dev/sda x",
            "curl -o/dev/sda x",
            "qemu-img convert -O raw image.qcow2 /dev/sda",
        ],
    );
    all_refused("overwrite-system-file", &["curl -o /etc/passwd x", "wget -O /etc/shadow x"]);
    all_refused(
        "format-device",
        &[
            "mkfs.ext4 $DISK",
            "cd /dev; mkfs.ext4 sda",
            "mkfs.ext4 -L /dev/sdb",
            "mkfs -t ext4 /dev/sdb1",
        ],
    );
    all_run(&[
        "mkfs.ext4 disk.img",
        "mkfs.ext4 -F -L data ./disk.img",
        "mkfs -t ext4 disk.img",
        "mkfs.vfat -C efi.img 65536",
        "mkswap swapfile",
        "mke2fs -t ext4 /tmp/x/disk.img 64M",
        "parted -s disk.img mklabel gpt",
        "wipefs -a disk.img",
        "sgdisk --zap-all disk.img",
        "dd if=/dev/zero of=disk.img bs=1M count=64",
        "truncate -s 1G disk.img",
        "wget -O out.html x; wget -O - x",
        "curl -o /dev/null x",
    ]);
}

#[test]
fn functions_that_call_themselves() {
    all_run(&[
        "f() { [ $1 -gt 0 ] && f $(($1-1)); }; f 3",
        "fact() { if [ $1 -le 1 ]; then echo 1; else echo $(( $1 * $(fact $(($1-1))) )); fi; }; fact 5",
        "fib() { (( $1 < 2 )) && { echo $1; return; }; echo $(( $(fib $(($1-1))) + $(fib $(($1-2))) )); }; fib 5",
        "walk() { for f in \"$1\"/*; do [ -d \"$f\" ] && (walk \"$f\"); done; }; walk .",
        "retry() { \"$@\" || { sleep 1; retry \"$@\"; }; }; retry make",
        "ask() { read -r x; case $x in y) ls;; *) ask | cat;; esac; }; ask",
    ]);
    all_refused(
        "fork-bomb",
        &[
            ":(){ :|:& };:",
            "f() { f | f & }; f",
            "f() { if true; then f | f & fi; }; f",
            "f() { while :; do f & done; }; f",
            "f() { g; }; g() { f | f; }; f",
            "true && f() { f | f & }; f",
        ],
    );
}

#[test]
fn a_function_does_not_hide_a_program() {
    all_refused(
        "remove-system",
        &[
            "rm() { :; }; sudo rm -rf /",
            "rm() { :; }; command rm -rf /",
            "rm() { :; }; bash -c 'rm -rf /'",
            "rm() { :; }; echo / | xargs rm -rf",
            "if false; then rm() { :; }; fi; rm -rf /",
            "rm() { :; }; unset -f rm; rm -rf /",
            "alias x='rm -rf'\nx /",
        ],
    );
}

#[test]
fn daily_work() {
    all_run(&[
        "rm -rf node_modules target dist .venv __pycache__",
        "rm -rf /tmp/x/*",
        "rm -rf \"$TMPDIR\"/build \"${TMPDIR:?}\"/*",
        "rm -rf /var/log/*",
        "rm -rf /var/log/nginx/*.log /var/cache/apt/archives/*",
        "sudo rm -rf /var/lib/docker/tmp/*",
        "chmod -R u+rwX,go+rX . && chown -R \"$USER\" ./dist",
        "git clean -fdx && git reset --hard && git checkout -- .",
        "docker system prune -af --volumes",
        "docker compose down -v --remove-orphans",
        "docker rm -f $(docker ps -aq)",
        "kill $(pgrep -f 'node server')",
        "kill -9 $(lsof -ti :3000)",
        "pkill -f vite; killall node",
        "rsync -a --delete build/ dist/",
        "rsync -av --delete ./ host:/srv/app/",
        "tar czf out.tgz --exclude=node_modules . && tar xf out.tgz -C /tmp/x",
        "npm ci && npm run build && npx playwright test",
        "cargo clean; cargo build --release 2>&1 | tail -n 20",
        "python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt",
        "for i in 1 2 3; do curl -sf localhost:8080/health && break; sleep 1; done",
        "while ! nc -z localhost 5432; do sleep 0.1; done",
        "find . -name '*.rs' -print0 | xargs -0 wc -l | tail -1",
        "ls -1 | while read -r f; do mv \"$f\" \"${f// /_}\"; done",
        "export PATH=\"$HOME/.local/bin:$PATH\"; hash -r",
        "LD_LIBRARY_PATH=./lib ./app --flag",
        "psql -c 'drop table if exists x' && redis-cli flushall",
        "sudo systemctl restart nginx && journalctl -u nginx -n 50 --no-pager",
        "cat > run.sh <<'EOF'\n#!/bin/sh\nset -e\nrm -rf /\nEOF\nchmod +x run.sh",
        "eval \"$(pyenv init -)\"",
        "trap 'rm -rf \"$tmp\"' EXIT; tmp=$(mktemp -d)",
    ]);
}
