"""What searches show on other processors, as digests: run with kernels compiled for one of them.

    python tests/support/processors.py                  # compares all that run here
    python tests/support/processors.py haswell generic  # compares these

Each is a process of its own with a cache of its own, for numba compiles for one processor only.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seeker import Catalog, Session, display, models

ASKED = "SEEKER_TEST_DIGESTS"


@dataclass(frozen=True)
class Processor:
    """A processor by LLVM's name; needs: what the host must be able to do to stand in for it."""

    name: str
    needs: frozenset[str] = frozenset()

    def lacking(self) -> list[str]:
        """Return what the host lacks."""
        from llvmlite import binding

        if self.needs and platform.machine().lower() not in ("x86_64", "amd64"):
            return ["an x86 processor"]
        able = binding.get_host_cpu_features()
        return sorted(one for one in self.needs if not able.get(one, False))

    def environment(self, cache: Path) -> dict[str, str]:
        """Return the environment in which numba compiles for it; cache: where it keeps that."""
        return {
            **os.environ,
            "NUMBA_CPU_NAME": self.name,
            "NUMBA_CPU_FEATURES": "",  # what the name implies, and nothing that the host adds
            "NUMBA_CACHE_DIR": str(cache / self.name),
            ASKED: "1",
        }


_SSE4 = frozenset({"sse4.2", "popcnt"})
_AVX2 = _SSE4 | {"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"}
_AVX512 = _AVX2 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "adx", "clflushopt"}

GENERIC = Processor("generic")
HASWELL = Processor("haswell", _AVX2)
PROCESSORS = (
    GENERIC,
    Processor("nehalem", _SSE4),
    HASWELL,
    Processor("skylake-avx512", _AVX512 | {"clwb"}),
    Processor("icelake-client", _AVX512 | {"avx512vbmi", "avx512vnni", "gfni", "vaes"}),
)

MODELS = (
    models.Choice(),
    models.Relative(),
    models.Pairwise(),
    models.Bipartite(),
    models.Choice(slip=0.0, sigmas=(0.02, 0.3)),
    models.Pairwise(alpha=1e12),
)
STRATEGIES = (
    display.Boltzmann(),
    display.Boltzmann(score="probability"),
    display.Greedy(),
    display.EpsilonGreedy(0.4),
    display.Random(),
    display.Diverse(),
    display.Informative(),
    display.CorrelatedBoltzmann(),
)


def digests(thorough: bool = False) -> dict[str, str]:
    """Return what searches show, one digest each; thorough: with int8, too."""
    catalog = _catalog(5000)
    kinds: list[tuple[models.Model, display.Strategy]]
    kinds = [(model, STRATEGIES[0]) for model in MODELS]
    kinds += [(MODELS[0], strategy) for strategy in STRATEGIES[1:]]
    found = {
        f"{model}, {strategy}": _searched(catalog, model, strategy) for model, strategy in kinds
    }
    for dtype in ("float16", "int8") if thorough else ("float16",):
        found[dtype] = _searched(_catalog(200, dtype), MODELS[0], STRATEGIES[0])
    return found


def _catalog(items: int, dtype: str = "float32") -> Catalog:
    rng = np.random.default_rng(4)
    centres = rng.normal(size=(12, 11))
    vectors = centres[rng.integers(12, size=items)] + 0.6 * rng.normal(size=(items, 11)) + 0.5
    ids = [f"item {n}" for n in range(items)]
    return Catalog.from_arrays(ids, {"image": vectors}, dtype=dtype)


def _searched(catalog: Catalog, model: models.Model, strategy: display.Strategy) -> str:
    """Return the digest of all pages, beliefs and explanations of one search."""
    session = catalog.session(model=model, strategy=strategy, page_size=6, seed=5)
    digest = hashlib.sha256()
    for n in range(5):
        page = session.page().ids
        session.click(page[n], "dislike" if n % 2 else "like")
        _note(digest, session)
    session.say(np.linspace(-1.0, 1.0, 11))
    _note(digest, session)
    session.undo(2)
    _note(digest, session)
    return digest.hexdigest()


def _note(digest: Any, session: Session) -> None:
    belief = session.belief
    digest.update(belief.log_posterior.tobytes())
    digest.update(belief.settings.tobytes())
    digest.update(np.array([belief.entropy, belief.on_page]).tobytes())
    digest.update(repr((session.more(0, 60).ids, session.explain("item 7"))).encode())


def elsewhere(
    processors: Iterable[Processor], cache: Path, thorough: bool = False
) -> dict[str, dict[str, str]]:
    """Return the digests by processor; they are found side by side."""
    command = [sys.executable, __file__, *(["thorough"] if thorough else [])]
    begun = {
        one.name: subprocess.Popen(command, env=one.environment(cache), stdout=subprocess.PIPE)
        for one in processors
    }
    said = {name: process.communicate()[0] for name, process in begun.items()}
    failed = [name for name, process in begun.items() if process.returncode]
    assert not failed, f"no digests on {failed}"
    return {name: json.loads(text) for name, text in said.items()}


def _main(names: list[str]) -> int:
    unlike = 0
    here = digests(thorough=True)
    for one in PROCESSORS:
        if names and one.name not in names:
            continue
        if one.lacking():
            print(f"{one.name}: skipped, the host lacks {', '.join(one.lacking())}")
            continue
        with tempfile.TemporaryDirectory() as cache:
            there = elsewhere([one], Path(cache), thorough=True)[one.name]
        odd = [kind for kind in here if there[kind] != here[kind]]
        print(f"{one.name}: {f'not as here: {odd}' if odd else f'{len(here)} searches as here'}")
        unlike += len(odd)
    return 1 if unlike else 0


if __name__ == "__main__":
    if ASKED in os.environ:
        gc.disable()  # as in compiled.py
        json.dump(digests("thorough" in sys.argv), sys.stdout)
    else:
        sys.exit(_main(sys.argv[1:]))
