//! Pictures in a real browser: every character stands in its column.

use std::process::Command;

use serde_json::json;
use termbridge_testkit::TestEnvironment;

use crate::support::{App, program};

/// What the program prints, a row each; `|` stands where earlier columns would have pushed it.
const ROWS: [&str; 6] = [
    "    four blanks,     then digits 0123456789     and the end |",
    "\x1b[31mred   \x1b[m   plain\x1b[1m  bold   12 \x1b[m 34   5|",
    "│ 漢字 │  ├──┤  box and wide │ 7 |",
    "\x1b[44m   12 \x1b[33msrc/main.rs   \x1b[m  3 → ok   <a> & 'b' |",
    "🙂 smile | e\u{301} | ✓ done |",
    "\x1b[4munder  lined\x1b[m \x1b[7m  1  2  3  \x1b[m|",
];

/// Writes one line of numbers for each character: which picture, its row, its column in thousandths,
/// its code point.
const MEASURE: &str = r"
const lines = [];
const say = (...numbers) => lines.push(numbers.map(Math.round).join(' '));
const characters = (text, each) => {
  for (let at = 0; at < text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1)
    each(at, text.codePointAt(at));
};
for (const text of document.querySelectorAll('#svg text')) {
  const row = (text.getAttribute('y') - 25.5) / 18;
  characters(text.textContent, (at, code) =>
    say(0, row, (text.getStartPositionOfChar(at).x - 12) / 8.4 * 1000, code));
}
const pre = document.querySelector('#html pre');
const zeros = pre.appendChild(document.createElement('span'));
zeros.textContent = '0'.repeat(100);
const cell = zeros.getBoundingClientRect().width / 100;
zeros.remove();
const walker = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
for (let row = 0; walker.nextNode(); ) {
  const node = walker.currentNode;
  characters(node.data, (at, code) => {
    if (code === 10) { row += 1; return; }
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + (code > 0xffff ? 2 : 1));
    const left = range.getBoundingClientRect().left - pre.getBoundingClientRect().left;
    say(1, row, left / cell * 1000, code);
  });
}
document.querySelector('#measured').textContent = lines.join('\n');
";

/// The visible characters of a row with their columns.
fn columns(row: &str) -> Vec<(i64, u32)> {
    let mut found = Vec::new();
    let (mut col, mut escape) = (0, false);
    for character in row.chars() {
        match character {
            '\x1b' => escape = true,
            _ if escape => escape = character != 'm',
            '\u{301}' => {}
            _ => {
                if character != ' ' {
                    found.push((col * 1000, u32::from(character)));
                }
                col += if matches!(character, '漢' | '字' | '🙂') { 2 } else { 1 };
            }
        }
    }
    found
}

#[test]
fn every_character_stands_in_its_column_in_chromium() {
    let environment = TestEnvironment::new();
    let sample = environment.write("sample.txt", ROWS.join("\r\n"));
    let script = "stty -echo; cat \"$0\"; exec cat";
    let mut app = App::launch(
        environment,
        json!({"command": program("sh"), "args": ["-c", script, sample], "wait": {"text": "1  2  3"}}),
    );
    let mut picture = |format: &str| {
        let answer = app.call("view_screen", json!({"format": format, "max_bytes": 1_000_000}));
        answer.structured["content"].as_str().expect("content").to_owned()
    };
    let page = format!(
        "<!doctype html><meta charset=utf-8><div id=svg>{}</div><div id=html>{}</div>\
         <div id=measured></div><script>{MEASURE}</script>",
        picture("svg"),
        picture("html"),
    );
    let page = app.environment.write("page.html", page);
    let profile = app.environment.path().join("profile");
    let shown = Command::new(program("chromium"))
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--dump-dom", &format!("file://{}", page.display())])
        .output()
        .expect("chromium runs");
    let dom = String::from_utf8_lossy(&shown.stdout);
    let measured =
        dom.split("<div id=\"measured\">").nth(1).and_then(|rest| rest.split('<').next());
    let measured = measured.unwrap_or_else(|| panic!("{dom}"));
    let measured: Vec<Vec<i64>> = measured
        .lines()
        .map(|line| line.split(' ').map(|number| number.parse().expect("a number")).collect())
        .collect();
    for (which, name) in [(0, "svg"), (1, "html")] {
        for (row, text) in ROWS.iter().enumerate() {
            let here = measured.iter().filter(|line| line[0] == which && line[1] == row as i64);
            let visible = |code: i64| code != 32 && code != 0x301;
            let here: Vec<(i64, u32)> = here
                .filter(|line| visible(line[3]))
                .map(|line| (line[2], line[3] as u32))
                .collect();
            let expected = columns(text);
            assert_eq!(here.len(), expected.len(), "{name}, row {row}: {here:?}");
            for ((col, code), (wanted, character)) in here.iter().zip(&expected) {
                assert_eq!(code, character, "{name}, row {row}");
                let shown = char::from_u32(*code);
                let off = (col - wanted).abs();
                assert!(off < 100, "{name}, row {row}: {shown:?} at {col}, not {wanted}");
            }
        }
    }
}
