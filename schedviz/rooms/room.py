"""The types of a room: its code, its settings, its state and its members."""

import hashlib
import hmac
import re
import secrets
import unicodedata
from typing import Final, Literal

import msgspec

ALPHABET: Final = "CDFGHJKMNPQRTVWX34679"
"""The characters of a code: none looks like another one, and without vowels they are no words."""
CODE_LENGTH: Final = 6
"""Number of letters of a room's code. 21 ** 6 is 86 million: a code is not guessed by trying while a room is
open."""
SAME_LOOK: Final = str.maketrans(
    "\u0421\u041d\u041a\u041c\u0420\u0422\u0425\u0397\u039a\u039c\u039d\u03a1\u03a4\u03a7", "CHKMPTXHKMNPTX"
)
"""Letters of Cyrillic and Greek that look like one of the alphabet."""
CODE: Final = re.compile(rf"[{ALPHABET}]{{{CODE_LENGTH}}}")

MEMBERS_AT_MOST: Final = 110
"""Maximum number of members: 100 learners, and a margin for those who join twice."""
NAME_AT_MOST: Final = 40
"""Maximum number of characters of a learner's name."""
TITLE_AT_MOST: Final = 80
HINT_AT_MOST: Final = 400
"""Maximum number of characters of a hint: it stands above the page of a sandbox."""
HINTS_AT_MOST: Final = 20
"""Maximum number of hints that are kept for one member, and for all. The oldest ones go."""

SHARED: Final = 0
"""The number of the one sandbox of a room whose members share it. Members are counted from 1."""
TEACHER: Final = 999
"""The number of the teacher's own sandbox, and of the teacher's progress in it."""
NOBODY: Final = -1

Mode = Literal["own", "shared"]
"""Whether each learner has a sandbox, all from the same seed, or all share one."""
RoomKind = Literal["lesson", "scenario", "course"]


class What(msgspec.Struct, frozen=True):
    """The subject of a room: a lesson, a scenario or the whole course."""

    kind: RoomKind
    name: str = ""
    """The name of the lesson or the scenario; "" = the whole course."""


class RoomSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that do not change while a room exists."""

    code: str
    title: str
    what: What
    mode: Mode
    seed: int
    """The seed of all its sandboxes."""
    teacher: str
    """The hash of the teacher's token."""
    created: float
    """Wall seconds since the Unix epoch, as all times of a room."""


class Message(msgspec.Struct, frozen=True):
    """A hint that the teacher sent."""

    text: str
    at: float


class NotDone(msgspec.Struct, frozen=True):
    """A member for whom an act for all failed."""

    number: int
    reason: str
    """A message of the API server; "" = the log of the server has the error."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of the last act that put learners at a step."""

    lesson: str
    step: int
    moved: int
    """Number of learners who are at the step."""
    away: tuple[int, ...] = ()
    """The numbers of those among them whose page was not connected."""
    failed: tuple[NotDone, ...] = ()


SectionKind = Literal["lesson", "discussion", "break"]


class Section(msgspec.Struct, frozen=True):
    """A section of the plan of a room."""

    kind: SectionKind
    minutes: int
    lesson: str = ""
    step: int = 0
    """The step of the lesson, counted from 0, with which the section begins."""


