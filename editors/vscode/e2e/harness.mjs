// A real VS Code for scenarios: code-server with the packaged extension, and windows on it in headless Chromium.
//
// Everything of a run lives in a folder of its own in /tmp (a socket's path must be short), and ends with it.

import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const EXTENSION = fileURLToPath(new URL('..', import.meta.url));
/** How long anything that a scenario waits for may take. */
export const PATIENCE_MS = 60_000;
/** The start of a fresh code-server and its first page, on a busy machine. */
const FIRST_PAGE_MS = 180_000;

const SETTINGS = {
  // Otherwise the terminal is a canvas, whose text nobody can read.
  'terminal.integrated.gpuAcceleration': 'off',
  'terminal.integrated.defaultProfile.linux': 'bash',
  'terminal.integrated.tabs.hideCondition': 'never',
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'chat.commandCenter.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'update.mode': 'none',
};

const MACHINE_SETTINGS = ['termbridge.path', 'termbridge.serverUrl'];

/**
 * Starts code-server and a browser. `settings` are the user's; those that belong to a machine go to a file of their own, as in
 * every remote window. Where `isTrusted` is false, folders are opened in restricted mode, without a question.
 */
export async function startEditor(target, { settings = {}, name = 'editor', isTrusted = true } = {}) {
  const parts = path.join(target, 'parts');
  const folder = mkdtempSync(path.join(tmpdir(), 'tb-e2e-'));
  const [user, extensions, runtime, home] = ['user', 'extensions', 'run', 'home'].map((part) => path.join(folder, part));
  for (const place of [path.join(user, 'User'), path.join(user, 'Machine'), extensions, home]) {
    mkdirSync(place, { recursive: true });
  }
  mkdirSync(runtime, { mode: 0o700 });
  const machineFile = path.join(user, 'Machine', 'settings.json');
  const settingsFile = path.join(user, 'User', 'settings.json');
  const trust = { 'security.workspace.trust.startupPrompt': 'never', 'security.workspace.trust.emptyWindow': false };
  const configure = (more) => {
    const all = Object.entries({ ...SETTINGS, ...(isTrusted ? {} : trust), ...settings, ...more });
    const isMachine = ([setting]) => MACHINE_SETTINGS.includes(setting);
    writeFileSync(settingsFile, JSON.stringify(Object.fromEntries(all.filter((entry) => !isMachine(entry)))));
    writeFileSync(machineFile, JSON.stringify(Object.fromEntries(all.filter(isMachine))));
  };
  configure({});

  const node = path.join(parts, 'node', 'bin', 'node');
  const entry = path.join(parts, 'node_modules', 'code-server', 'out', 'node', 'entry.js');
  const env = { ...process.env, XDG_RUNTIME_DIR: runtime, HOME: home };
  const common = ['--user-data-dir', user, '--extensions-dir', extensions];
  const vsix = path.join(EXTENSION, 'termbridge.vsix');
  const installed = spawnSync(node, [entry, ...common, '--install-extension', vsix], { env, encoding: 'utf8' });
  if (installed.status !== 0) {
    throw new Error(`the extension could not be installed: ${installed.stdout}${installed.stderr}`);
  }
  const port = await freePort();
  const server = spawn(
    node,
    [
      ...[entry, ...common, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry'],
      ...['--disable-update-check', '--disable-getting-started-override'],
      ...(isTrusted ? ['--disable-workspace-trust'] : []),
    ],
    // In a group of its own, so that nothing of it goes on writing once it is ended.
    { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  const log = createWriteStream(path.join(target, 'logs', `${name}.log`));
  server.stdout.pipe(log);
  server.stderr.pipe(log);
  try {
    await listening(server.stdout);
  } catch (error) {
    process.kill(-server.pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }

  const { chromium } = createRequire(path.join(parts, 'package.json'))('playwright-core');
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync',
      '--disable-background-networking', '--disable-component-update'],
  });
  const found = path.join(runtime, 'termbridge');
  return new Editor({ target, folder, runtime: found, port, server, browser, name, configure });
}

class Editor {
  constructor(parts) {
    Object.assign(this, parts);
  }

  /** Makes a folder to work in; a whole path is taken as it is. */
  makeFolder(name) {
    const folder = path.resolve(this.folder, 'work', name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Opens a window on a folder, which is made, or on a `.code-workspace` file. */
  async openWindow(name, { width = 1400, height = 900, scale = 1, workspace } = {}) {
    const folder = this.makeFolder(name);
    const context = await this.browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const opened = workspace === undefined ? `folder=${encodeURIComponent(folder)}` : `workspace=${encodeURIComponent(workspace)}`;
    await page.goto(`http://127.0.0.1:${this.port}/?${opened}`);
    await page.waitForSelector('.monaco-workbench', { timeout: FIRST_PAGE_MS });
    const window = new EditorWindow(this, page, folder);
    await window.waitForExtension();
    return window;
  }

  /** All that the extension has logged, in every window. */
  extensionLog() {
    const logs = path.join(this.folder, 'user', 'logs');
    const files = readdirSync(logs, { recursive: true }).filter((file) => /termbridge[^/]*\.log$/.test(file));
    return files.map((file) => readFileSync(path.join(logs, file), 'utf8')).join('');
  }

  /** The processes that run extensions, one for each window. */
  extensionHosts() {
    const all = spawnSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).stdout.split('\n');
    const processes = all.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line)).filter((match) => match !== null);
    const descendants = new Set([String(this.server.pid)]);
    // Numbers begin again at the lowest: a child may come before its parent.
    for (let size = 0; size < descendants.size; ) {
      size = descendants.size;
      processes.filter(([, , parent]) => descendants.has(parent)).forEach(([, pid]) => descendants.add(pid));
    }
    return processes
      .filter(([, pid, , command]) => descendants.has(pid) && command.includes('--type=extensionHost'))
      .map(([, pid]) => Number(pid));
  }

  async close() {
    await this.browser.close();
    this.server.kill('SIGTERM');
    await new Promise((resolve) => this.server.once('exit', resolve));
    try {
      process.kill(-this.server.pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

class EditorWindow {
  constructor(editor, page, folder) {
    this.editor = editor;
    this.page = page;
    this.folder = folder;
  }

  /** The extension is active when its status bar item is there. */
  async waitForExtension() {
    await this.page.waitForSelector('.statusbar-item[id*="termbridge"]', { timeout: FIRST_PAGE_MS });
  }

  /** Loads the window anew, with another extension host. */
  async reload() {
    await this.page.reload();
    await this.waitForExtension();
  }

  statusBar() {
    return this.page.locator('.statusbar-item[id*="termbridge"]').first().innerText();
  }

  /** Resolves when the status bar reads so. */
  async waitForStatus(pattern) {
    await until(async () => pattern.test(await this.statusBar()), `the status bar reads ${pattern}`, () => this.statusBar());
  }

  /** What the terminal in front shows. Its spaces are the browser's own kind. */
  async terminalText() {
    const rows = this.page.locator('.terminal-wrapper.active .xterm-rows');
    if ((await rows.count()) === 0) {
      return '';
    }
    const lines = await rows.first().evaluate((element) => [...element.children].map((row) => row.textContent));
    return lines.map((line) => line.replaceAll('\u00a0', ' ').trimEnd()).join('\n').trimEnd();
  }

  async waitForTerminalText(wanted) {
    const isThere = (text) => (wanted instanceof RegExp ? wanted.test(text) : text.includes(wanted));
    await until(async () => isThere(await this.terminalText()), `the terminal shows ${wanted}`, () => this.terminalText());
  }

  /** The names of the terminals, as the tabs say. The list keeps rows without a name for later use. */
  async terminalNames() {
    const names = await this.page
      .locator('.terminal-tabs-entry')
      .evaluateAll((tabs) => tabs.map((tab) => tab.textContent.trim()));
    return names.filter((name) => name !== '');
  }

  async waitForTerminalName(pattern) {
    const isThere = async () => (await this.terminalNames()).some((name) => pattern.test(name));
    await until(isThere, `a terminal is named ${pattern}`, () => this.terminalNames().then(String));
  }

  async selectTerminal(pattern) {
    await this.page.locator('.terminal-tabs-entry').filter({ hasText: pattern }).first().click();
  }

  async focusTerminal() {
    await this.page.locator('.terminal-wrapper.active .xterm-helper-textarea').first().focus();
  }

  async typeInTerminal(text) {
    await this.focusTerminal();
    await this.page.keyboard.type(text);
  }

  /** Runs a command by its title, from the palette. */
  async run(title) {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget:visible input').first();
    await input.waitFor();
    await input.fill(`>${title}`);
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    await row.waitFor();
    await row.click();
  }

  /** Shows a session, from the list that the command offers. */
  async showSession(title) {
    await this.run('termbridge: Show Session');
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first().click();
  }

  /** Presses a button above the terminal. */
  async pressAboveTerminal(title) {
    await this.page.locator(`.part.panel .action-label[aria-label^="${title}"]`).first().click();
  }

  /** Presses a button of a message. */
  async pressInMessage(text, button) {
    const message = this.page.locator('.notification-toast').filter({ hasText: text }).first();
    await message.locator('.monaco-button').filter({ hasText: new RegExp(`^${button}$`) }).click();
    await message.waitFor({ state: 'hidden' });
  }

  /** Opens a file of the folder by its name. */
  async openFile(name) {
    await this.page.keyboard.press('Control+P');
    const input = this.page.locator('.quick-input-widget:visible input').first();
    await input.waitFor();
    await input.fill(name);
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first().click();
    await this.page.locator('.tab.active').filter({ hasText: name }).waitFor();
  }

  /** Moves the upper edge of the panel down by so many pixels. */
  async dragPanelEdge(down) {
    const { x, y, width } = await this.page.locator('.part.panel').boundingBox();
    // The edge is in the gap above it.
    await this.page.mouse.move(x + width / 3, y - 2);
    await this.page.mouse.down();
    await this.page.mouse.move(x + width / 3, y - 2 + down, { steps: 5 });
    await this.page.mouse.up();
  }

  /** Opens the view of sessions. */
  async openSessions() {
    await this.page.locator('.activitybar .action-label[aria-label^="termbridge"]').first().click();
  }

  sessionTree() {
    return this.page
      .locator('.pane-body .monaco-list-row')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('aria-label') ?? row.textContent));
  }

  async screenshot(name) {
    await this.page.screenshot({ path: path.join(this.editor.target, 'shots', `${this.editor.name}-${name}.png`) });
  }

  async close() {
    await this.page.context().close();
  }
}

/** A step that cannot be done on this machine: it is named, and the scenario goes on. */
export class SkippedStep extends Error {}

/** What a process holds: kilobytes in memory, open descriptors, threads. */
export function holdingsOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)[1]);
  return { memory: field('VmRSS'), descriptors: readdirSync(`/proc/${pid}/fd`).length, threads: field('Threads') };
}

/** The processor time that a process has used, in milliseconds. */
export function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  // In ticks, of which Linux reports a hundred in a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Waits until a condition holds; says what it waited for, and what was there instead. */
export async function until(condition, what, instead = () => undefined) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) {
      throw new Error(`waited in vain until ${what}; instead: ${await instead()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listening(stdout) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('code-server does not listen')), FIRST_PAGE_MS);
    let text = '';
    stdout.on('data', (bytes) => {
      text += bytes;
      if (text.includes('listening on')) {
        clearTimeout(timer);
        resolve();
      }
    });
  });
}
