"""The pages that follow from the code (commands, settings, Python) or from what was measured.

    python docs/make/reference.py           # writes docs/reference/{cli,settings,python}.md,
                                            # and the tables of docs/explanation/capacity.md
    python docs/make/reference.py --check   # says which of them are not what the code says

A test runs the check, so that the pages cannot fall behind.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import seeker
from seeker.catalog.build.update import UpdateReport
from seeker.cli import cli
from seeker.cli.build import MAX_LOSS, RowsLostError
from seeker.cli.errors import INTERRUPTED
from seeker.client import RemoteSession, SharedSession
from seeker.learning.learn import LearningResult
from seeker.notebook import SearchWidget, WidgetSession
from seeker.server.processes import EXIT_CODE
from seeker.server.settings import PREFIX, Settings
from seeker.stores import StoreError

DOCS = Path(__file__).parent.parent
MADE = "<!-- Written by docs/make/reference.py; change the code, then run `make reference`. -->"

CLASSES = {
    "Catalogs": ["Catalog"],
    "Sessions": ["Session", "Page", "Item", "Belief", "Explanation"],
    "Over HTTP": ["Client"],
    "Errors": ["SeekerError", "BadInput", "NotFound", "Conflict"],
}


def commands(group: click.Group, path: str = "seeker") -> Iterator[tuple[str, click.Command]]:
    """Yield all commands with what is typed to reach them."""
    for name, command in sorted(group.commands.items()):
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


def cli_page() -> str:
    """Return the page about the command line."""
    lines = [
        "# The command line",
        MADE,
        "",
        "Every command has `--help`. A failure is one sentence on standard error and an exit code:",
        "",
        "| exit code | meaning |",
        "| --- | --- |",
        "| 0 | it went well |",
        f"| {seeker.SeekerError.exit_code} | the machine refused (port, rights, disk, memory), or "
        "Seeker made a mistake |",
        f"| {seeker.BadInput.exit_code} | something given cannot be used |",
        f"| {seeker.NotFound.exit_code} | something named is not there |",
        f"| {seeker.Conflict.exit_code} | it does not fit the present state |",
        f"| {StoreError.exit_code} | the sessions' store, or a server, does not answer |",
        "| 6 | the cluster does not answer |",
        f"| {EXIT_CODE} | `seeker serve` was stopped, and something that hung was not waited for |",
        f"| {RowsLostError.exit_code} | it was done, but more than {MAX_LOSS:.0%} of the rows are "
        "not in it |",
        f"| {INTERRUPTED} | stopped by Ctrl-C |",
        "",
    ]
    for path, command in commands(cli):
        context = click.Context(command, info_name=path, terminal_width=96, max_content_width=96)
        with context:
            text = command.get_help(context)
        lines += [f"## `{path}`", "", "```text", _tidy(text), "```", ""]
    return "\n".join(lines)


def settings_page() -> str:
    """Return the page about the settings of the service."""
    lines = [
        "# Settings of the service",
        MADE,
        "",
        "Each setting is a flag of `seeker serve`, a variable, and a key of the TOML file that",
        f"`--config` (or `{PREFIX}CONFIG`) names. Flags win over variables, and these over the",
        "file. Sizes may be written like `512MB`; in a variable, several values are separated by",
        "commas.",
        "",
        "| key | flag | variable | default | what it is |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in dataclasses.fields(Settings):
        flag = "the arguments" if one.name == "catalogs" else f"`--{one.name.replace('_', '-')}`"
        lines.append(
            f"| `{one.name}` | {flag} | `{PREFIX}{one.name.upper()}` | {_default(one)} "
            f"| {one.metadata['help']} |"
        )
    lines += [
        "",
        "The same as a file:",
        "",
        "```toml",
        *(f"{one.name} = {_toml(one.default)}" for one in dataclasses.fields(Settings)),
        "```",
        "",
    ]
    return "\n".join(lines)


def python_page() -> str:
    """Return the page about the public names."""
    lines = [
        "# Python",
        MADE,
        "",
        "`import seeker` loads little and takes a fraction of a second; what is heavy is loaded",
        "when it is used. These are all public names.",
        "",
        "## Building and changing",
        "",
        *_function("seeker.build", seeker.build),
        *_function("seeker.update", seeker.update),
        *_function("seeker.remove", seeker.remove),
        *_class("seeker.catalog.build.update.UpdateReport", UpdateReport),
        "## In a notebook",
        "",
        *_function("seeker.widget", seeker.widget),
        *_class("seeker.notebook.SearchWidget", SearchWidget),
        *_class("seeker.notebook.WidgetSession", WidgetSession),
        "## Learning",
        "",
        *_function("seeker.learn", seeker.learn),
        *_class("seeker.learning.learn.LearningResult", LearningResult),
    ]
    for title, names in CLASSES.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += _class(f"seeker.{name}", getattr(seeker, name))
        if title == "Over HTTP":
            for remote in (RemoteSession, SharedSession):
                lines += _class(f"seeker.client.{remote.__name__}", remote)
    for module, kind in ((seeker.models, "Model"), (seeker.display, "Strategy")):
        title = {"Model": "Models", "Strategy": "Strategies"}[kind]
        where = module.__name__
        lines += [f"## {title}: `{where}`", "", f"The default is `{module.DEFAULT!r}`.", ""]
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and issubclass(thing, getattr(module, kind)):
                lines += _class(f"{where}.{name}", thing, settings_only=name != kind)
        rest = [
            name
            for name in module.__all__
            if name != "DEFAULT" and not _is_kind(getattr(module, name), getattr(module, kind))
        ]
        lines += [f"Also in `{where}`, for those who write their own:", ""]
        lines += [f"- `{name}`: {_first(getattr(module, name))}" for name in rest]
        lines.append("")
    lines += [
        "## The paper's setting",
        "",
        "`seeker.PAPER`: keywords for `catalog.session(**seeker.PAPER)`:",
        "",
    ]
    lines += [f"- `{key}`: `{value!r}`" for key, value in seeker.PAPER.items()]
    return "\n".join([*lines, ""])


def _is_kind(thing: Any, kind: type) -> bool:
    return inspect.isclass(thing) and issubclass(thing, kind)


def _class(name: str, thing: Any, settings_only: bool = False) -> list[str]:
    """Return the lines about a class and its public parts."""
    lines = [f"### `{name}`", "", _text(thing), ""]
    if settings_only:
        return [*lines[:2], *_shown(name, thing), "", *lines[2:]]
    parts = []
    for part, value in _parts(thing):
        if part.startswith("_") or not (_documented(value) or isinstance(value, property)):
            continue
        value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if callable(value):
            parts.append(f"- **`{part}{_signature(value)}`** {_in_list(value)}")
        else:
            parts.append(f"- **`{part}`** {_in_list(value)}")
    if dataclasses.is_dataclass(thing):
        parts = [
            f"- **`{one.name}: {_hint(one.type)}`**" for one in dataclasses.fields(thing)
        ] + parts
    return [*lines, *parts, ""]


def _function(name: str, thing: Any) -> list[str]:
    return [f"### `{name}`", "", *_shown(name, thing), "", _text(thing), ""]


def _shown(name: str, thing: Any) -> list[str]:
    """Return a signature as a block, one parameter per line where there are many."""
    parameters, gives = _parameters(thing)
    if sum(map(len, parameters)) > 60:
        parameters = ["", *(f"    {one}," for one in parameters), ""]
        return ["```text", f"{name}(" + "\n".join(parameters) + f"){gives}", "```"]
    return ["```text", f"{name}({', '.join(parameters)}){gives}", "```"]


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a class and of those of ours that it extends, in the source's order."""
    seen: set[str] = set()
    for base in thing.__mro__:
        if base.__module__.startswith("seeker."):
            for part, value in sorted(vars(base).items(), key=lambda pair: _place(base, pair[0])):
                if part not in seen:
                    seen.add(part)
                    yield part, value


