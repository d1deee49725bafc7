// Names that agents and programs chose, made safe to show in the editor's own interface.

/** Control characters, and those that reorder or hide text. */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/gu;
const ELLIPSIS = '…';

/** One line without control characters, at most `longest` characters. */
export function plainText(text: string, longest = 60): string {
  // Cut before it is searched: a program can put a megabyte into its title.
  const line = text.slice(0, longest * 8).replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= longest ? line : characters.slice(0, longest - 1).join('') + ELLIPSIS;
}

/** The same for places where VS Code replaces `$(name)` by an icon. */
export function plainLabel(text: string, longest?: number): string {
  return plainText(text, longest).replaceAll('$(', '\\$(');
}
