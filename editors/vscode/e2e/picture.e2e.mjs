// The picture of the book's page about VS Code: an agent's tests fail beside the code that it works on.
//
//     scripts/e2e-vscode picture && cp target/e2e/shots/picture-vscode.png docs/vscode.png
//
// It needs pytest in target/test-venv, which scripts/setup-tests makes.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { skip as skipReal, startAgent, startRealEditor } from './realServer.mjs';

export { tearDown } from './realServer.mjs';

/** The project, which has the fault that its test finds. */
const FILES = {
  'README.md': '# shop\n\nCarts and prices of a small shop.\n',
  'pyproject.toml': '[project]\nname = "shop"\nversion = "1.4.0"\n',
  'shop/__init__.py': '',
  'shop/cart.py': `from dataclasses import dataclass, field
from decimal import Decimal

CENT = Decimal("0.01")


@dataclass(frozen=True)
class Item:
    name: str
    price: Decimal
    quantity: int = 1


@dataclass
class Cart:
    """What a customer is about to buy."""

    items: list[Item] = field(default_factory=list)
    discount: int = 0  # per cent

    def add(self, name: str, price: str, quantity: int = 1) -> None:
        self.items.append(Item(name, Decimal(price), quantity))

    def total(self) -> Decimal:
        full = sum(item.price * item.quantity for item in self.items)
        return (full - self.discount).quantize(CENT)
`,
  'tests/test_cart.py': `from decimal import Decimal

from shop.cart import Cart


def test_adds_up_items():
    cart = Cart()
    cart.add("tea", "3.20", quantity=2)
    assert cart.total() == Decimal("6.40")


def test_discount_is_per_cent():
    cart = Cart(discount=15)
    cart.add("kettle", "40.00")
    assert cart.total() == Decimal("34.00")


def test_rounds_to_cents():
    cart = Cart()
    cart.add("sugar", "0.333", quantity=3)
    assert cart.total() == Decimal("1.00")
`,
  'web/index.html': '<h1>shop</h1>\n',
};

const SETTINGS = {
  'workbench.colorTheme': 'Default Dark Modern',
  'window.commandCenter': false,
  'workbench.layoutControl.enabled': false,
  'workbench.navigationControl.enabled': false,
  'editor.minimap.enabled': false,
  'editor.fontSize': 13,
  'terminal.integrated.fontSize': 13,
  'terminal.integrated.shellIntegration.decorationsEnabled': 'never',
};

export async function skip() {
  return (await skipReal()) ?? (existsSync(pytestFolder()) ? undefined : 'no pytest in target/test-venv');
}

function pytestFolder() {
  return path.resolve(new URL('../../../target/test-venv/bin', import.meta.url).pathname);
}

export async function setUp(target) {
  const world = await startRealEditor(target, 'picture', SETTINGS);
  world.home = path.join(world.editor.folder, 'home');
  world.project = path.join(world.home, 'shop');
  for (const [name, text] of Object.entries(FILES)) {
    const file = path.join(world.project, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  writeFileSync(path.join(world.home, '.bashrc'), "PS1='\\[\\e[34m\\]\\w\\[\\e[0m\\] $ '\n");
  return world;
}

export const steps = {
  'docs/vscode.png': async (world) => {
    const window = await world.editor.openWindow(world.project, { width: 1280, height: 800, scale: 1.25 });
    world.windows.push(window);
    await window.waitForStatus(/0 sessions/);
    await window.openFile('cart.py');
    await window.openSessions();
    const env = { HOME: world.home, PATH: `${pytestFolder()}:${process.env.PATH}`, PYTHONDONTWRITEBYTECODE: '1' };
    const agent = await startAgent(world, world.project, { name: 'coding-agent', env });
    const build = await agent.call('create_session', { name: 'build', cols: 84, rows: 18 });
    await agent.call('execute_command', { session_id: build.session_id, command: 'python3 -m compileall -q shop && exit' });
    await window.waitForTerminalName(/✓ build/);
    const server = await agent.call('create_session', { name: 'web server', cols: 84, rows: 18 });
    const serve = 'python3 -m http.server --bind 127.0.0.1 --directory web 0';
    await agent.call('execute_command', { session_id: server.session_id, command: serve, timeout_ms: 300 });
    const { session_id } = await agent.call('create_session', { name: 'tests', cols: 84, rows: 18 });
    await window.waitForTerminalName(/tests/);
    await window.selectTerminal('tests');
    await agent.call('execute_command', { session_id, command: 'pytest -q' });
    await window.waitForTerminalText(/1 failed, 2 passed/);
    await window.page.mouse.move(640, 300);
    await window.screenshot('vscode');
  },
};
