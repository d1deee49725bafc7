import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WindowPresence } from '../src/windowPresence.js';
import { commands } from './vscode.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a window that does not answer is away until it does', async () => {
  const answers: (() => void)[] = [];
  const asked = vi.spyOn(commands, 'executeCommand').mockImplementation(() => new Promise((resolve) => answers.push(() => resolve(undefined))));
  const presence = new WindowPresence();
  const changed = vi.fn();
  presence.onDidChange(changed);
  await vi.advanceTimersByTimeAsync(15_000);
  answers.shift()?.();
  await vi.advanceTimersByTimeAsync(15_000);
  expect(asked).toHaveBeenCalledTimes(2);
  expect([presence.isAway, changed.mock.calls.length]).toEqual([false, 0]);

  // It is asked once, however long it takes.
  await vi.advanceTimersByTimeAsync(10_000);
  expect([presence.isAway, changed.mock.calls.length]).toEqual([true, 1]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(asked).toHaveBeenCalledTimes(2);
  answers.shift()?.();
  await vi.advanceTimersByTimeAsync(0);
  expect([presence.isAway, changed.mock.calls.length]).toEqual([false, 2]);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(asked).toHaveBeenCalledTimes(3);

  presence.dispose();
  answers.shift()?.();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('what is asked now is answered now, or it is away at once', async () => {
  const answers: (() => void)[] = [];
  vi.spyOn(commands, 'executeCommand').mockImplementation(() => new Promise((resolve) => answers.push(() => resolve(undefined))));
  const presence = new WindowPresence();
  const first = presence.answers();
  answers.shift()?.();
  expect(await first).toBe(true);
  const second = presence.answers();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([await second, presence.isAway, await presence.answers()]).toEqual([false, true, false]);
  answers.forEach((answer) => answer());
  await vi.advanceTimersByTimeAsync(0);
  expect(presence.isAway).toBe(false);
  presence.dispose();
  expect(vi.getTimerCount()).toBe(0);
});
