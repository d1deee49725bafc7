"""The fruit menu of README.md in Python's own curses."""

import curses
import sys

ITEMS = ("Apple", "Banana", "Cherry", "Dragonfruit", "Elderberry")
FIRST_ITEM_ROW = 2
FILTER_ROW = 8
STATUS_ROW = 9
NOTHING_CHOSEN = 3

CTRL_C = "\x03"
ESCAPE = "\x1b"
ENTER = ("\n", "\r", curses.KEY_ENTER)
BACKSPACE = ("\b", "\x7f", curses.KEY_BACKSPACE)
ESCAPE_DELAY_MS = 25


def put(screen, row, text, attributes=curses.A_NORMAL):
    rows, cols = screen.getmaxyx()
    if row < rows:
        # One column short: curses reports an error after writing the last cell of the screen.
        screen.addnstr(row, 0, text, cols - 1, attributes)


def draw(screen, visible, selected, needle):
    screen.erase()
    put(screen, 0, "Fruit menu")
    for index, item in enumerate(visible):
        if index == selected:
            put(screen, FIRST_ITEM_ROW + index, f"> {item}", curses.A_REVERSE)
        else:
            put(screen, FIRST_ITEM_ROW + index, f"  {item}")
    if needle is not None:
        put(screen, FILTER_ROW, f"Filter: {needle}")
    rows, cols = screen.getmaxyx()
    put(screen, STATUS_ROW, f"Size: {cols}x{rows}")
    screen.refresh()


def menu(screen):
    """Runs the menu and returns the chosen item, or None."""
    # Raw rather than cbreak: Ctrl+C arrives as a key and ends the program like `q`.
    curses.raw()
    curses.curs_set(0)
    selected, needle = 0, None
    while True:
        visible = [item for item in ITEMS if (needle or "").lower() in item.lower()]
        draw(screen, visible, selected, needle)
        key = screen.get_wch()
        if key == CTRL_C or (key == "q" and needle is None):
            return None
        if key in ENTER:
            if visible:
                return visible[selected]
        elif key == curses.KEY_DOWN or (key == "j" and needle is None):
            selected = max(0, min(selected + 1, len(visible) - 1))
        elif key == curses.KEY_UP or (key == "k" and needle is None):
            selected = max(0, selected - 1)
        elif key == "/" and needle is None:
            selected, needle = 0, ""
        elif needle is None:
            continue
        elif key == ESCAPE:
            selected, needle = 0, None
        elif key in BACKSPACE:
            selected, needle = 0, needle[:-1]
        elif isinstance(key, str) and key.isprintable():
            selected, needle = 0, needle + key


def main():
    curses.set_escdelay(ESCAPE_DELAY_MS)
    choice = curses.wrapper(menu)
    if choice is None:
        print("No choice")
        return NOTHING_CHOSEN
    print(f"You chose: {choice}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
