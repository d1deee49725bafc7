import { expect, test } from 'vitest';
import { LineDecoder } from '../src/connection/lineDecoder.js';

const decode = (decoder: LineDecoder, ...chunks: Buffer[]) => chunks.flatMap((chunk) => [...decoder.decode(chunk)]);

test('lines are the same wherever the bytes are cut', () => {
  const stream = Buffer.from('{"a":"ä€😀"}\n\r\n\n{"b":1}\r\nrest');
  for (let first = 0; first <= stream.length; first += 1) {
    for (let second = first; second <= stream.length; second += 1) {
      const chunks = [stream.subarray(0, first), stream.subarray(first, second), stream.subarray(second)];
      expect(decode(new LineDecoder(), ...chunks)).toEqual([{ text: '{"a":"ä€😀"}' }, { text: '{"b":1}' }]);
    }
  }
});

test('a line that is too long is dropped and the next one is read', () => {
  const decoder = new LineDecoder(10);
  const chunks = ['x'.repeat(8), 'x'.repeat(8), 'x\nshort\n', '0123456789\n'].map((text) => Buffer.from(text));
  expect(decode(decoder, ...chunks)).toEqual([{ tooLong: 17 }, { text: 'short' }, { text: '0123456789' }]);
});

test('a line without an end keeps no more than the bound', () => {
  const decoder = new LineDecoder(1_000);
  for (let count = 0; count < 100; count += 1) {
    decode(decoder, Buffer.alloc(1_000, 'x'));
  }
  const { chunks } = decoder as unknown as { chunks: Buffer[] };
  expect(chunks).toHaveLength(0);
});
