//! The fruit menu of `README.md` in ratatui and crossterm.

use std::io::{self, Write};
use std::process::ExitCode;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use ratatui::{DefaultTerminal, Frame};

const ITEMS: [&str; 5] = ["Apple", "Banana", "Cherry", "Dragonfruit", "Elderberry"];
const FIRST_ITEM_ROW: usize = 2;
const FILTER_ROW: usize = 8;
const STATUS_ROW: usize = 9;
const NOTHING_CHOSEN: u8 = 3;

fn main() -> io::Result<ExitCode> {
    let mut terminal = ratatui::init();
    let outcome = Menu::default().run(&mut terminal);
    ratatui::restore();
    let mut stdout = io::stdout();
    if let Some(choice) = outcome? {
        writeln!(stdout, "You chose: {choice}")?;
        Ok(ExitCode::SUCCESS)
    } else {
        writeln!(stdout, "No choice")?;
        Ok(ExitCode::from(NOTHING_CHOSEN))
    }
}

/// What the screen shows.
#[derive(Default)]
struct Menu {
    selected: usize,
    /// The text of the filter while it is open.
    filter: Option<String>,
}

/// What a key led to.
enum Step {
    Continue,
    Leave(Option<&'static str>),
}

impl Menu {
    fn run(mut self, terminal: &mut DefaultTerminal) -> io::Result<Option<&'static str>> {
        loop {
            terminal.draw(|frame| self.draw(frame))?;
            let Event::Key(key) = event::read()? else {
                continue;
            };
            if key.kind == KeyEventKind::Release {
                continue;
            }
            if let Step::Leave(choice) = self.key(key) {
                return Ok(choice);
            }
        }
    }

    fn visible(&self) -> Vec<&'static str> {
        let needle = self.filter.as_deref().unwrap_or_default().to_lowercase();
        ITEMS.into_iter().filter(|item| item.to_lowercase().contains(&needle)).collect()
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let mut lines = vec![Line::default(); STATUS_ROW + 1];
        lines[0] = Line::from("Fruit menu");
        for (index, item) in self.visible().into_iter().enumerate() {
            lines[FIRST_ITEM_ROW + index] = if index == self.selected {
                Line::from(format!("> {item}").reversed())
            } else {
                Line::from(format!("  {item}"))
            };
        }
        if let Some(filter) = &self.filter {
            lines[FILTER_ROW] = Line::from(format!("Filter: {filter}"));
        }
        let area = frame.area();
        lines[STATUS_ROW] = Line::from(format!("Size: {}x{}", area.width, area.height));
        frame.render_widget(Paragraph::new(lines), area);
    }

    fn key(&mut self, key: KeyEvent) -> Step {
        let visible = self.visible();
        match (key.code, &mut self.filter) {
            (KeyCode::Char('c'), _) if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Step::Leave(None);
            }
            (KeyCode::Char('q'), None) => return Step::Leave(None),
            (KeyCode::Enter, _) => {
                if let Some(&item) = visible.get(self.selected) {
                    return Step::Leave(Some(item));
                }
            }
            (KeyCode::Down, _) | (KeyCode::Char('j'), None) => {
                self.selected = (self.selected + 1).min(visible.len().saturating_sub(1));
            }
            (KeyCode::Up, _) | (KeyCode::Char('k'), None) => {
                self.selected = self.selected.saturating_sub(1);
            }
            (KeyCode::Char('/'), None) => self.set_filter(Some(String::new())),
            (KeyCode::Esc, Some(_)) => self.set_filter(None),
            (KeyCode::Backspace, Some(filter)) => {
                filter.pop();
                self.selected = 0;
            }
            (KeyCode::Char(character), Some(filter)) => {
                filter.push(character);
                self.selected = 0;
            }
            _ => {}
        }
        Step::Continue
    }

    fn set_filter(&mut self, filter: Option<String>) {
        self.filter = filter;
        self.selected = 0;
    }
}
