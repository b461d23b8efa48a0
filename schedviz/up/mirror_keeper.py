"""Runs a mirroring process for each mirror that a page has connected, and offers the contexts.

The mirrors that are wanted are in Redis, so they follow again after a restart. Of contexts only the names are
there: the credentials are read by the mirroring processes.
"""

import asyncio
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from msgspec.structs import replace
from redis.exceptions import RedisError

from schedviz.processes.process_name import make_process_name
from schedviz.real_cluster.contexts import kubeconfig_files, read_contexts
from schedviz.real_cluster.errors import ClusterError
from schedviz.store import Store
from schedviz.store.connected_mirrors import ConnectedMirror, ConnectedMirrors, OfferedContexts, Phase
from schedviz.up.supervisor import Program, RunOnce, describe_status

LOOK_SECONDS: Final = 0.5
"""How often it is looked for what is wanted."""
AGAIN_SECONDS: Final = 30.0
"""The time before a mirror that has followed before is started again, where its cluster cannot be read."""
ALL: Final = "*"
NONE: Final = "-"
NOTHING_TO_MIRROR: Final = 2
"""The exit status of ``schedviz mirror`` where it says in one line why it ends."""


class MirrorKeeper:
    def __init__(self, store: Store, allowed: Collection[str]) -> None:
        """``allowed``: the contexts that may be connected; ``*`` = all of the kubeconfig, ``-`` = none."""
        self._store = store
        self._mirrors = ConnectedMirrors(store.redis)
        self._allowed = {*allowed} - {NONE}
        self._name = make_process_name()
        self._running: dict[ConnectedMirror, asyncio.Task[None]] = {}

    async def run(self, run_once: RunOnce) -> None:
        if not self._allowed:
            return
        async with asyncio.TaskGroup() as group:
            while True:
                wanted = await asyncio.to_thread(self._look)
                for mirror in self._running.keys() - wanted:
                    self._running.pop(mirror).cancel()
                for mirror in wanted:
                    if mirror not in self._running:
                        self._running[mirror] = group.create_task(self._keep(mirror, run_once))
                await asyncio.sleep(LOOK_SECONDS)

    def _look(self) -> Sequence[ConnectedMirror]:
        """Offer the contexts, and return the mirrors that are wanted of them. What runs goes on while Redis
        does not answer."""
        offered = self.offered_contexts()
        try:
            if not self._mirrors.offer(self._name, offered):
                return ()
            return [each for each in self._mirrors.wanted().values() if self._allows(each.context)]
        except RedisError:
            return [*self._running]

    def offered_contexts(self) -> OfferedContexts:
        try:
            names, current = read_contexts(kubeconfig_files())
        except ClusterError as failure:
            return OfferedContexts(fault=str(failure))
        return OfferedContexts(sorted(filter(self._allows, names), key=lambda name: name != current), current)

    def _allows(self, context: str) -> bool:
        return ALL in self._allowed or context in self._allowed

    async def _keep(self, mirror: ConnectedMirror, run_once: RunOnce) -> None:
        while True:
            status = await self._run_once(mirror, run_once)
            if not await asyncio.to_thread(self._goes_on, mirror, status):
                return
            await asyncio.sleep(AGAIN_SECONDS)

    async def _run_once(self, mirror: ConnectedMirror, run_once: RunOnce) -> int:
        command = [
            sys.executable,
            "-m",
            "schedviz",
            "mirror",
            "--connected",
            f"--name={mirror.name}",
            f"--context={mirror.context}",
        ]
        if mirror.namespaces:
            command.append(f"--namespaces={','.join(mirror.namespaces)}")
        await asyncio.to_thread(self._note, mirror, "")
        return await run_once(Program(f"mirror {mirror.name}", command))

    def _goes_on(self, mirror: ConnectedMirror, status: int) -> bool:
        """Note that the process has ended; return whether it is started again."""
        if status != NOTHING_TO_MIRROR:
            self._note(mirror, f"the mirroring process ended ({describe_status(status)})")
            return True
        try:
            has_followed = self._mirrors.progress(mirror.name).has_followed
            if has_followed and not self._store.exists(mirror.name):
                self._mirrors.disconnect(mirror.name)
                return False
        except RedisError:
            return True
        return has_followed

    def _note(self, mirror: ConnectedMirror, ended: str) -> None:
        """Note that a process begins, or why it has ended. Without Redis nobody reads it either."""
        with suppress(RedisError):
            known = self._mirrors.progress(mirror.name)
            phase: Phase = "ended" if ended else "connecting"
            self._mirrors.note(mirror.name, replace(known, phase=phase, message=ended))
