// Bundles the extension into one CommonJS file, the form in which VS Code loads extensions.
import { build, context } from 'esbuild';

const options = {
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  bundle: true,
  platform: 'node',
  format: 'cjs',
  // The oldest Node of an editor that the manifest admits (VS Code 1.101 has 22).
  target: 'node20',
  external: ['vscode'],
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
};

if (process.argv.includes('--watch')) {
  await (await context({ ...options, minify: false, sourcemap: true, logLevel: 'info' })).watch();
} else {
  await build(options);
}
