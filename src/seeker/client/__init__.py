"""Sessions on a server, with the verbs of sessions in this process."""

from seeker.client.client import Client
from seeker.client.session import RemoteSession, SharedSession

__all__ = ["Client", "RemoteSession", "SharedSession"]
