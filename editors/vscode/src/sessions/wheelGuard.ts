// Keeps the mouse wheel from being typed while somebody else drives.
//
// On the alternate screen the editor's terminal turns the wheel into arrow keys, which nothing tells from those of the
// keyboard: scrolling to look would take a session over. A terminal that reports the mouse does not do that, so the view is
// made to report it for as long as it shows the alternate screen of a program that does not ask for the mouse itself; the
// reports are dropped (typedInput.ts). Text is then selected with Shift, as in every program that uses the mouse.

/** Modes of the program that matter here, and the reset of all (RIS). */
const MODES = /\x1b\[\?([\d;]*)([hl])|\x1bc/g;
/** The beginning of one, at the end of a part of the output; the bound is far beyond what programs set at once. */
const BEGINNING = /\x1b(?:\[(?:\?[\d;]{0,64})?)?$/;
const ALTERNATE_SCREEN = new Set(['47', '1047', '1049']);
const MOUSE = new Set(['9', '1000', '1002', '1003']);
const REPORT_MOUSE = '\x1b[?1000h';
const NO_MOUSE = '\x1b[?1000l';

export class WheelGuard {
  private isAlternate = false;
  /** The program asks for the mouse itself. */
  private hasMouse = false;
  private isOn = false;
  private isDriver = false;
  private held = '';

  /** What is written to the view for what the program printed. The beginning of a sequence is kept until the rest comes. */
  filter(printed: string): string {
    const text = this.held + printed;
    this.held = BEGINNING.exec(text)?.[0] ?? '';
    const whole = text.slice(0, text.length - this.held.length);
    return whole.replace(MODES, (sequence, modes: string | undefined, end: string) => {
      this.note(modes, end === 'h');
      return sequence + this.follow();
    });
  }

  /** Whether the program shows its alternate screen. */
  get showsAlternate(): boolean {
    return this.isAlternate;
  }

  /** Starts with a blank terminal: what is held belongs to what was shown before. */
  reset(): void {
    this.held = '';
    this.note(undefined, false);
  }

  /** What is written when the driver may be another. */
  setDriver(isDriver: boolean): string {
    this.isDriver = isDriver;
    return this.follow();
  }

  private note(modes: string | undefined, isSet: boolean): void {
    if (modes === undefined) {
      this.isAlternate = false;
      this.hasMouse = false;
      this.isOn = false;
      return;
    }
    for (const mode of modes.split(';')) {
      if (ALTERNATE_SCREEN.has(mode)) {
        this.isAlternate = isSet;
      } else if (MOUSE.has(mode)) {
        this.hasMouse = isSet;
        // Whichever it was, the program's own word has replaced it.
        this.isOn = false;
      }
    }
  }

  private follow(): string {
    const wanted = this.isAlternate && !this.hasMouse && !this.isDriver;
    if (wanted === this.isOn) {
      return '';
    }
    this.isOn = wanted;
    return wanted ? REPORT_MOUSE : this.hasMouse ? '' : NO_MOUSE;
  }
}
