//! Screens of real programs, as `view_screen` with `format: raw` gave them (80×24).

use crate::{Options, Size, Terminal};

fn highlights(recorded: &[u8]) -> Vec<String> {
    let mut terminal = Terminal::new(Size { cols: 80, rows: 24 }, Options::default());
    terminal.feed(recorded);
    terminal.screen().highlights().into_iter().map(|found| found.text).collect()
}

macro_rules! recorded {
    ($name:literal) => {
        highlights(include_bytes!(concat!("../test-data/highlights/", $name, ".screen")))
    };
}

#[test]
fn of_a_window_only_what_is_selected_in_it_is_named() {
    assert_eq!(recorded!("dialog-yesno-1"), ["< No  >"]);
    assert_eq!(recorded!("dialog-menu-2"), ["2", "Banana", "<Cancel>"]);
    assert_eq!(recorded!("whiptail-yesno-0"), ["<Yes>"]);
    assert_eq!(recorded!("whiptail-yesno-1"), ["<No>"]);
    assert_eq!(recorded!("whiptail-menu-2"), ["2 Banana", "<Ok>"]);
    let behind = ["/home/user/projects", "/alpha           │   4096│Jan 10 12:00"];
    assert_eq!(recorded!("mc-2"), [&behind[..], &["[ Yes ]"]].concat());
}

#[test]
fn of_a_menu_without_a_frame_only_the_selected_entry_is_named() {
    for selected in 2..=6 {
        let entry = |row| {
            let background = if row == selected { 44 } else { 100 };
            format!("\x1b[{row};10H\x1b[{background}m entry {row} \x1b[m")
        };
        let menu: String = (2..=6).map(entry).collect();
        assert_eq!(highlights(menu.as_bytes()), [format!("entry {selected}")]);
    }
}

#[test]
fn bars_around_a_selection_are_not_named() {
    assert_eq!(recorded!("mcedit-1"), ["File"]);
    let selected = "/..              │UP--DIR│Jan 10 12:00";
    assert_eq!(recorded!("mc-0"), ["/home/user/projects", selected]);
    let process = "2 root        20   0  2920  1796  1684 S   0.0  0.0  0:00.0";
    assert_eq!(recorded!("htop-1"), [format!("{process}0 sleep 900")]);
    assert_eq!(recorded!("htop-2"), [process, "PERCENT_CPU"]);
}

#[test]
fn an_editors_gutter_and_current_line_are_not_named_but_its_selection_is() {
    assert_eq!(recorded!("micro-1"), [""; 0]);
    assert_eq!(recorded!("micro-2"), ["second line"]);
    assert_eq!(recorded!("vim-1"), ["first line", "econd line"]);
}
