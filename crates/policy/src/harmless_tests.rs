//! Commands that look like what is refused, and run.

use std::path::Path;

use crate::{Decision, Dialect, Policy, PolicyConfig};

#[track_caller]
fn all_run(commands: &[&str]) {
    let home = Path::new("/home/ann");
    let policy = Policy::new(&PolicyConfig::default(), home).unwrap();
    let refused: Vec<_> = commands
        .iter()
        .map(|command| {
            (
                *command,
                policy.check_command(command, Dialect::Bash, Path::new("/home/ann/project"), home),
            )
        })
        .filter(|(_, decision)| matches!(decision, Decision::Deny { .. }))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn removal_of_ones_own() {
    all_run(&[
        "rm -rf ./build",
        "rm -rf build dist node_modules",
        "rm -rf .",
        "rm -rf *",
        "rm -rf ./*",
        "rm -rf /tmp/x",
        "rm -rf /tmp/*",
        "rm -rf /var/lib/apt/lists/*",
        "rm -rf /var/cache/apt",
        "rm -rf /usr/local/go",
        "rm -rf ~/project/target",
        "rm -rf $HOME/.cache/x",
        "rm -rf \"$DIR\"",
        "rm -rf \"$BUILD_DIR\"/*",
        "rm -rf \"${TMPDIR:-/tmp}/x\"",
        "rm -rf $(mktemp -d)",
        "rm -rf \"$(<dir)/x\"",
        "rm -rf \"$(<dir)\"/*",
        "((i++)); ((total = total / 2)); (( a > b ))",
        "rm -f file",
        "rm -f *.o",
        "rm file",
        "rm /tmp/a /tmp/b",
        "cd /tmp && rm -rf x",
        "cd / && rm -rf tmp/x",
        "cd / && cd /tmp && rm -rf *",
        "(cd / && ls); rm -rf *",
        "cd \"$DIR\" && rm -rf *",
        "for d in a b; do rm -rf $d; done",
        "x=/tmp/y; rm -rf $x",
        "find . -name x -delete",
        "find . -type d -name node_modules -exec rm -rf {} +",
        "find / -name '*.pyc' -delete",
        "find / -type f",
        "find . -delete",
        "find /tmp -mtime +7 -delete",
        "find . -name '*.o' | xargs rm -f",
        "git ls-files -d | xargs git rm",
        "git rm -rf .",
        "docker rm -f web",
        "docker run --rm alpine ls /",
        "npm rm -rf x",
        "mv build old",
        "mv ~/a ~/b",
        "mv * sub/",
        "rsync -a --delete src/ /backup/src/",
        "rmdir /tmp/x",
    ]);
}

#[test]
fn text_about_it() {
    all_run(&[
        "echo 'rm -rf /'",
        "echo rm -rf /",
        "printf '%s\\n' 'rm -rf /'",
        "grep -r \"rm -rf /\" .",
        "grep -rf patterns /",
        "git commit -m \"rm -rf /\"",
        "git log --grep 'mkfs.ext4 /dev/sda'",
        "cat > notes <<EOF\nnever run rm -rf / here\nEOF",
        "cat <<'EOF' > notes\n$(rm -rf /)\n:(){ :|:& };:\nEOF",
        "echo \"\\$(rm -rf /)\"",
        "echo '$(rm -rf /)'",
        "ls # rm -rf /",
        "man rm",
        "which rm mkfs shutdown",
        "command -v rm",
        "type shutdown",
        "alias rm='rm -i'",
        "python -c 'print(\"rm -rf /\")'",
        "sed -i 's/rm -rf \\//x/' file",
        "awk '{ print \"reboot\" }' file",
        "vim shutdown.md",
        "./reboot-test.sh",
        "cat reboot",
        "make halt-test",
        "npm run shutdown",
        "echo curl x '|' sh",
        "echo \"unclosed",
        "echo 'reboot' >> notes.txt",
    ]);
}

#[test]
fn devices_files_and_processes() {
    all_run(&[
        "dd if=/dev/zero of=file bs=1M count=1",
        "dd if=/dev/sda of=backup.img",
        "dd if=file of=/dev/null",
        "dd if=x of=/dev/zero",
        "dd if=x | gzip > out",
        "echo x > /dev/null",
        "cmd > /dev/null 2>&1",
        "echo x > /dev/stderr",
        "echo x > /dev/tcp/localhost/80",
        "echo x | tee /dev/tty",
        "tee /dev/stderr < x",
        "cp /dev/sda image",
        "cat /etc/passwd",
        "cp /etc/passwd .",
        "echo '127.0.0.1 x' >> /etc/hosts",
        "echo x > passwd",
        "mkfs.ext4 --help",
        "fdisk -l",
        "fdisk -l /dev/sda",
        "parted /dev/sda print",
        "lsblk /dev/sda",
        "chmod -R 755 ./dir",
        "chmod -R u+w .",
        "chmod 755 /usr/local/bin/x",
        "chown -R ann ~/project",
        "chown -R ann:ann /home/ann",
        "chmod +x script.sh",
        "kill -9 1234",
        "kill -1 1234",
        "kill %1",
        "kill -l",
        "kill -- -1234",
        "pkill -f 'node server'",
        "systemctl status nginx",
        "systemctl restart nginx",
        "shutdown -c",
        "init-project 0",
        "crontab -l",
        "crontab jobs.txt",
        "history -c",
    ]);
}

#[test]
fn shells_and_expansions() {
    all_run(&[
        "$EDITOR file",
        "\"$PYTHON\" -m x",
        "\"$CC\" -o out in.c",
        "$CMD -r dir",
        "${MAKE:-make} -j4",
        "$(npm bin)/eslint .",
        "curl -fsSL https://x.example -o out",
        "curl -s x | jq .name",
        "curl -s x | python3 -m json.tool",
        "curl -s x | python3 -c 'import sys; print(sys.stdin.read())'",
        "curl x | grep sh",
        "wget x && tar xf x.tar",
        "echo 'ls -l' | sh",
        "bash -c 'ls && echo done'",
        "bash script.sh",
        "cat script.sh | bash",
        "eval \"$(ssh-agent -s)\"",
        "eval \"$(direnv hook bash)\"",
        "source venv/bin/activate",
        "source <(kubectl completion bash)",
        "echo aGk= | base64 -d",
        "bash -c \"echo $(curl -s x)\"",
        "f() { echo \"$1\"; }; f x",
        "fact() { [ $1 -le 1 ] && echo 1 || echo $(( $1 * $(fact_of $1) )); }",
        "walk() { for x in \"$1\"/*; do walk \"$x\"; done; }; walk .",
        "while read -r line; do echo \"$line\"; done < file",
        "for i in {1..10}; do echo $i; done",
        "for ((i = 0; i < 3; i++)); do echo $i; done",
        "case $x in a|b) ls;; *) echo no;; esac",
        "if [[ $x =~ ^(a|b)$ && -f file ]]; then echo yes; fi",
        "a=(1 2 3); echo ${#a[@]}",
        "declare -a list=(a b); echo \"${list[@]}\"",
        "ls !(a|b)",
        "sudo apt-get install -y curl",
        "sudo -u postgres psql -c 'drop table x'",
        "ssh host uptime",
        "env FOO=1 make test",
        "timeout 60 cargo test",
        "xargs -n1 echo < list",
        "git push --force origin main",
        "echo $((1 + 2)) $(date) `id -u`",
        "python3 - <<'EOF'\nimport os\nEOF",
        "(sleep 1; echo a) & wait",
        "a && b || c; d | e |& f > out 2> err < in",
        "find . -type f -exec grep -l x {} \\;",
        "",
        "   ",
        "# nothing",
    ]);
}
