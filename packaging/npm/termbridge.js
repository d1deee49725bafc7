#!/usr/bin/env node
// Runs the program of this platform, which is a package of its own among the optional dependencies.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const platform = `${process.platform}-${process.arch}`;

function program() {
  try {
    return require.resolve(`@termbridge/${platform}/bin/termbridge`);
  } catch {
    console.error(
      `termbridge: there is no program for ${platform} here. Either the platform is not supported (linux-x64, linux-arm64, ` +
        'darwin-x64 and darwin-arm64 are), or the packages were installed without optional dependencies: ' +
        'install again without --omit=optional. From files, name both: termbridge-VERSION.tgz and ' +
        `termbridge-${platform}-VERSION.tgz.`,
    );
    process.exit(1);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) {
  // A terminal sends the first to both; whoever sends the others means the program.
  process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
}
child.on('error', (error) => {
  console.error(`termbridge: the program cannot be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
