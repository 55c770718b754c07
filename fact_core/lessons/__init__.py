"""What the teaching page is made of: lessons as files, cards of the methods, the papers' slips, and recorded runs to step through."""

from .cards import Card, card
from .lesson import Control, Lesson, Shelf, folders, parse, read_lessons
from .record import MOST_STEPS, SMALL, Track, record, small
from .scene import Kind, Numbers, Scene, kinds_for, numbers, scene
from .slips import SLIPS, Slip, slips_of

__all__ = [
    "MOST_STEPS",
    "SLIPS",
    "SMALL",
    "Card",
    "Control",
    "Kind",
    "Lesson",
    "Numbers",
    "Scene",
    "Shelf",
    "Slip",
    "Track",
    "card",
    "folders",
    "kinds_for",
    "numbers",
    "parse",
    "read_lessons",
    "record",
    "scene",
    "slips_of",
    "small",
]
