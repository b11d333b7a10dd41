"""Which browsers the tests drive: a Chromium that is there, else Debian's, else Playwright's own.

    python tests/browser/chromium.py        finds one, installs one if there is none, says which

`make test` runs this first. The tests themselves install nothing; without a Chromium they fail.
Debian's Firefox and WebKit come along where they can be had; without one, its tests are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

# The same engine without a browser's own windows comes first: tests take half the processor time.
NAMES = (
    "chromium-headless-shell",
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)


def found() -> str | None:
    """Return where a Chromium is, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    downloaded = _downloaded()
    return str(downloaded) if downloaded.exists() else None


def flags() -> list[str]:
    """Return what Chromium must be told: its sandbox does not run as root, and only then is off."""
    return ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []


def installed() -> str | None:
    """Return where a Chromium is, after installing one if need be; None if nothing helps."""
    path = found()
    if path is None and os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        _try(["apt-get", "update", "--quiet"])
        for package in ("chromium-headless-shell", "chromium"):
            if path is None:
                _try(["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", package])
                path = found()
    if path is None:
        _try([sys.executable, "-m", "playwright", "install", "chromium"])
        path = found()
    return path


def firefox() -> str | None:
    """Return where a Firefox is, or None."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


def webkit() -> str | None:
    """Return where WebKit's small browser is, or None; it needs a driver, and a screen."""
    found = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
    driven = shutil.which("WebKitWebDriver") and shutil.which("Xvfb")
    return str(found[-1]) if found and driven else None


def _try(command: list[str]) -> None:
    """Run a command; whether it has helped is seen by looking for the browser again."""
    print(f"No such browser yet; running: {' '.join(command)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, check=False, env=environment)


def _downloaded() -> Path:
    """Return where Playwright's own Chromium would be."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def main() -> int:
    """Say which browser the tests use."""
    path = installed()
    if path is None:
        print(
            "There is no Chromium, and none could be installed. Install the package chromium, "
            "or run: python -m playwright install chromium",
            file=sys.stderr,
        )
        return 1
    wanted = [] if firefox() else ["firefox-esr"]
    wanted += [] if webkit() else ["webkit2gtk-driver", "xvfb"]
    if wanted and os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        _try(["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *wanted])
    others = f"{firefox() or 'no Firefox'} and {webkit() or 'no WebKit'}"
    print(f"The tests of the page use {path}, and some of them {others}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
