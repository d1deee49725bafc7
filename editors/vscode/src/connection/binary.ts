// Finds the `termbridge` program: the one that came with the extension, the one of the setting, the one on PATH, and the one where
// installers put it: an editor that was not started from a shell often has a short PATH.
//
// A setting that is set wins over everything, so that a person can replace the bundled program; a wrong one is an
// error, never a reason to run another program.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { ServerProblem } from './problem.js';

const NAME = process.platform === 'win32' ? 'termbridge.exe' : 'termbridge';

export interface BinaryPlaces {
  /** The setting `termbridge.path`; empty when it is not set. */
  readonly setting: string;
  /** The folder of the extension. */
  readonly extension: string;
  readonly searchPath: string;
  /** Folders beside those of the search path. */
  readonly usual: readonly string[];
}

/** Where cargo, installers and Homebrew put programs. */
export function usualFolders(home = homedir()): string[] {
  return [path.join(home, '.cargo', 'bin'), path.join(home, '.local', 'bin'), '/usr/local/bin', '/opt/homebrew/bin'];
}

/** The program's absolute path; rejects with what to do when there is none. */
export async function findBinary(places: BinaryPlaces): Promise<string> {
  if (places.setting !== '') {
    const chosen = places.setting.replace(/^~(?=\/)/, homedir());
    if (path.isAbsolute(chosen) && (await isProgram(chosen))) {
      return chosen;
    }
    throw new ServerProblem('the setting termbridge.path does not name a program by its absolute path', 'wrongPath');
  }
  // A relative entry of PATH would be looked up in whatever folder is open.
  const folders = places.searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const searched = [...new Set([path.join(places.extension, 'bin'), ...folders, ...places.usual])];
  for (const folder of searched) {
    const candidate = path.join(folder, NAME);
    if (await isProgram(candidate)) {
      return candidate;
    }
  }
  throw new ServerProblem('termbridge is not installed', 'missing', `searched for ${NAME} in: ${searched.join(', ')}`);
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
