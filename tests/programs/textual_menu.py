"""The fruit menu of README.md in Textual, with a mouse."""

import sys

from rich.text import Text
from textual.app import App
from textual.events import Click, Key, Resize
from textual.geometry import Size
from textual.widgets import Static

ITEMS = ("Apple", "Banana", "Cherry", "Dragonfruit", "Elderberry")
FIRST_ITEM_ROW = 2
FILTER_ROW = 8
STATUS_ROW = 9
NOTHING_CHOSEN = 3
LEFT_BUTTON = 1


class FruitMenu(App):
    """Returns the chosen item, or None."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Static { width: 100%; height: 100%; }"

    def __init__(self):
        # The terminal's own colours, so that reverse video stays reverse video.
        super().__init__(ansi_color=True)
        self.selected = 0
        self.needle = None
        self.terminal_size = Size(0, 0)
        self.body = Static()

    def compose(self):
        yield self.body

    @property
    def visible(self):
        return [item for item in ITEMS if (self.needle or "").lower() in item.lower()]

    def draw(self):
        lines = [Text() for _ in range(STATUS_ROW + 1)]
        lines[0].append("Fruit menu")
        for index, item in enumerate(self.visible):
            if index == self.selected:
                lines[FIRST_ITEM_ROW + index].append(f"> {item}", style="reverse")
            else:
                lines[FIRST_ITEM_ROW + index].append(f"  {item}")
        if self.needle is not None:
            lines[FILTER_ROW].append(f"Filter: {self.needle}")
        lines[STATUS_ROW].append(f"Size: {self.terminal_size.width}x{self.terminal_size.height}")
        self.body.update(Text("\n").join(lines))

    def on_resize(self, event: Resize):
        # Textual sends one at the start too; `self.size` is still the old size here.
        self.terminal_size = event.size
        self.draw()

    def on_click(self, event: Click):
        row = event.screen_y - FIRST_ITEM_ROW
        if event.button == LEFT_BUTTON and 0 <= row < len(self.visible):
            self.selected = row
            self.draw()

    def on_key(self, event: Key):
        event.prevent_default()
        event.stop()
        key, filtering = event.key, self.needle is not None
        if key == "ctrl+c" or (key == "q" and not filtering):
            self.exit(None)
        elif key == "enter":
            if self.visible:
                self.exit(self.visible[self.selected])
        elif key == "down" or (key == "j" and not filtering):
            self.selected = max(0, min(self.selected + 1, len(self.visible) - 1))
        elif key == "up" or (key == "k" and not filtering):
            self.selected = max(0, self.selected - 1)
        elif key == "slash" and not filtering:
            self.selected, self.needle = 0, ""
        elif filtering and key == "escape":
            self.selected, self.needle = 0, None
        elif filtering and key == "backspace":
            self.selected, self.needle = 0, self.needle[:-1]
        elif filtering and event.is_printable:
            self.selected, self.needle = 0, self.needle + event.character
        self.draw()


def main():
    choice = FruitMenu().run()
    if choice is None:
        print("No choice")
        return NOTHING_CHOSEN
    print(f"You chose: {choice}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
