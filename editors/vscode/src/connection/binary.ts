// Finds the `termbridge` program: the one that came with the extension, the one of the setting, the one on PATH.
//
// A setting that is set wins over everything, so that a person can replace the bundled program; a wrong one is an
// error, never a reason to run another program.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';

const NAME = process.platform === 'win32' ? 'termbridge.exe' : 'termbridge';

export interface BinaryPlaces {
  /** The setting `termbridge.path`; empty when it is not set. */
  readonly setting: string;
  /** The folder of the extension. */
  readonly extension: string;
  readonly searchPath: string;
}

/** The program's absolute path; rejects with what to do when there is none. */
export async function findBinary(places: BinaryPlaces): Promise<string> {
  if (places.setting !== '') {
    const chosen = places.setting.replace(/^~(?=\/)/, homedir());
    if (path.isAbsolute(chosen) && (await isProgram(chosen))) {
      return chosen;
    }
    throw new Error('the setting termbridge.path does not name a program by its absolute path');
  }
  // A relative entry of PATH would be looked up in whatever folder is open.
  const folders = places.searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  for (const folder of [path.join(places.extension, 'bin'), ...folders]) {
    const candidate = path.join(folder, NAME);
    if (await isProgram(candidate)) {
      return candidate;
    }
  }
  throw new Error('the program termbridge is not installed: put it on PATH, or set termbridge.path');
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
