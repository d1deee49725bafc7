//! Mouse events, in the five ways in which terminals write them.
//!
//! The button number carries modifiers (Shift 4, Alt 8, Ctrl 16), motion (32), the wheel (64) and
//! the side buttons (128). What the program has not asked for is an error that says so, because a
//! caller who gets silence would look for the fault elsewhere; the one exception is the wheel on
//! the alternate screen, which terminals turn into cursor keys (mode 1007).

use super::encode::encode_press;
use super::key::{Key, Modifiers};
use super::modes::{InputModes, MouseEncoding, MouseTracking};

/// Lines that one turn of the wheel moves, when it is sent as cursor keys.
const WHEEL_LINES: usize = 3;

/// Most motion events that one drag sends, its end among them.
const MAX_DRAG_STEPS: u32 = 32;

const RELEASED: u16 = 3;
const MOTION: u16 = 32;

/// What the mouse does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MouseAction {
    /// A button goes down.
    Press,
    /// A button goes up.
    Release,
    /// A button goes down and up.
    Click,
    /// Two clicks.
    DoubleClick,
    /// A button goes down, the pointer moves, the button goes up.
    Drag {
        /// Row and column where the button goes up, from 0.
        to: (u16, u16),
    },
    /// The pointer moves; a button other than [`MouseButton::None`] is held meanwhile.
    Move,
    /// The wheel turns up; the button does not matter for this and the other turns.
    ScrollUp,
    /// The wheel turns down.
    ScrollDown,
    /// The wheel tilts left.
    ScrollLeft,
    /// The wheel tilts right.
    ScrollRight,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum MouseButton {
    /// The left button.
    #[default]
    Left,
    /// The middle button, or the wheel pressed.
    Middle,
    /// The right button.
    Right,
    /// No button: for motion.
    None,
    /// The eighth button, on the side.
    Back,
    /// The ninth button, on the side.
    Forward,
}

/// One thing done with the mouse, at a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MouseEvent {
    /// What is done.
    pub action: MouseAction,
    /// With which button.
    pub button: MouseButton,
    /// The row, from 0.
    pub row: u16,
    /// The column, from 0.
    pub col: u16,
    /// What is held on the keyboard; the protocols have no bit for Super.
    pub modifiers: Modifiers,
}

/// Why a mouse event cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MouseError {
    /// Mouse tracking is off.
    #[error("the program has not asked for mouse events: use keys instead")]
    NotTracking,
    /// The program wants no releases.
    #[error("the program asked only for button presses (X10 mouse mode): press or click instead")]
    OnlyPresses,
    /// The program wants no motion.
    #[error("the program asked only for clicks, not for motion: click instead")]
    OnlyClicks,
    /// The program wants motion only with a button held.
    #[error("the program asked for motion only while a button is held: name a button, or drag")]
    OnlyHeldMotion,
    /// A press, release, click or drag without a button.
    #[error("a press, release, click or drag needs a button: left, middle, right, back or forward")]
    NoButton,
    /// A position that the encoding cannot write.
    #[error(
        "row {row}, column {col} (from 0) is out of reach: the program chose the {encoding} mouse \
         encoding, which ends at {limit} rows and columns"
    )]
    OutOfRange {
        /// The row, from 0.
        row: u16,
        /// The column, from 0.
        col: u16,
        /// How many rows and columns the encoding reaches.
        limit: u16,
        /// The encoding's name.
        encoding: &'static str,
    },
}

/// The bytes that the terminal sends for a mouse event.
pub fn encode_mouse(event: &MouseEvent, modes: &InputModes) -> Result<Vec<u8>, MouseError> {
    if modes.mouse == MouseTracking::Off {
        return scroll_by_keys(event.action, modes).ok_or(MouseError::NotTracking);
    }
    let mut report = Report { event, modes, bytes: Vec::new() };
    let at = (event.row, event.col);
    match event.action {
        MouseAction::Press => report.press(at)?,
        MouseAction::Release => report.release(at)?,
        MouseAction::Click => report.click(at)?,
        MouseAction::DoubleClick => {
            report.click(at)?;
            report.click(at)?;
        }
        MouseAction::Drag { to } => report.drag(at, to)?,
        MouseAction::Move => report.motion(at)?,
        MouseAction::ScrollUp => report.down(64, at)?,
        MouseAction::ScrollDown => report.down(65, at)?,
        MouseAction::ScrollLeft => report.down(66, at)?,
        MouseAction::ScrollRight => report.down(67, at)?,
    }
    Ok(report.bytes)
}

fn scroll_by_keys(action: MouseAction, modes: &InputModes) -> Option<Vec<u8>> {
    let key = match action {
        MouseAction::ScrollUp => Key::Up,
        MouseAction::ScrollDown => Key::Down,
        _ => return None,
    };
    let turned = modes.alternate_screen && modes.alternate_scroll;
    turned.then(|| encode_press(&key.into(), modes).repeat(WHEEL_LINES))
}

/// The reports of one event as they are written.
struct Report<'a> {
    event: &'a MouseEvent,
    modes: &'a InputModes,
    bytes: Vec<u8>,
}

