"""Commands that control the clock and the page."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.utils.translation import gettext

from schedviz.api.schedulers import switch_scheduler
from schedviz.loop import clock
from schedviz.web.commands.line import Call, CommandError, CommandResult
from simulator.scheduler.stepping import Unit

THEMES = ("light", "dark", "system")
THEME_COOKIE = "theme"


def pause(call: Call) -> CommandResult:
    clock.pause(call.sandbox)
    return CommandResult(gettext("paused"))


def resume(call: Call) -> CommandResult:
    clock.resume(call.sandbox)
    return CommandResult(gettext("running"))


def speed(call: Call) -> CommandResult:
    word = call.arguments[0]
    if word == clock.MAX:
        clock.set_speed(call.sandbox, clock.MAX)
        return CommandResult(gettext("as fast as possible: no pause between cycles"))
    factor = number(word.removesuffix("x"))
    clock.set_speed(call.sandbox, factor)
    return CommandResult(gettext("%(factor)s times as fast as real time") % {"factor": f"{factor:g}"})


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CommandError(gettext("“%(text)s” is not a number.") % {"text": text}) from None


def whole_number(text: str) -> int:
    if not text.isdecimal():
        raise CommandError(gettext("“%(text)s” is not a number.") % {"text": text})
    return int(text)


STEPS: Final[Mapping[str, Unit]] = {"event": "event", "point": "point", "cycle": "cycle"}


def step(call: Call) -> CommandResult:
    """Run the command ``step``: ``step``, ``step 3``, ``step event``, ``step cycle 3``."""
    rest = list(call.arguments)
    unit = STEPS[rest.pop(0)] if rest and rest[0] in STEPS else "point"
    count = whole_number(rest[0]) if rest else 1
    if unit != "event" and call.sandbox.meta().stands_down:
        raise CommandError(
            gettext("The scheduler stands down: there is no cycle to step through. “step event” moves time.")
        )
    clock.step(call.sandbox, unit, count)
    return CommandResult(gettext("paused; steps taken: %(n)s") % {"n": count})


def until(call: Call) -> CommandResult:
    """Run the command ``until``: ``until nothing-pending``, ``until preemption``, ``until bound POD``."""
    kind, *rest = call.arguments
    pod = f" {rest[0] if '/' in rest[0] else f'default/{rest[0]}'}" if rest else ""
    clock.run_until(call.sandbox, kind + pod)
    return CommandResult(gettext("running until: %(condition)s") % {"condition": kind + pod})


def try_each(call: Call) -> CommandResult:
    if call.sandbox.meta().stands_down:
        raise CommandError(gettext("The scheduler stands down: it tries no pod."))
    clock.run_until(call.sandbox, "tried")
    return CommandResult(gettext("each pending pod is tried once"), panel="pending/")


def pending(_: Call) -> CommandResult:
    return CommandResult(panel="pending/")


def undo(_: Call) -> CommandResult:
    return CommandResult(dialog="undo/")


def goto(call: Call) -> CommandResult:
    return CommandResult(panel=f"cycles/{whole_number(call.arguments[-1])}/")


def leader(_: Call) -> CommandResult:
    return CommandResult(panel="leader/")


def form(call: Call) -> CommandResult:
    return CommandResult(dialog=f"new/{call.arguments[0]}/")


def outside(_: Call) -> CommandResult:
    return CommandResult(panel="outside/")


def stand_down(call: Call) -> CommandResult:
    switch_scheduler(call.sandbox, stands_down=True)
    return CommandResult(gettext("The scheduler stands down: pods wait for an outside scheduler."))


def schedule_again(call: Call) -> CommandResult:
    switch_scheduler(call.sandbox, stands_down=False)
    return CommandResult(gettext("The scheduler schedules the pods of its profiles again."))


def config(_: Call) -> CommandResult:
    return CommandResult(dialog="scheduler/")


def table(_: Call) -> CommandResult:
    return CommandResult(panel="nodes/")


def paste(_: Call) -> CommandResult:
    return CommandResult(dialog="new/yaml/")


def filter_(call: Call) -> CommandResult:
    return CommandResult(page="?" + urlencode({"q": " ".join(call.arguments)}) if call.arguments else "")


def theme(call: Call) -> CommandResult:
    wanted = call.arguments[0]
    if wanted not in THEMES:
        raise CommandError(gettext("The themes are %(known)s.") % {"known": ", ".join(THEMES)})
    return CommandResult(page="", cookie=(THEME_COOKIE, "" if wanted == "system" else wanted))


def language(call: Call) -> CommandResult:
    """Set the language, by its code or its name."""
    wanted = call.arguments[0].lower()
    for code, name in settings.LANGUAGES:
        if wanted in (code.lower(), str(name).lower(), code.partition("-")[0].lower()):
            return CommandResult(page="", cookie=(settings.LANGUAGE_COOKIE_NAME, code))
    known = ", ".join(code for code, _ in settings.LANGUAGES)
    raise CommandError(gettext("The languages are %(known)s.") % {"known": known})
