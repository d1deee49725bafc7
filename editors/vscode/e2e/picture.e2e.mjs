// The picture of the book's page about VS Code: an agent's tests fail beside the code that it works on.
//
//     scripts/e2e-vscode picture && cp target/e2e/shots/picture-vscode.png docs/vscode.png
//
// It needs pytest in target/test-venv, which scripts/setup-tests makes.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { until } from './harness.mjs';
import { skip as skipReal, startAgent, startRealEditor } from './realServer.mjs';

export { tearDown } from './realServer.mjs';

/** The project, which has the fault that its test finds. */
const FILES = {
  'README.md': '# shop\n\nCarts and prices of a small shop.\n',
  'pyproject.toml': '[project]\nname = "shop"\nversion = "1.4.0"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
  'shop/__init__.py': '',
  'shop/cart.py': `from decimal import Decimal

CENT = Decimal("0.01")


class Cart:
    """What a customer is about to buy."""

    def __init__(self, discount: int = 0) -> None:
        self.discount = discount  # per cent
        self.items: list[tuple[str, Decimal, int]] = []

    def add(self, name: str, price: str, quantity: int = 1) -> None:
        self.items.append((name, Decimal(price), quantity))

    def total(self) -> Decimal:
        """The sum of all items, less the discount."""
        full = sum(price * quantity for _, price, quantity in self.items)
        return (full - self.discount).quantize(CENT)
`,
  'tests/test_cart.py': `from decimal import Decimal

from shop.cart import Cart


def test_adds_up_items():
    cart = Cart()
    cart.add("tea", "3.20", quantity=2)
    assert cart.total() == Decimal("6.40")


def test_discount():
    cart = Cart(discount=15)
    cart.add("kettle", "40.00")
    total = cart.total()
    assert str(total) == "34.00"


def test_rounds_to_cents():
    cart = Cart()
    cart.add("sugar", "0.333", quantity=3)
    assert cart.total() == Decimal("1.00")
`,
  'web/index.html': '<h1>shop</h1>\n',
};

const SIZE = { cols: 96, rows: 20 };

const SETTINGS = {
  'workbench.colorTheme': 'Default Dark Modern',
  'window.commandCenter': false,
  'workbench.layoutControl.enabled': false,
  'workbench.navigationControl.enabled': false,
  'editor.minimap.enabled': false,
  'editor.fontSize': 13,
  'editor.lineHeight': 18,
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
    const window = await world.editor.openWindow(world.project, { width: 1280, height: 820, scale: 1.25 });
    world.windows.push(window);
    await window.waitForStatus(/0 sessions/);
    await window.openFile('cart.py');
    await window.openSessions();
    const env = { HOME: world.home, PATH: `${pytestFolder()}:${process.env.PATH}`, PYTHONDONTWRITEBYTECODE: '1' };
    const agent = await startAgent(world, world.project, { name: 'coding-agent', env });
    const build = await agent.call('create_session', { name: 'build', ...SIZE });
    await agent.call('execute_command', { session_id: build.session_id, command: 'python3 -m compileall -q shop && exit' });
    await window.waitForTerminalName(/✓ build/);
    await window.dragPanelEdge(-112);
    const server = await agent.call('create_session', { name: 'web server', ...SIZE });
    const serve = 'python3 -m http.server --bind 127.0.0.1 --directory web 0';
    await agent.call('execute_command', { session_id: server.session_id, command: serve, timeout_ms: 300 });
    const { session_id } = await agent.call('create_session', { name: 'tests', ...SIZE });
    await window.waitForTerminalName(/tests/);
    await window.selectTerminal('tests');
    await agent.call('execute_command', { session_id, command: 'pytest -q' });
    // With the prompt after it.
    await window.waitForTerminalText(/1 failed, 2 passed.*\n~\/shop \$$/);
    await window.waitForStatus(/2 sessions$/);
    await until(async () => (await window.sessionTree()).some((row) => /^tests, just now/.test(row)), 'the view says so', () => window.sessionTree());
    await window.page.mouse.move(640, 300);
    await window.screenshot('vscode');
  },
};
