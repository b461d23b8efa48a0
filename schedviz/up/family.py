"""Runs processes under Supervisor (https://supervisord.org, 4.3) inside this process: it starts them again
when they die, gives up on what dies at every start, and stops them all at SIGINT, SIGTERM and SIGHUP.

Ours are only the words on the screen, and that all ends when one is given up.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import Any

from supervisor import events, loggers
from supervisor.medusa.asyncore_25 import ExitNow
from supervisor.options import ServerOptions
from supervisor.states import SupervisorStates
from supervisor.supervisord import Supervisor

from schedviz.up import guardian

Say = Callable[[str], None]

LINE_BYTES = 1 << 16
"""Of a longer line the parts are shown as lines."""


def run(configuration: str, say: Say, redis: int | None = None) -> int:
    """Run the programs of a Supervisor configuration until a signal (0), or until one is given up (1).

    redis: the process id of the one that was started before, as a child of this process, for all others to
    stand on: they end when it does.
    """
    options = Options(say, redis)
    options.configfile = StringIO(configuration)
    options.realize(["--nodaemon", "--nocleanup", "--loglevel=warn"])
    with suppress(ExitNow):  # its way to say that all have stopped
        Family(options).main()
    return options.status


class Options(ServerOptions):  # type: ignore[misc]  # Supervisor has no types
    first = True
    test = False
    status = 0
    mood: int

    def __init__(self, say: Say, redis: int | None) -> None:
        super().__init__()
        self.say = say
        self._redis = redis

    def give_up(self, why: str) -> None:
        """Stop everything; it is a failure."""
        if self.mood == SupervisorStates.RUNNING:
            self.status, self.mood = 1, SupervisorStates.SHUTDOWN
            self.say(f"{why}; stopping")

    def make_logger(self) -> None:
        self.logger = loggers.Logger(self.loglevel, [Lines(self.say)])

    def write_pidfile(self) -> None:
        """None: nobody controls this Supervisor from elsewhere."""

    def get_signal(self) -> int | None:
        number: int | None = super().get_signal()
        # A closed terminal ends it; for a daemon the signal means to read its configuration again.
        return signal.SIGTERM if number == signal.SIGHUP else number

    def setpgrp(self) -> None:
        # A session of its own, not only a group: Linux shares processors out by session, and three processes
        # in one start at half the speed on a busy machine.
        os.setsid()

    def fork(self) -> int:
        pid: int = super().fork()
        if pid:
            guardian.watch(pid)
        return pid

    def waitpid(self) -> tuple[int | None, int | None]:
        pid, status = super().waitpid()
        if pid:
            guardian.forget(pid)
        if pid and pid == self._redis:
            self.give_up("redis ended unexpectedly")
        return pid, status


class Family(Supervisor):  # type: ignore[misc]  # Supervisor has no types
    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._begun: dict[str, bytes] = {}

    def runforever(self) -> None:
        events.subscribe(events.ProcessLogStdoutEvent, self._show)
        events.subscribe(events.ProcessStateFatalEvent, self._give_up)
        events.subscribe(events.ProcessStateExitedEvent, self._look_at_end)
        super().runforever()

    def _show(self, event: Any) -> None:
        if self.options.mood < SupervisorStates.RUNNING:
            return  # what they say of their end is of no interest
        name = event.process.config.name
        *lines, begun = (self._begun.get(name, b"") + event.data).split(b"\n")
        if len(begun) > LINE_BYTES:
            lines.append(begun)
            begun = b""
        self._begun[name] = begun
        for line in lines:
            self.options.say(f"{name} | {line.decode(errors='replace').rstrip()}")

    def _give_up(self, event: Any) -> None:
        self.options.give_up(f"{event.process.config.name} ends at every start")

    def _look_at_end(self, event: Any) -> None:
        if not event.expected and not event.process.config.autorestart:
            self.options.give_up(f"{event.process.config.name} failed")


class Lines(loggers.Handler):  # type: ignore[misc]  # Supervisor has no types
    """Supervisor's own log: which process ended and how, which had to be killed, which signal came."""

    level = loggers.LevelsByName.WARN

    def __init__(self, say: Say) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: Any) -> None:
        self._say(record.asdict()["message"].rstrip())
