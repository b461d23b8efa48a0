"""Completes a line of the command bar."""

import shlex
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import msgspec

from schedviz.store.past import Readable
from schedviz.web.commands.line import TEXT_AT_MOST, Command, CommandError, is_flag
from schedviz.web.commands.table import COMMANDS, find_command

OPTIONS_AT_MOST: Final = 12
"""Number of options that the bar shows without scrolling."""


class Option(msgspec.Struct, frozen=True):
    line: str
    """The text of the field after this option is chosen."""
    text: str
    help: str


def complete(source: Readable, text: str) -> list[Option]:
    text = text[:TEXT_AT_MOST].lstrip().removeprefix("kubectl ")
    try:
        words = shlex.split(text)
    except ValueError:
        return []  # inside a quoted text
    typed = words.pop() if words and not text.endswith(" ") else ""
    head = text[: len(text) - len(typed)] if text.endswith(typed) else ""
    found = find_command(words)
    commands = [*commands_for(text.rstrip() if typed else text)]
    if found is None:
        return commands[:OPTIONS_AT_MOST]
    command, rest = found
    proposed = [
        Option(head + written(word) + " ", word, str(about))
        for word, about in matching(proposals_for(command, source, rest, typed), typed)
    ]
    longer = [each for each in commands if each.text != command.words] if typed else []
    return [*longer, *proposed][:OPTIONS_AT_MOST]


def commands_for(text: str) -> Iterator[Option]:
    """Yield the commands whose name or alias begins with the text."""
    wanted = " ".join(text.lower().split())
    for command in COMMANDS:
        known = (command.words, *command.also)
        if any(each.startswith(wanted) for each in known):
            more = " " if command.arguments or command.flags else ""
            yield Option(command.words + more, command.usage, str(command.help))


def proposals_for(
    command: Command, source: Readable, rest: list[str], typed: str
) -> Iterable[tuple[str, object]]:
    """Return the proposals for the word that is being typed, as (text, description)."""
    before = rest[-1] if rest else ""
    if is_flag(before):
        try:
            flag = command.flags[command.find_flag(before)]
        except CommandError:
            return ()
        if not flag.switch:
            return flag.proposals(source, rest) if flag.proposals else ()
    if typed.startswith("-"):
        return flags_left(command, rest)
    arguments = positional(command, rest)
    place = min(len(arguments), len(command.arguments) - 1)
    if place >= 0 and (len(arguments) < len(command.arguments) or command.arguments[place].repeated):
        wanted = command.arguments[place]
        if wanted.proposals:
            return wanted.proposals(source, arguments)
        if not wanted.optional:
            return ()
    return flags_left(command, rest)


def flags_left(command: Command, rest: list[str]) -> list[tuple[str, object]]:
    return [(f"--{name}", flag.help) for name, flag in command.flags.items() if f"--{name}" not in rest]


def positional(command: Command, words: list[str]) -> list[str]:
    """Return the words without flags and their values."""
    found: list[str] = []
    value = False
    for word in words:
        if value:
            value = False
        elif is_flag(word):
            name = word.lstrip("-").partition("=")[0]
            switch = any(each.switch and name in (known, each.short) for known, each in command.flags.items())
            value = "=" not in word and not switch
        else:
            found.append(word)
    return found


def matching(proposed: Iterable[tuple[str, object]], typed: str) -> list[tuple[str, object]]:
    """Return the proposals that begin with the typed text, then those that contain it."""
    wanted = typed.lower()
    beginning, inside = [], []
    for each in proposed:
        if each[0].lower().startswith(wanted):
            beginning.append(each)
        elif wanted in each[0].lower():
            inside.append(each)
    return [*islice([*beginning, *inside], OPTIONS_AT_MOST)]


def written(word: str) -> str:
    return shlex.quote(word) if " " in word else word
