import { expect, test } from 'vitest';
import { WheelGuard } from '../src/sessions/wheelGuard.js';

const ALTERNATE = '\x1b[?1049h';
const MAIN = '\x1b[?1049l';
const ON = '\x1b[?1000h';
const OFF = '\x1b[?1000l';

test('the mouse is reported on the alternate screen only', () => {
  const guard = new WheelGuard();
  expect(guard.filter(`a${ALTERNATE}b`)).toBe(`a${ALTERNATE}${ON}b`);
  expect(guard.filter('more')).toBe('more');
  expect(guard.filter(`c${MAIN}d`)).toBe(`c${MAIN}${OFF}d`);
});

test('the program’s own wish is left as it is', () => {
  const guard = new WheelGuard();
  expect(guard.filter(`\x1b[?1002h${ALTERNATE}`)).toBe(`\x1b[?1002h${ALTERNATE}`);
  expect(guard.filter('\x1b[?1002l')).toBe(`\x1b[?1002l${ON}`);
  expect(guard.filter('\x1b[?1000;1006h')).toBe('\x1b[?1000;1006h');
  expect(guard.filter(MAIN)).toBe(MAIN);
});

test('a person who drives has the wheel', () => {
  const guard = new WheelGuard();
  guard.filter(ALTERNATE);
  expect(guard.setDriver(true)).toBe(OFF);
  expect(guard.setDriver(true)).toBe('');
  expect(guard.setDriver(false)).toBe(ON);
  guard.filter('\x1b[?1003h');
  expect(guard.setDriver(true)).toBe('');
});

test('a sequence in parts is one', () => {
  const whole = `text ${ALTERNATE} and \x1b[31mred\x1b]0;title\x07 ${MAIN} end`;
  const expected = new WheelGuard().filter(whole);
  for (let cut = 0; cut <= whole.length; cut += 1) {
    const guard = new WheelGuard();
    expect(guard.filter(whole.slice(0, cut)) + guard.filter(whole.slice(cut))).toBe(expected);
  }
});

test('a reset ends it', () => {
  const guard = new WheelGuard();
  guard.filter(ALTERNATE);
  expect(guard.filter(`\x1bc${ALTERNATE}`)).toBe(`\x1bc${ALTERNATE}${ON}`);
  expect(guard.filter('\x1bc$ ')).toBe('\x1bc$ ');
  expect(guard.setDriver(true)).toBe('');
  guard.filter('\x1b[');
  guard.reset();
  expect(guard.filter('?1049h')).toBe('?1049h');
});