class Room(msgspec.Struct, frozen=True, kw_only=True):
    settings: RoomSettings
    ends: float
    """Time at which the room ends by itself."""
    ended: float = 0.0
    """Time at which the teacher ended the room; 0 = not yet."""
    paused: bool = False
    """Whether the teacher paused the sandboxes. Sandboxes of learners who join are paused, too."""
    lesson: str = ""
    """The lesson that the teacher opened for all; "" = none yet."""
    step: int = 0
    """The step, counted from 0, at which learners begin ``lesson``: the last one that the teacher set."""
    placed: float = 0.0
    """Time at which the teacher last put all learners at a step, or started over for all."""
    outcome: Outcome | None = None
    """What came of it; None = nothing yet, or the act moves nobody."""
    locked: bool = False
    """Whether no learner goes beyond ``step``."""
    collecting: bool = False
    """Whether learners see what is right only when the teacher reveals it."""
    answers: tuple[str, ...] = ()
    """The questions (``LESSON/STEP``) whose answers were revealed since the teacher began to collect."""
    discussion: bool = False
    """Whether the class talks: nobody is stuck meanwhile."""
    went_on: float = 0.0
    """Time at which the teacher last let learners go on: resumed, unlocked, revealed, ended a discussion."""
    question: str = ""
    """The question (``LESSON/STEP``) whose guesses are shown; "" = the one that most have reached."""
    revealed: str = ""
    """The question (``LESSON/STEP``) whose answer the projector shows."""
    shown: int = NOBODY
    """The number of the sandbox that the projector shows."""
    named: bool = False
    """Whether the projector shows the learners' names."""
    opened: bool = False
    """Whether the sandbox that the room shares was created. If it does not exist then, the teacher has
    deleted it, and only the teacher creates another one."""
    plan: tuple[Section, ...] = ()
    section: int = NOBODY
    """The place of the present section in the plan, counted from 0; -1 = none has begun."""
    section_began: float = 0.0
    rehearsing: bool = False
    """Whether simulated learners act."""
    class_list: tuple[str, ...] = ()
    """The names from which learners choose when they join; () = they type one."""
    hints: tuple[Message, ...] = ()
    """The last hints to all, the oldest first."""

    @property
    def code(self) -> str:
        return self.settings.code

    def is_over(self, now: float) -> bool:
        return bool(self.ended) or now >= self.ends


class Member(msgspec.Struct, frozen=True):
    """A learner in a room."""

    number: int
    name: str
    token: str
    """The hash of the learner's token."""
    joined: float


def new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def read_code(text: str) -> str:
    """Return the code in a typed text; "" if there is none."""
    code = _letters(text)
    return code if CODE.fullmatch(code) else ""


def wrong_letters(text: str) -> list[str]:
    """Return the letters and digits of a typed text that no code has, each once."""
    return [*dict.fromkeys(each for each in _letters(text) if each not in ALPHABET and each.isalnum())]


def _letters(text: str) -> str:
    """Return a typed code in capital letters, without what stands between them. Letters of full width, and
    those of another script that look like one of the alphabet, are understood: which one is meant is clear.
    It is not for a letter or digit that the alphabet lacks: an O may be a D or a Q."""
    plain = unicodedata.normalize("NFKC", text[:30]).upper().translate(SAME_LOOK)
    return re.sub(r"[\W_]", "", plain)


def new_token() -> str:
    return secrets.token_urlsafe(18)


def hash_token(token: str) -> str:
    """Return the hash of a token. Tokens are random, so the hash needs neither salt nor many rounds."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def is_token(token: str, hashed: str) -> bool:
    return hmac.compare_digest(hash_token(token), hashed)


def clean_name(text: str, at_most: int = NAME_AT_MOST) -> str:
    """Return a name or title in one line, without characters that are not shown."""
    shown = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in text[: 10 * at_most])
    return " ".join(shown.split())[:at_most].strip()


def sandbox_name(code: str, number: int) -> str:
    return f"room-{code.lower()}-{number}"


def number_for(room: Room, member: int) -> int:
    """Return the number of the sandbox in which a member works, or the teacher."""
    return SHARED if room.settings.mode == "shared" and member != TEACHER else member


def learner_id(code: str, number: int) -> str:
    """Return the id under which the progress of a member is stored. It is the name of the member's
    sandbox."""
    return sandbox_name(code, number)


SANDBOX: Final = re.compile(rf"room-([{ALPHABET.lower()}]{{{CODE_LENGTH}}})-(\d{{1,3}})(?:-.*)?", re.DOTALL)
"""The names of a room's sandboxes, and of the branches of them."""


def room_of(sandbox: str) -> tuple[str, int] | None:
    """Return the room's code and the number in the name of a sandbox; None for one that is of no room."""
    found = SANDBOX.fullmatch(sandbox)
    return (found[1].upper(), int(found[2])) if found else None


RESERVED: Final = re.compile(rf"room-[{ALPHABET.lower()}]{{{CODE_LENGTH}}}(?:-.*)?", re.DOTALL)


def is_reserved(sandbox: str) -> bool:
    """Whether only a room may have a sandbox of this name."""
    return bool(RESERVED.fullmatch(sandbox))
