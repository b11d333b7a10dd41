"""Sessions on a server, with the verbs of sessions in this process."""

from seeker.client.client import Client, RemoteSession

__all__ = ["Client", "RemoteSession"]
