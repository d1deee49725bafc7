// Runs scenarios one after the other; see scripts/e2e-vscode.
//
// A scenario is a module `NAME.e2e.mjs` that exports `steps`: names with functions that get what `setUp` returned. A step
// that fails ends its scenario, with a screenshot of every window; one that throws `SkippedStep` is named.

import { readdirSync } from 'node:fs';
import { SkippedStep } from './harness.mjs';

const [target, ...wanted] = process.argv.slice(2);
const all = readdirSync(new URL('.', import.meta.url))
  .filter((file) => file.endsWith('.e2e.mjs'))
  .map((file) => file.replace('.e2e.mjs', ''));
let failed = 0;

for (const name of wanted.length === 0 ? all : wanted) {
  const scenario = await import(new URL(`${name}.e2e.mjs`, import.meta.url));
  const reason = await scenario.skip?.();
  if (reason) {
    console.log(`- ${name}: skipped, ${reason}`);
    continue;
  }
  console.log(`- ${name}`);
  const world = await scenario.setUp(target);
  try {
    for (const [step, run] of Object.entries(scenario.steps)) {
      const began = Date.now();
      try {
        const note = await run(world);
        console.log(`  ok    ${step} (${Date.now() - began} ms)${note === undefined ? '' : `: ${note}`}`);
      } catch (error) {
        if (!(error instanceof SkippedStep)) {
          throw error;
        }
        console.log(`  skipped ${step}: ${error.message}`);
      }
    }
  } catch (error) {
    failed += 1;
    console.log(`  FAILED ${error.stack}`);
    for (const [index, window] of (world.windows ?? []).entries()) {
      await window.screenshot(`failed-${index}`).catch(() => undefined);
    }
  } finally {
    await scenario.tearDown(world);
  }
}
process.exit(failed === 0 ? 0 : 1);
