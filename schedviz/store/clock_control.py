"""Reads and sets the clock of a sandbox."""

from schedviz.store import codec
from schedviz.store.errors import NoSandbox
from schedviz.store.handle import SandboxHandle
from schedviz.store.model import Clock, Lease
from schedviz.store.wall import seconds_of, wall_time
from simulator.api import Micros


class ClockControl(SandboxHandle):
    """The methods that change the clock of a sandbox. They raise NoSandbox, and Unreadable for a stored clock
    that cannot be decoded."""

    def wall(self) -> float:
        """Return the wall seconds since the Unix epoch, by Redis."""
        return wall_time(self._redis)

    def clock(self) -> Clock:
        return codec.decode_clock(self.name, self._state("clock")[0])

    def read_clock(self) -> tuple[Clock, float]:
        """Return the clock, and the wall time at which it was read."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hget(self._keys.state, "clock")
            pipe.time()
            clock, wall = pipe.execute()
        if clock is None:
            raise NoSandbox(self.name)
        return codec.decode_clock(self.name, clock), seconds_of(wall)

    def now(self) -> Micros:
        """Return the simulated time now."""
        clock, wall = self.read_clock()
        return clock.now(wall)

    def set_clock(self, clock: Clock, was: Clock | None = None, lease: Lease | None = None) -> bool:
        """Set the clock. If ``was`` is given and the clock is another one by now, nothing is changed and
        False is returned. ``lease``: of the leader that sets it; raises StaleLease if it is over."""
        arguments = [codec.encode(was) if was else "", codec.encode(clock), lease.epoch if lease else ""]
        done = self._scripts.set_clock([self._keys.state], arguments, client=self._redis)
        self._check_reply(done, lease)
        return bool(done)
