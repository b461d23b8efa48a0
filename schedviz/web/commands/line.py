"""A line of text, taken apart: command, arguments, flags."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
from django.utils.translation import gettext

from schedviz.store import Sandbox

TEXT_AT_MOST: Final = 1_000
"""Characters of a line: a pod with every flag of its form is shorter."""


class Bad(ValueError):
    """What is wrong with a command, for the reader."""


class Said(msgspec.Struct, frozen=True):
    """What came of a command: words, or a place to go to; all paths lie below the sandbox's own.

    ``kubectl`` is the line that does the same at a real cluster; ``cookie`` is kept by the browser, and the
    page is drawn anew."""

    text: str = ""
    kubectl: str = ""
    panel: str = ""
    dialog: str = ""
    page: str | None = None
    cookie: tuple[str, str] | None = None


class Call(msgspec.Struct, frozen=True):
    """A command as it was typed."""

    sandbox: Sandbox
    arguments: list[str]
    flags: dict[str, str]

    @property
    def namespace(self) -> str:
        return self.flags.get("namespace", "default")


Proposals = Callable[[Sandbox, list[str]], Iterable[tuple[str, str]]]
"""The texts that may stand in a place, each with a word about it, from the arguments before it."""


class Argument(msgspec.Struct, frozen=True):
    name: str
    """As the usage line writes it: NODE."""
    proposals: Proposals | None = None
    optional: bool = False
    repeated: bool = False


class Flag(msgspec.Struct, frozen=True):
    help: Any
    proposals: Proposals | None = None
    short: str = ""
    switch: bool = False
    """It stands without a value."""


class Command(msgspec.Struct, frozen=True):
    """``also``: other words for it, whole."""

    words: str
    help: Any
    run: Callable[[Call], Said]
    arguments: tuple[Argument, ...] = ()
    flags: Mapping[str, Flag] = {}
    also: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """``taint NODE TAINT...``"""
        return " ".join([self.words, *(shown(each) for each in self.arguments)])

    def find_flag(self, word: str) -> str:
        """The flag's name. Raises Bad."""
        name = word.lstrip("-")
        for known, flag in self.flags.items():
            if name in (known, flag.short):
                return known
        known_flags = ", ".join(f"--{each}" for each in self.flags) or gettext("none")
        raise Bad(
            gettext("%(command)s has no flag %(flag)s; it has: %(known)s")
            % {"command": self.words, "flag": word, "known": known_flags}
        )


def shown(argument: Argument) -> str:
    text = f"{argument.name}..." if argument.repeated else argument.name
    return f"[{text}]" if argument.optional else text


def split(text: str) -> list[str]:
    """Into words, as a shell does. Raises Bad."""
    if len(text) > TEXT_AT_MOST:
        raise Bad(gettext("A command has at most %(n)s characters.") % {"n": TEXT_AT_MOST})
    try:
        words = shlex.split(text)
    except ValueError:
        raise Bad(gettext("A quotation mark is missing.")) from None
    return words[1:] if words[:1] == ["kubectl"] else words


def is_flag(word: str) -> bool:
    """A lone hyphen and a negative number are values."""
    return word.startswith("-") and len(word) > 1 and not word[1].isdigit()


def read(command: Command, sandbox: Sandbox, words: Iterable[str]) -> Call:
    """The words behind the command's own, as arguments and flags. Raises Bad."""
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
                raise Bad(gettext("%(flag)s wants a value.") % {"flag": typed})
        flags[name] = value
    check(command, len(arguments))
    return Call(sandbox, arguments, flags)


def check(command: Command, given: int) -> None:
    least = sum(not each.optional for each in command.arguments)
    endless = any(each.repeated for each in command.arguments)
    if given < least or (given > len(command.arguments) and not endless):
        raise Bad(gettext("It goes: %(usage)s") % {"usage": command.usage})
