// Debugged by the tests. The comments `mark: NAME` are how they find lines.
const { Worker, isMainThread, workerData } = require('node:worker_threads');

function add(a, b) {
  const total = a + b; // mark: add
  return total; // mark: return
}

function addAll() {
  let total = 0; // mark: start
  const values = [10, 20, 30];
  for (let i = 0; i < 5; i++) {
    total = add(total, i); // mark: call
  }
  console.log('total', total, values.length); // mark: print
  return total;
}

function crash() {
  throw new TypeError('planted'); // mark: crash
}

function work(number) {
  const answer = number * 2;
  return answer; // mark: work
}

function threads() {
  new Worker(__filename, { workerData: 21, name: 'worker' });
}

function loop() {
  let turns = 0;
  console.log('looping', process.pid);
  for (;;) {
    turns += 1; // mark: loop
  }
}

if (!isMainThread) {
  work(workerData);
} else {
  const modes = { sum: addAll, crash, threads, loop };
  process.exitCode = process.argv[2] === 'sum' ? 3 : 0;
  modes[process.argv[2]]();
}
