"""The CPU time of a bulk of pods at the speed ``max``, by process: of the requests that create them, of the
worker that binds them, of Redis, and of the frames that show them. ``python -m tests.programs.measure_bulk``.

All of them run in this process, one after the other, with a Redis of their own. So other work on the machine
has little influence on the figures, and ``--profile`` shows where the time goes. The numbers are in
docs/BENCHMARKS.md.
"""

import argparse
import cProfile
import pstats
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast, get_args

from tests.conftest import PASSWORD, PORT  # first: it says where Redis is, before the settings are read

# isort: split
import django

django.setup()

import psutil  # noqa: E402 (as above)
from django.test import Client  # noqa: E402

from schedviz.api import write  # noqa: E402
from schedviz.cache import default_caches  # noqa: E402
from schedviz.loop import clock  # noqa: E402
from schedviz.loop.driver import Driver  # noqa: E402
from schedviz.loop.presence import Presence  # noqa: E402
from schedviz.loop.wakes import Wakes  # noqa: E402
from schedviz.processes.garbage import look_for_garbage_less_often  # noqa: E402
from schedviz.store import Sandbox, Store  # noqa: E402
from schedviz.up.embedded_redis import EmbeddedRedis, lock  # noqa: E402
from schedviz.web.page.screen import DEFAULT  # noqa: E402
from schedviz.web.page.screens import screens_of  # noqa: E402
from simulator.apiserver.bounds import MAX_DOCUMENTS  # noqa: E402
from simulator.simulation import Simulation  # noqa: E402
from tests.programs.load.meter import cpu_seconds  # noqa: E402
from tests.programs.load.options import CREATED  # noqa: E402
from tests.programs.load.site import WorkloadKind, create_sandbox, pod, workload  # noqa: E402

PARTS = ("create", "bind", "frames")
LINES = 70
"""The number of lines of a profile."""


class Bulk:
    def __init__(self, store: Store, redis: int, profiled: str) -> None:
        """redis: the id of its process. profiled: the part whose profile is taken."""
        self.milliseconds: defaultdict[str, float] = defaultdict(float)
        self.profile = cProfile.Profile(time.thread_time)
        self._store = store
        self._redis = psutil.Process(redis)
        self._profiled = profiled
        self._client = Client(headers={"host": "localhost"})

    @contextmanager
    def measured(self, part: str) -> Iterator[None]:
        before, began = cpu_seconds(self._redis), time.process_time()
        if part == self._profiled:
            self.profile.enable()
        yield
        if part == self._profiled:
            self.profile.disable()
        self.milliseconds[part] += 1e3 * (time.process_time() - began)
        self.milliseconds[f"{part}, Redis"] += 1e3 * (cpu_seconds(self._redis) - before)

    def run(self, nodes: int, pods: int, created: str) -> None:
        sandbox = create_sandbox(self._store, "bulk", nodes)
        clock.set_speed(sandbox, clock.MAX)
        cache = default_caches().follow("bulk")
        cache.refresh()
        screens = screens_of(cache)
        presence = Presence(self._store, "here")
        presence.beat()
        wakes = Wakes(self._store)
        leader = Driver(self._store, wakes, presence, Simulation)

        def one_slice() -> None:
            presence.beat()
            with self.measured("bind"):
                leader.slice("bulk", wakes.due.mark("bulk").order)

        def one_frame() -> None:
            with self.measured("frames"):
                cache.refresh()
                screens.update(cache)
                screens.draw({"en": {DEFAULT}})

        one_slice()
        one_frame()
        self.milliseconds.clear()
        self.profile.clear()
        self._create(sandbox, pods, created)
        frames = 0
        while sum(map(len, screens._live.picture.by_node.values())) < pods:
            one_slice()
            one_frame()
            frames += 1
        print(f"{frames} frames of {pods} pods")
        default_caches().unfollow(cache)

    def _create(self, sandbox: Sandbox, pods: int, created: str) -> None:
        if created in get_args(WorkloadKind):
            with self.measured("create"):
                write.create(sandbox, [workload(cast(WorkloadKind, created), pods)])
        elif created == "together":
            for first in range(0, pods, MAX_DOCUMENTS):
                manifests = [
                    pod(f"pod-{number}") for number in range(first, min(first + MAX_DOCUMENTS, pods))
                ]
                with self.measured("create"):
                    write.create(sandbox, manifests)
        else:
            address = "/s/bulk/api/v1/namespaces/default/pods"
            for number in range(pods):
                manifest = pod(f"pod-{number}")
                with self.measured("create"):
                    answer = self._client.post(address, manifest, content_type="application/json")
                assert answer.status_code == 201, answer.content


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--pods", type=int, default=2_000)
    parser.add_argument("--created", choices=CREATED, default="singly", help="as those of the load program")
    parser.add_argument("--profile", choices=PARTS, default="", help="also where the time of a part goes")
    options = parser.parse_args()
    look_for_garbage_less_often()  # as in a worker and in a web process
    with tempfile.TemporaryDirectory() as folder, lock(Path(folder)) as held:
        redis = EmbeddedRedis.start(Path(folder), held, PORT, PASSWORD)
        store = Store(redis.url)
        bulk = Bulk(store, redis.process.pid, options.profile)
        bulk.run(options.nodes, options.pods, options.created)
        store.close()
        redis.stop()
    for name, milliseconds in bulk.milliseconds.items():
        print(f"{name:20} {milliseconds / options.pods:8.3f} ms of CPU time for each pod")
    if options.profile:
        for order in ("tottime", "cumulative"):
            pstats.Stats(bulk.profile).sort_stats(order).print_stats(LINES)


if __name__ == "__main__":
    main()
