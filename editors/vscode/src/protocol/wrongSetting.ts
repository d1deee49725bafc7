// Settings that the server cannot use, as `welcome` and the reply to `update` name them.

import { type Fields, isFields, textOf } from './message.js';

export interface WrongSetting {
  /** Without the name of the extension. */
  readonly name: string;
  /** For people. */
  readonly reason: string;
}

export function readWrongSettings(data: Fields): WrongSetting[] {
  const found = data['wrongSettings'];
  const entries = Array.isArray(found) ? found.filter(isFields) : [];
  return entries.map((entry) => ({ name: textOf(entry, 'name') ?? '', reason: textOf(entry, 'reason') ?? '' }));
}
