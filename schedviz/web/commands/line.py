"""Parses a line of the command bar into a command, arguments and flags."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
from django.utils.translation import gettext

from schedviz.store import Sandbox
from schedviz.store.past import Readable

TEXT_AT_MOST: Final = 1_000
"""Maximum number of characters of a line: more than ``create pod`` with all flags needs."""


class CommandError(ValueError):
    """A command is invalid or has failed. The message is translated, for the page."""


class CommandResult(msgspec.Struct, frozen=True):
    """The result of a command: a text, or the path of a panel, dialog or page to open. Paths are relative to
    the sandbox's page.

    kubectl: the command that does the same at a real cluster. cookie: (name, value) to set before ``page``
    is loaded."""

    text: str = ""
    kubectl: str = ""
    panel: str = ""
    dialog: str = ""
    page: str | None = None
    cookie: tuple[str, str] | None = None


class Call(msgspec.Struct, frozen=True):
    """The arguments and flags of a typed command. ``source``: the sandbox as it was before the command."""

    source: Readable
    arguments: list[str]
    flags: dict[str, str]

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox for writes."""
        return self.source.sandbox

    @property
    def namespace(self) -> str:
        return self.flags.get("namespace", "default")


Proposals = Callable[[Readable, list[str]], Iterable[tuple[str, str]]]
"""Proposes values for an argument, from the arguments before it, as (text, description)."""


class Argument(msgspec.Struct, frozen=True):
    name: str
    """The name in the usage line, such as NODE."""
    proposals: Proposals | None = None
    optional: bool = False
    repeated: bool = False


class Flag(msgspec.Struct, frozen=True):
    help: Any
    proposals: Proposals | None = None
    short: str = ""
    switch: bool = False
    """Whether it has no value."""


class Command(msgspec.Struct, frozen=True):
    """One command. ``words``: its name, of one or more words. ``also``: its aliases."""

    words: str
    help: Any
    run: Callable[[Call], CommandResult]
    arguments: tuple[Argument, ...] = ()
    flags: Mapping[str, Flag] = {}
    also: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """The usage of the command: ``taint NODE TAINT...``."""
        return " ".join([self.words, *(shown(each) for each in self.arguments)])

    def find_flag(self, word: str) -> str:
        """Return the name of the flag that is typed as ``--name`` or ``-short``. Raises CommandError."""
        name = word.lstrip("-")
        for known, flag in self.flags.items():
            if name in (known, flag.short):
                return known
        known_flags = ", ".join(f"--{each}" for each in self.flags) or gettext("none")
        raise CommandError(
            gettext("%(command)s has no flag %(flag)s; it has: %(known)s")
            % {"command": self.words, "flag": word, "known": known_flags}
        )


def shown(argument: Argument) -> str:
    text = f"{argument.name}..." if argument.repeated else argument.name
    return f"[{text}]" if argument.optional else text


def split(text: str) -> list[str]:
    """Split a line into words, as a shell does, without a leading "kubectl". Raises CommandError."""
    if len(text) > TEXT_AT_MOST:
        raise CommandError(gettext("A command has at most %(n)s characters.") % {"n": TEXT_AT_MOST})
    try:
        words = shlex.split(text)
    except ValueError:
        raise CommandError(gettext("A quotation mark is missing.")) from None
    return words[1:] if words[:1] == ["kubectl"] else words


def is_flag(word: str) -> bool:
    """Whether a word is a flag. A single hyphen and a negative number are values."""
    return word.startswith("-") and len(word) > 1 and not word[1].isdigit()


def parse_call(command: Command, source: Readable, words: Iterable[str]) -> Call:
    """Parse the words after the command's name into arguments and flags. Raises CommandError."""
    arguments: list[str] = []
    flags: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if not command.flags or not is_flag(word):
            arguments.append(word)
            continue
        typed, equals, value = word.partition("=")
        name = command.find_flag(typed)
        if not equals and command.flags[name].switch:
            value = "on"
        elif not equals:
            value = next(rest, "")
            if not value:
                raise CommandError(gettext("%(flag)s needs a value.") % {"flag": typed})
        flags[name] = value
    check_argument_count(command, len(arguments))
    return Call(source, arguments, flags)


def check_argument_count(command: Command, given: int) -> None:
    """Check the number of arguments. Raises CommandError."""
    least = sum(not each.optional for each in command.arguments)
    unlimited = any(each.repeated for each in command.arguments)
    if given < least or (given > len(command.arguments) and not unlimited):
        raise CommandError(gettext("Usage: %(usage)s") % {"usage": command.usage})
