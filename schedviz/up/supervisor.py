"""Keeps programs running: starts a program again when it ends, stops when it ends at every start, and
stops all programs at SIGINT, SIGTERM and SIGHUP."""

import asyncio
import signal
import subprocess
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from schedviz.up import parent_death
from schedviz.up.embedded_redis import EmbeddedRedis, RedisDidNotStart

LINE_BYTES: Final = 1 << 16
"""The parts of a longer line are shown as lines."""

OUTPUT_SECONDS: Final = 20.0
"""Seconds for which the last output of a program that has ended is read. A process that it started may hold
its output open."""

REDIS_POLL_SECONDS: Final = 0.2

REDIS_START_SECONDS: Final = 10.0
"""Seconds of running after which the embedded server counts as started."""

REDIS_ATTEMPTS: Final = 6
"""Attempts to start the embedded server, as of a program."""


class Program(msgspec.Struct, frozen=True):
    name: str
    command: Sequence[str]
    restarts: bool = True
    """Whether the program is started again when it ends. False: it runs once, and all programs stop if it
    fails."""
    start_seconds: float = 10.0
    """Seconds of running after which a program counts as started."""
    start_attempts: int = 6
    """Attempts to start the program. If each of them ends too early, its reason is kept and all programs
    stop."""
    retry_seconds: float = 1.0
    """Seconds before the second attempt to start it; twice as many before the third, and so on."""
    stop_seconds: float = parent_death.GRACE_SECONDS
    """Seconds after SIGTERM after which the program is killed."""


RunOnce = Callable[[Program], Coroutine[None, None, int]]
"""Runs a program once, and returns its exit status; stops it where the task is cancelled."""


def run_programs(
    programs: Sequence[Program],
    say: Callable[[str], None],
    redis: EmbeddedRedis | None = None,
    further: Callable[[RunOnce], Coroutine[None, None, None]] | None = None,
) -> int:
    """Run programs until a signal comes (0), or until one is given up (1).

    say: prints a line. redis: the server that this process has started; it is started again on its data.
    further: runs those that are not known at the start.
    """
    return asyncio.run(Supervisor(programs, say).run(redis, further))


class _Stopped(Exception):
    """Ends the task group, which cancels the tasks of all programs."""


class Supervisor:
    def __init__(self, programs: Sequence[Program], say: Callable[[str], None]) -> None:
        self._programs = programs
        self._say = say
        self._stopped = asyncio.Event()
        self._status = 0

    async def run(
        self,
        redis: EmbeddedRedis | None,
        further: Callable[[RunOnce], Coroutine[None, None, None]] | None = None,
    ) -> int:
        loop = asyncio.get_running_loop()
        # SIGHUP comes when the terminal is closed.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stop, f"received {number.name}", 0)
        try:
            async with asyncio.TaskGroup() as group:
                for program in self._programs:
                    group.create_task(self._keep_running(program))
                if further:
                    group.create_task(further(self._run_once))
                if redis:
                    group.create_task(self._keep_redis_running(redis))
                await self._stopped.wait()
                raise _Stopped
        except* _Stopped:
            pass
        return self._status

    def _stop(self, why: str, status: int) -> None:
        if not self._stopped.is_set():
            self._say(f"{why}; stopping")
            self._status = status
            self._stopped.set()

    async def _keep_running(self, program: Program) -> None:
        loop = asyncio.get_running_loop()
        attempts = 0
        while True:
            began = loop.time()
            status = await self._run_once(program)
            if not program.restarts:
                if status:
                    self._stop(f"{program.name} failed ({describe_status(status)})", 1)
                return
            attempts = attempts + 1 if loop.time() - began < program.start_seconds else 0
            if attempts >= program.start_attempts:
                self._stop(f"{program.name} ends at every start ({describe_status(status)})", 1)
                return
            self._print(f"{program.name} ended ({describe_status(status)}) and is started again")
            await asyncio.sleep(attempts * program.retry_seconds)

    async def _run_once(self, program: Program) -> int:
        """Run the program once, and return its exit status. When the task is cancelled, stops the program
        first."""
        process = await asyncio.create_subprocess_exec(
            *parent_death.WHEN_WATCHED,
            *program.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # A session of its own, so that Ctrl-C reaches only this process. It is not only a process group,
            # as Linux shares processors out by session: three processes in one start at half the speed on a
            # busy machine.
            start_new_session=True,
        )
        parent_death.watch(process.pid)
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"\n")
        process.stdin.close()
        output = asyncio.create_task(self._print_output(program.name, process.stdout))
        try:
            status = await process.wait()
            await asyncio.wait([output], timeout=OUTPUT_SECONDS)
        finally:
            await self._end(program, process)
            output.cancel()
            parent_death.forget(process.pid)
        return status

    async def _end(self, program: Program, process: asyncio.subprocess.Process) -> None:
        if process.returncode is not None:
            return
        ending = asyncio.create_task(self._terminate(program, process))
        while not ending.done():
            # A program that was ended by itself may be ended again with all others meanwhile.
            with suppress(asyncio.CancelledError):
                await asyncio.shield(ending)

    async def _terminate(self, program: Program, process: asyncio.subprocess.Process) -> None:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), program.stop_seconds)
        except TimeoutError:
            self._say(f"{program.name} did not stop within {program.stop_seconds:g} s and is killed")
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _print_output(self, name: str, output: asyncio.StreamReader) -> None:
        begun = b""
        while data := await output.read(LINE_BYTES):
            *lines, begun = (begun + data).split(b"\n")
            if len(begun) > LINE_BYTES:
                lines.append(begun)
                begun = b""
            for line in lines:
                text = line.decode(errors="replace").rstrip()
                # A line of JSON stays one.
                self._print(text if text.startswith("{") else f"{name} | {text}")

    def _print(self, line: str) -> None:
        """Print what happens while the programs run; the rest is about their end, which was asked for."""
        if not self._stopped.is_set():
            self._say(line)

    async def _keep_redis_running(self, redis: EmbeddedRedis) -> None:
        """Start the server again when it ends. It is given up when it ends :data:`REDIS_ATTEMPTS` times in a
        row within :data:`REDIS_START_SECONDS`, or does not start."""
        loop = asyncio.get_running_loop()
        began, attempts = loop.time(), 0
        while True:
            while redis.process.poll() is None:
                await asyncio.sleep(REDIS_POLL_SECONDS)
            status = describe_status(redis.process.returncode)
            attempts = attempts + 1 if loop.time() - began < REDIS_START_SECONDS else 0
            if attempts >= REDIS_ATTEMPTS:
                self._stop(f"redis ends at every start ({status})", 1)
                return
            self._print(f"redis ended ({status}) and is started again")
            began = loop.time()
            try:
                await asyncio.to_thread(redis.start_again)
            except RedisDidNotStart as error:
                self._stop(f"redis ended ({status}); {error}", 1)
                return


def describe_status(status: int) -> str:
    """Return an exit status as subprocess has it: negative for a signal."""
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"
