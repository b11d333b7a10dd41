"""API keys: who may start sessions, and who may look after the service. Only hashes are kept."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from seeker.errors import BadInput
from seeker.server.errors import RequestRefused

Role = Literal["start", "admin"]
ROLES: tuple[Role, ...] = ("start", "admin")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LOGIN = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True)
class KeyHolder:
    """Who holds a key, and what for."""

    name: str
    role: Role


class ApiKeys:
    """Holders by the hash of their key; without a key for it, everybody may start sessions.

    needed: starting a session needs a key even if no key is for that.
    """

    def __init__(self, holders: Mapping[str, KeyHolder], needed: bool = False) -> None:
        self._holders = holders
        self._needed = needed or any(one.role == "start" for one in holders.values())

    @classmethod
    def read(cls, file: str, needed: bool = False) -> ApiKeys:
        """Read a file with a line of name, role and hash for every key; "" for no file."""
        if not file:
            return cls({}, needed)
        holders: dict[str, KeyHolder] = {}
        for number, line in enumerate(_lines(file), 1):
            if not line.strip() or line.startswith("#"):
                continue
            parts = line.split()
            role = next((one for one in ROLES if len(parts) == 3 and one == parts[1]), None)
            if role is None or not re.fullmatch(r"[0-9a-f]{64}", parts[2]):
                raise BadInput(
                    f"Line {number} of the file of keys '{file}' is not: name, role, hash.",
                    "Make keys with `seeker keys`.",
                )
            holders[parts[2]] = KeyHolder(parts[0], role)
        return cls(holders, needed)

    def holder(self, authorization: str | None) -> KeyHolder | None:
        """Return who sends an Authorization header; None if nobody does; refuse unknown keys.

        Keys are 256 random bits, so a hash without salt cannot be reversed, and looking it up
        tells nothing about a key by how long it takes.
        """
        if authorization is None:
            return None
        kind, _, key = authorization.partition(" ")
        holder = self._holders.get(hash_key(key.strip()))
        if kind.lower() != "bearer" or holder is None:
            raise RequestRefused(
                401, "This key is not known.", "Send Authorization: Bearer KEY.", _LOGIN
            )
        return holder

    def may_start(self, authorization: str | None) -> str | None:
        """Return the name of who starts a session; refuse those who may not.

        A key is needed where there is one for it. Whoever only looks after the service with an
        admin key lets everybody in.
        """
        holder = self.holder(authorization) if self._holders else None
        if holder is None:
            if not self._needed:
                return None
            raise RequestRefused(
                401, "Starting a session needs a key.", "Send Authorization: Bearer KEY.", _LOGIN
            )
        return holder.name

    def owner_of_users(self, authorization: str | None, owner: str | None) -> str | None:
        """Return whose users somebody may decide about: an admin says it, others their own."""
        holder = self.holder(authorization)
        if holder is not None and holder.role == "start":
            if owner not in (None, holder.name):
                raise RequestRefused(
                    403, "These users are not those of this key.", "Use an admin key."
                )
            return holder.name
        self.check_admin(authorization)
        return owner

    def check_admin(self, authorization: str | None) -> None:
        """Refuse everybody but holders of an admin key."""
        holder = self.holder(authorization)
        if holder is None:
            raise RequestRefused(
                401,
                "This needs an admin key.",
                "Make one with `seeker keys NAME --role admin` and send Authorization: Bearer KEY.",
                _LOGIN,
            )
        if holder.role != "admin":
            raise RequestRefused(
                403, "This key may start sessions, but no more.", "Use an admin key."
            )


def hash_key(key: str) -> str:
    """Return what is kept of a key."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def make_key(name: str, role: Role, file: str) -> str:
    """Make a key, add its hash to a file, and return it: nobody can show it again."""
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} cannot name a key.", "Use letters, digits, '.', '_' and '-'.")
    path = Path(file)
    if path.exists() and any(line.split()[:1] == [name] for line in _lines(file)):
        raise BadInput(f"There is a key called {name!r} in '{file}'.", "Choose another name.")
    key = f"seeker_{secrets.token_urlsafe(32)}"
    path.touch(mode=0o600)
    with path.open("a", encoding="utf-8") as handle:
        handle.write(f"{name} {role} {hash_key(key)}\n")
    return key


def _lines(file: str) -> list[str]:
    """Return the lines of a file of keys."""
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise BadInput(
            f"There is no file of keys '{file}'.", "Make one with `seeker keys NAME --file …`."
        ) from None
    except UnicodeDecodeError:
        raise BadInput(
            f"'{file}' is not a file of keys.", "Make one with `seeker keys NAME --file …`."
        ) from None