def _place(thing: Any, part: str) -> tuple[int, str]:
    """Keep the order of the source, where it is known."""
    try:
        source = inspect.getsource(thing)
    except OSError:
        return (0, part)
    match = re.search(rf"def {re.escape(part)}\b", source)
    return (match.start() if match else -1, part)


def _documented(value: Any) -> bool:
    value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    inner = getattr(value, "func", value)
    return inspect.isfunction(inner) or isinstance(value, property)


def _signature(thing: Any) -> str:
    """Return a signature on one line."""
    parameters, gives = _parameters(thing)
    return f"({', '.join(parameters)}){gives}"


def _parameters(thing: Any) -> tuple[list[str], str]:
    """Return parameters as they stand in the source, without the object itself, and the result."""
    signature = inspect.signature(thing)
    parameters: list[str] = []
    for name, one in signature.parameters.items():
        if name in ("self", "cls"):
            continue
        if one.kind is one.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        hint = "" if one.annotation is one.empty else f": {_hint(one.annotation)}"
        if one.default is one.empty:
            default = ""
        else:
            value = repr(one.default)
            default = " = …" if value.startswith("<") else f" = {value}"
        parameters.append(f"{name}{hint}{default}")
    ends = signature.return_annotation
    gives = "" if ends in (signature.empty, None, "None") else f" -> {_hint(ends)}"
    return parameters, gives


def _hint(annotation: Any) -> str:
    return (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", str(annotation))
    )


def _text(thing: Any) -> str:
    """Return a docstring as one paragraph per paragraph."""
    inner = getattr(thing, "func", thing)
    words = inspect.getdoc(inner) or ""
    return "\n\n".join(" ".join(part.split()) for part in words.split("\n\n"))


def _in_list(thing: Any) -> str:
    """Return a docstring whose later paragraphs belong to an item of a list."""
    return _text(thing).replace("\n\n", "\n\n    ")


def _first(thing: Any) -> str:
    return _text(thing).split("\n\n")[0]


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())


def _default(one: Any) -> str:
    value = one.default
    if value in ("", ()):
        return "none"
    if one.metadata["size"]:
        return f"`{value / 1e6:g}MB`" if value >= 1e6 else f"`{value / 1e3:g}KB`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{one}"' for one in value) + "]"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def capacity_page() -> str:
    """Return the page about capacity with tables of what was measured last."""
    sys.path.append(str(DOCS.parent))
    from benchmarks.capacity import tables

    page = (DOCS / "explanation/capacity.md").read_text(encoding="utf-8")
    for table in tables():
        old = re.compile(rf"^{re.escape(table[0])}\n(\|.*\n)+", flags=re.MULTILINE)
        if len(old.findall(page)) != 1:
            raise SystemExit(f"The page about capacity has no table {table[0]!r}.")
        page = old.sub(lambda _, lines=table: "\n".join([*lines, ""]), page)  # type: ignore[misc]
    return page


PAGES = {
    "reference/cli.md": cli_page,
    "reference/settings.md": settings_page,
    "reference/python.md": python_page,
    "explanation/capacity.md": capacity_page,
}


def main() -> int:
    """Write the pages, or compare them with the code."""
    stale = []
    for name, made in PAGES.items():
        page, path = made(), DOCS / name
        if "--check" not in sys.argv:
            path.write_text(page, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != page:
            stale.append(name)
    if stale:
        print(f"{', '.join(stale)}: not what the code says; run `make reference`.")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
