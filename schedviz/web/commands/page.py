"""Commands for time and for the page."""

from urllib.parse import urlencode

from django.conf import settings
from django.utils.translation import gettext

from schedviz.loop import clock
from schedviz.web.commands.line import Bad, Call, Said

THEMES = ("light", "dark", "system")
THEME_COOKIE = "theme"


def pause(call: Call) -> Said:
    clock.pause(call.sandbox)
    return Said(gettext("paused"))


def resume(call: Call) -> Said:
    clock.resume(call.sandbox)
    return Said(gettext("running"))


def speed(call: Call) -> Said:
    factor = number(call.arguments[0].removesuffix("x"))
    clock.set_speed(call.sandbox, factor)
    return Said(gettext("%(factor)s times as fast as real time") % {"factor": f"{factor:g}"})


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Bad(gettext("“%(text)s” is not a number.") % {"text": text}) from None


def step(call: Call) -> Said:
    """``step``, ``step 3``, ``step cycle``, ``step cycle 3``."""
    rest = list(call.arguments)
    unit = rest.pop(0) if rest and rest[0] in ("point", "cycle") else "point"
    count = int(number(rest[0])) if rest else 1
    clock.step(call.sandbox, "cycle" if unit == "cycle" else "point", count)
    return Said(gettext("paused; steps taken: %(n)s") % {"n": count})


def until(call: Call) -> Said:
    """``until nothing-pending``, ``until preemption``, ``until bound POD``."""
    kind, *rest = call.arguments
    pod = f" {rest[0] if '/' in rest[0] else f'default/{rest[0]}'}" if rest else ""
    clock.run_until(call.sandbox, kind + pod)
    return Said(gettext("running until: %(condition)s") % {"condition": kind + pod})


def goto(call: Call) -> Said:
    wanted = call.arguments[-1]
    if not wanted.isdecimal():
        raise Bad(gettext("“%(text)s” is not a number.") % {"text": wanted})
    return Said(panel=f"cycles/{int(wanted)}/")


def leader(_: Call) -> Said:
    return Said(panel="leader/")


def form(call: Call) -> Said:
    return Said(dialog=f"new/{call.arguments[0]}/")


def config(_: Call) -> Said:
    return Said(dialog="scheduler/")


def table(_: Call) -> Said:
    return Said(dialog="nodes/")


def paste(_: Call) -> Said:
    return Said(dialog="new/yaml/")


def filter_(call: Call) -> Said:
    return Said(page="?" + urlencode({"q": " ".join(call.arguments)}) if call.arguments else "")


def theme(call: Call) -> Said:
    wanted = call.arguments[0]
    if wanted not in THEMES:
        raise Bad(gettext("The themes are %(known)s.") % {"known": ", ".join(THEMES)})
    return Said(page="", cookie=(THEME_COOKIE, "" if wanted == "system" else wanted))


def language(call: Call) -> Said:
    """By its code, or by a name of it."""
    wanted = call.arguments[0].lower()
    for code, name in settings.LANGUAGES:
        if wanted in (code.lower(), str(name).lower(), code.partition("-")[0].lower()):
            return Said(page="", cookie=(settings.LANGUAGE_COOKIE_NAME, code))
    known = ", ".join(code for code, _ in settings.LANGUAGES)
    raise Bad(gettext("The languages are %(known)s.") % {"known": known})
