"""Sessions: an append-only log of events, the state folded from it, and what it shows."""

from seeker.session.base import Event
from seeker.session.belief import Belief
from seeker.session.events import Click, Explore, Filter, Focus, Found, Redo, Undo
from seeker.session.examples import Example
from seeker.session.explanation import ClickShare, Explanation
from seeker.session.page import Item, Page
from seeker.session.session import Session
from seeker.session.start import PAPER, SessionOptions, Start
from seeker.session.state import State
from seeker.session.words import Say, UnderstoodWords, Unsay

__all__ = [
    "PAPER",
    "Belief",
    "Click",
    "ClickShare",
    "Event",
    "Example",
    "Explanation",
    "Explore",
    "Filter",
    "Focus",
    "Found",
    "Item",
    "Page",
    "Redo",
    "Say",
    "Session",
    "SessionOptions",
    "Start",
    "State",
    "UnderstoodWords",
    "Undo",
    "Unsay",
]