impl Report<'_> {
    fn button(&self) -> Option<u16> {
        Some(match self.event.button {
            MouseButton::Left => 0,
            MouseButton::Middle => 1,
            MouseButton::Right => 2,
            MouseButton::Back => 128,
            MouseButton::Forward => 129,
            MouseButton::None => return None,
        })
    }

    fn press(&mut self, at: (u16, u16)) -> Result<(), MouseError> {
        let button = self.button().ok_or(MouseError::NoButton)?;
        self.down(button, at)
    }

    fn release(&mut self, at: (u16, u16)) -> Result<(), MouseError> {
        let button = self.button().ok_or(MouseError::NoButton)?;
        if self.modes.mouse == MouseTracking::X10 {
            return Err(MouseError::OnlyPresses);
        }
        self.write(button, false, at)
    }

    fn click(&mut self, at: (u16, u16)) -> Result<(), MouseError> {
        self.press(at)?;
        // A program in X10 mode sees a click as its press.
        if self.modes.mouse == MouseTracking::X10 { Ok(()) } else { self.release(at) }
    }

    fn drag(&mut self, from: (u16, u16), to: (u16, u16)) -> Result<(), MouseError> {
        if self.modes.mouse == MouseTracking::X10 {
            return Err(MouseError::OnlyPresses);
        }
        self.press(from)?;
        if self.modes.mouse != MouseTracking::Normal {
            let longest = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
            let steps = u32::from(longest).min(MAX_DRAG_STEPS);
            for step in 1..=steps {
                let row = between(from.0, to.0, step, steps);
                let col = between(from.1, to.1, step, steps);
                self.motion((row, col))?;
            }
        }
        self.release(to)
    }

    fn motion(&mut self, at: (u16, u16)) -> Result<(), MouseError> {
        let button = self.button();
        match self.modes.mouse {
            MouseTracking::Off => Err(MouseError::NotTracking),
            MouseTracking::X10 | MouseTracking::Normal => Err(MouseError::OnlyClicks),
            MouseTracking::ButtonMotion if button.is_none() => Err(MouseError::OnlyHeldMotion),
            MouseTracking::ButtonMotion | MouseTracking::AnyMotion => {
                self.down(button.unwrap_or(RELEASED) + MOTION, at)
            }
        }
    }

    fn down(&mut self, button: u16, at: (u16, u16)) -> Result<(), MouseError> {
        self.write(button, true, at)
    }

    fn write(&mut self, button: u16, down: bool, at: (u16, u16)) -> Result<(), MouseError> {
        let encoding = self.modes.mouse_encoding;
        let sgr = matches!(encoding, MouseEncoding::Sgr | MouseEncoding::SgrPixels);
        // Only the SGR forms can say which button went up.
        let code = if down || sgr { button } else { RELEASED } + self.held();
        let (row, col) = (u32::from(at.0), u32::from(at.1));
        match encoding {
            MouseEncoding::Default => {
                within(at, 223, "default (X10)")?;
                self.bytes.extend(b"\x1b[M");
                self.bytes.extend([code + 32, at.1 + 33, at.0 + 33].map(|value| value as u8));
            }
            MouseEncoding::Utf8 => {
                within(at, 2015, "UTF-8 (1005)")?;
                self.bytes.extend(b"\x1b[M");
                let values = [u32::from(code) + 32, col + 33, row + 33];
                let values: String = values.into_iter().filter_map(char::from_u32).collect();
                self.bytes.extend(values.bytes());
            }
            MouseEncoding::Urxvt => {
                let text = format!("\x1b[{};{};{}M", code + 32, col + 1, row + 1);
                self.bytes.extend(text.into_bytes());
            }
            MouseEncoding::Sgr | MouseEncoding::SgrPixels => {
                let (x, y) =
                    if encoding == MouseEncoding::Sgr { (col, row) } else { self.centre(at) };
                let last = if down { 'M' } else { 'm' };
                self.bytes.extend(format!("\x1b[<{code};{};{}{last}", x + 1, y + 1).into_bytes());
            }
        }
        Ok(())
    }

    /// The bits of the modifiers, which X10 mode does not know.
    fn held(&self) -> u16 {
        const BITS: [(Modifiers, u16); 3] =
            [(Modifiers::SHIFT, 4), (Modifiers::ALT, 8), (Modifiers::CTRL, 16)];
        if self.modes.mouse == MouseTracking::X10 {
            return 0;
        }
        let held = BITS.iter().filter(|(modifier, _)| self.event.modifiers.contains(*modifier));
        held.map(|(_, bit)| bit).sum()
    }

    /// The pixel in the middle of a cell, from 0.
    fn centre(&self, (row, col): (u16, u16)) -> (u32, u32) {
        let (width, height) = self.modes.cell_pixels;
        let middle = |cell: u16, size: u16| u32::from(cell) * u32::from(size) + u32::from(size / 2);
        (middle(col, width), middle(row, height))
    }
}

fn within((row, col): (u16, u16), limit: u16, encoding: &'static str) -> Result<(), MouseError> {
    if row < limit && col < limit {
        return Ok(());
    }
    Err(MouseError::OutOfRange { row, col, limit, encoding })
}

/// The point `step` of `steps` on the way from one coordinate to another.
fn between(from: u16, to: u16, step: u32, steps: u32) -> u16 {
    let far = u32::from(from.abs_diff(to)) * step / steps;
    if to >= from { from + far as u16 } else { from - far as u16 }
}
