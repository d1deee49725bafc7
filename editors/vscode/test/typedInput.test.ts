import { expect, test } from 'vitest';
import { plainLabel, plainText } from '../src/plainText.js';
import { typedInput } from '../src/sessions/typedInput.js';

const watching = { isDriver: false };
const driving = { isDriver: true };

test.each([
  ['DA1', '\x1b[?1;2c'],
  ['DA2', '\x1b[>0;276;0c'],
  ['status', '\x1b[0n'],
  ['cursor position', '\x1b[12;40R'],
  ['cursor position, home', '\x1b[1;1R'],
  ['DECXCPR', '\x1b[?12;40R'],
  ['mode', '\x1b[?2026;2$y'],
  ['keyboard flags', '\x1b[?0u'],
  ['size', '\x1b[8;24;80t'],
  ['background', '\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\'],
  ['foreground', '\x1b]10;rgb:cccc/cccc/cccc\x07'],
  ['palette', '\x1b]4;1;rgb:cd/00/00\x1b\\'],
  ['clipboard', '\x1b]52;c;c2VjcmV0\x07'],
  ['clipboard, empty', '\x1b]52;;\x1b\\'],
  ['DECRQSS', '\x1bP1$r0m\x1b\\'],
  ['XTVERSION', '\x1bP>|xterm.js(5.6)\x1b\\'],
])('the view answering a query (%s) is not typing', (_name, reply) => {
  expect(typedInput(reply, watching)).toBe('');
  expect(typedInput(`a${reply}b`, driving)).toBe('ab');
});

test.each(['\x1b[I', '\x1b[O', '\x1b[<35;10;5M', '\x1b[<0;10;5m', '\x1b[M !!'])(
  '%j reaches the session only while the person drives',
  (report) => {
    expect(typedInput(report, watching)).toBe('');
    expect(typedInput(report, driving)).toBe(report);
  },
);

test.each(['a', 'ü', '\r', '\x03', '\x1b', '\x1b[A', '\x1bOP', '\x1b[15~', '\x1b[1;5C', '\x1b[1;2R', '\x1bb', '\x1b[200~x\x1b[201~', '\x1b[Z'])(
  'the key %j is typing',
  (key) => {
    expect(typedInput(key, watching)).toBe(key);
    expect(typedInput(key, driving)).toBe(key);
  },
);

test('names of programs are one visible line', () => {
  expect(plainText('a\x1b[31m\nb\u202ec\u200b  d')).toBe('a [31m b c d');
  expect(plainText('😀'.repeat(100), 5)).toBe('😀😀😀😀…');
  expect(plainText('x'.repeat(10_000_000), 3)).toBe('xx…');
  expect(plainLabel('run $(rm)')).toBe('run \\$(rm)');
});
