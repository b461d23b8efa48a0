"""Each limit, for programs, pages and websockets; and a class behind one address, which is admitted."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from schedviz.api import views, write
from schedviz.api.admitted_write import SandboxStorage
from schedviz.api.from_scenario import names_to_delete
from schedviz.limit_settings import DEFAULTS, LimitName
from schedviz.limits import pools, rates
from schedviz.limits.buckets import Buckets
from schedviz.limits.open_counts import SOCKETS, WATCHES
from schedviz.limits.pools import POOLS
from schedviz.limits.rates import count_request
from schedviz.limits.requester import Requester, find_requester
from schedviz.live.viewer import TRY_AGAIN_LATER
from schedviz.metrics.server import REFUSED
from schedviz.request_handler import WAITING
from schedviz.rooms.room import MEMBERS_AT_MOST, What
from schedviz.rooms.room_store import Rooms
from schedviz.store import LimitReached, Meta, Sandbox, Store, commit_script
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.imports.take import PLACES, SECONDS, TakenCluster, read_dump
from schedviz.web.limits import RequestWork
from simulator.api import Admission
from simulator.apiserver.status import Forbidden
from simulator.kernel.work import (
    REQUEST_WORK,
    Abandoned,
    OutOfWork,
    Waiting,
    check_waiting,
    limit_work,
    measure_work,
    spend_work,
)
from tests.access.conftest import Scene, new_client
from tests.dumps import as_list, cluster
from tests.lessons.uploaded import FILES
from tests.live.test_viewers import Socket
from tests.loop.conftest import node, pod
from tests.processes import ROOT
from tests.waiting import PATIENCE

Limits = dict[LimitName, int]
OUTSIDE = "203.0.113.7"


def refusals(limit: LimitName) -> float:
    return REFUSED.labels(limit)._value.get()


@pytest.fixture
def outside() -> Client:
    """A client that is not on this machine."""
    return Client(headers={"host": "localhost"}, REMOTE_ADDR=OUTSIDE)


def test_a_program_is_refused_as_kube_apiserver_refuses_it(
    limits: Limits, outside: Client, sandbox: Sandbox
) -> None:
    limits["MAX_REQUESTS_PER_SECOND_PER_ADDRESS"] = 1
    path, before = f"/s/{sandbox.name}/api/v1/pods", refusals("MAX_REQUESTS_PER_SECOND_PER_ADDRESS")
    assert [outside.get(path).status_code for _ in range(11)] == [200] * 10 + [429]
    answer = outside.get(path)
    status = json.loads(answer.content)
    assert answer.headers["Retry-After"] == "1"
    assert {"kind": "Status", "status": "Failure", "reason": "TooManyRequests", "code": 429}.items() <= (
        status.items()
    )
    assert status["details"] == {"retryAfterSeconds": 1}
    assert "MAX_REQUESTS_PER_SECOND_PER_ADDRESS is 1" in status["message"]
    assert refusals("MAX_REQUESTS_PER_SECOND_PER_ADDRESS") == before + 2
    assert outside.get("/healthz").status_code == 200
    assert new_client().get(path).status_code == 200, "from this machine"
    assert Client(REMOTE_ADDR="203.0.113.8", headers={"host": "localhost"}).get(path).status_code == 200


def test_a_page_and_htmx_say_so(limits: Limits, outside: Client) -> None:
    limits["MAX_REQUESTS_PER_SECOND"] = 1
    for _ in range(10):
        assert outside.get("/ideas/").status_code == 200
    page = outside.get("/ideas/")
    assert (page.status_code, page.headers["Retry-After"]) == (429, "1")
    text = "There are too many requests. Try again in 1 s."
    assert f"<p>{text}</p>" in page.content.decode()
    said = outside.get("/ideas/", headers={"HX-Request": "true", "Accept-Language": "zh-hans"})
    assert said.status_code == 429
    assert said.content.decode() == unquote(said.headers["X-Trouble"]) == "请求过多。请在 1 秒后重试。"


def test_requests_for_one_sandbox_do_not_count_for_others(
    limits: Limits, outside: Client, sandbox: Sandbox
) -> None:
    limits["MAX_REQUESTS_PER_SECOND_PER_SANDBOX"] = 1
    path = f"/s/{sandbox.name}/api/v1/pods"
    assert [outside.get(path).status_code for _ in range(11)] == [200] * 10 + [429]
    assert outside.get("/ideas/").status_code == 200


def test_an_invalid_name_of_a_sandbox_uses_no_memory(limits: Limits, outside: Client) -> None:
    limits["MAX_REQUESTS_PER_SECOND_PER_SANDBOX"] = 1
    for name in ("x" * 64, "X", "a%20b", "-"):
        assert outside.get(f"/s/{name}/api/v1/pods").status_code == 404
    assert not rates.BUCKETS["MAX_REQUESTS_PER_SECOND_PER_SANDBOX"]._buckets


def test_owners_count_for_themselves(limits: Limits, scene: Scene) -> None:
    limits["MAX_REQUESTS_PER_SECOND_PER_OWNER"] = 1
    path = f"/s/{scene.own}/api/v1/pods"
    owner, other = scene.clients["owner"], scene.clients["another owner"]
    assert [owner.get(path).status_code for _ in range(11)] == [200] * 10 + [429]
    assert other.get("/ideas/").status_code == 200


def test_a_learner_counts_alone_however_many_are_behind_the_address(
    limits: Limits,
    scene: Scene,
) -> None:
    limits["MAX_REQUESTS_PER_SECOND_PER_ADDRESS"] = 1
    limits["MAX_REQUESTS_PER_SECOND_PER_OWNER"] = 2
    learner, path = scene.clients["learner"], f"/s/{scene.room}/api/v1/pods"
    assert learner.get(path, REMOTE_ADDR=OUTSIDE).status_code == 200
    for _ in range(20):
        scene.clients["stranger"].get("/ideas/", REMOTE_ADDR=OUTSIDE)
    assert scene.clients["stranger"].get("/ideas/", REMOTE_ADDR=OUTSIDE).status_code == 429
    assert [learner.get(path, REMOTE_ADDR=OUTSIDE).status_code for _ in range(21)] == [200] * 20 + [429]


@pytest.mark.long
def test_a_class_of_110_works_in_one_room_from_one_address(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the limits as they are by default, and no time for the buckets to fill again after the joins:
    each learner has a sandbox, a websocket, and 60 requests in the first minute."""
    for limit in rates.BUCKETS:
        monkeypatch.setitem(rates.BUCKETS, limit, Buckets(clock=lambda: 0.0))
    rooms = Rooms(store)
    room, _ = rooms.create("Monday", What("scenario", "online-vs-offline"), "own", 3600)
    address, leave = "203.0.113.9", []
    for number in range(1, MEMBERS_AT_MOST + 1):
        learner = Client(headers={"host": "localhost"}, REMOTE_ADDR=address)
        for path in ("/rooms/", f"/rooms/{room.code}/"):
            assert learner.get(path).status_code == 200
        joined = learner.post(f"/rooms/{room.code}/", {"name": f"learner {number}"})
        assert joined.status_code == 302, joined.content.decode()[-500:]
        name = f"room-{room.code.lower()}-{number}"
        assert joined["Location"] == f"/s/{name}/", "each has a sandbox"
        assert learner.get(f"/s/{name}/version").status_code == 200
        requester = find_requester(
            {key: morsel.value for key, morsel in learner.cookies.items()}, "", address, ""
        )
        leave.append(SOCKETS.enter(pools.SOCKETS.shares(requester, name)))
        for _ in range(60):
            count_request(requester, name)
        assert requester.address == "", "its requests count for itself"
    for each in leave:
        each()
    for number in range(1, MEMBERS_AT_MOST + 1):
        store.delete(f"room-{room.code.lower()}-{number}")


def test_the_pools_count_by_address_also_for_members_of_rooms(
    limits: Limits, scene: Scene, store: Store, sandbox_name: str
) -> None:
    """Everybody can open a room and be its member."""
    limits["MAX_ROOMS_PER_ADDRESS"] = 1
    learner = scene.clients["learner"]
    learner.get(f"/s/{scene.room}/api/v1/pods", REMOTE_ADDR=OUTSIDE)
    form = {"what": "course:", "mode": "own", "minutes": "60"}
    for client, status in ((learner, 302), (scene.clients["stranger"], 429)):
        made = client.post("/rooms/new/", form, REMOTE_ADDR=OUTSIDE)
        assert made.status_code == status
    text = "There are as many rooms as one network address may have. Try again in 60 min."
    assert text in made.content.decode()
    assert 3500 < int(made.headers["Retry-After"]) <= 3600, "then the room ends"
    assert scene.clients["stranger"].post("/rooms/new/", form, REMOTE_ADDR="203.0.113.8").status_code == 302

    limits["MAX_SANDBOXES_PER_ADDRESS"] = 1
    address = "203.0.113.11"
    answers: list[HttpResponse] = []
    for suffix in ("-2", "-3"):
        client = Client(headers={"host": "localhost"}, REMOTE_ADDR=address)
        answers.append(client.post("/sandboxes/", {"name": sandbox_name + suffix}))
    assert [answer.status_code for answer in answers] == [302, 429]
    assert "Retry-After" not in answers[1].headers, "nobody knows when one is deleted"
    assert "as many sandboxes as one network address may have" in answers[1].content.decode()
    store.delete(sandbox_name + "-2")


def test_the_oldest_of_the_address_that_has_most_goes_first() -> None:
    many = [Meta(f"m{number}", created=100.0 + number) for number in range(4)]
    few = [Meta("old", created=1.0), Meta("f", created=99.0)]
    groups = {meta.name: "many" for meta in many} | {meta.name: "few" for meta in few}
    deleted = names_to_delete([*few, *many], 150.0, kept_seconds=100.0, at_most=3, groups=groups)
    assert deleted == ["old", "m0", "m1"]


def test_each_pool_is_in_the_table_of_the_document() -> None:
    text = (ROOT / "docs/SETTINGS.md").read_text().partition("## Pools")[2].partition("\n## ")[0]
    rows = [re.findall(r"`(MAX_\w+)`", line) for line in text.splitlines() if line.startswith("| ")]
    assert {tuple(row) for row in rows if row} == {tuple(name for name in pool[:3] if name) for pool in POOLS}


def test_each_import_counts_for_who_asks(limits: Limits, store: Store, tmp_path: Path) -> None:
    """In all processes together."""
    limits["MAX_IMPORTS_PER_OWNER"] = 1
    (tmp_path / "dump.json").write_text(as_list(cluster()))

    def read(owner: str) -> AbstractContextManager[TakenCluster]:
        return read_dump(tmp_path / "dump.json", pools.IMPORTS.shares(Requester(owner, OUTSIDE)))

    with read("ada"):
        with pytest.raises(LimitExceeded, match="MAX_IMPORTS_PER_OWNER") as refused, read("ada"):
            pytest.fail("there is no place")
        assert 0 < refused.value.retry_after_seconds <= SECONDS
        with read("bo"):
            assert store.redis.zcard(PLACES) == 2
    with read("ada"):
        pass


def test_sandboxes_are_limited_by_owner_and_by_address(
    limits: Limits,
    scene: Scene,
    store: Store,
    outside: Client,
    sandbox_name: str,
) -> None:
    limits["MAX_SANDBOXES_PER_OWNER"] = 1
    refused = scene.clients["owner"].post("/sandboxes/", {"name": sandbox_name + "-2"})
    assert refused.status_code == 429
    assert "You have as many sandboxes as one person may have." in refused.content.decode()
    allowed = scene.clients["another owner"].post("/sandboxes/", {"name": sandbox_name + "-3"})
    assert allowed.status_code == 302
    store.delete(sandbox_name + "-3")

    limits["MAX_SANDBOXES_PER_MINUTE_PER_ADDRESS"] = 1
    made: list[HttpResponse] = [outside.post("/ideas/none/example/") for _ in range(2)]
    assert [answer.status_code for answer in made] == [404, 429]
    assert made[1].headers["Retry-After"] == "60"
    text = "Too many sandboxes were created within a minute. Try again in 60 s."
    assert text in made[1].content.decode()


def test_uploads_are_limited_and_those_with_mistakes_are_not_counted(
    limits: Limits, outside: Client, store: Store
) -> None:
    limits["MAX_UPLOADS_PER_DAY_PER_ADDRESS"] = 1
    wrong = {**FILES, "lesson.yaml": FILES["lesson.yaml"].replace(b"minutes: 4", b"minutes: 0")}

    def upload(files: Mapping[str, bytes]) -> HttpResponse:
        posted = [SimpleUploadedFile(name, data) for name, data in files.items()]
        answer: HttpResponse = outside.post("/lesson-upload/", {"files": posted})
        return answer

    made = [upload(files) for files in (wrong, FILES, FILES)]
    assert [answer.status_code for answer in made] == [422, 302, 429]
    assert made[2].headers["Retry-After"] == "86400"
    assert "Too many lessons were uploaded today. Try again in 1440 min." in made[2].content.decode()


def test_questions_are_limited(limits: Limits, outside: Client, sandbox: Sandbox) -> None:
    limits["MAX_QUESTIONS_PER_MINUTE_PER_ADDRESS"] = 1
    path = f"/s/{sandbox.name}/pods/default/none/whatif/"
    asked = [outside.post(path, {"do": "ask"}) for _ in range(2)]
    assert [answer.status_code for answer in asked] == [302, 429]
    assert "Too many questions were asked within a minute." in asked[1].content.decode()
    assert outside.post(path, {"do": "stop"}).status_code == 302, "to stop is no question"


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ("nodes", "a sandbox may hold 2 nodes"),
        ("pods", "a sandbox may hold 2 pods"),
        ("bytes", "a sandbox may hold 0 MB: its objects as JSON, its watch log and its archive"),
    ],
)
def test_nodes_pods_and_bytes_of_a_sandbox_are_limited(
    store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, limit: str, text: str
) -> None:
    objects = [(node if limit == "nodes" else pod)(name) for name in ("a", "b", "c")]
    write.create(sandbox, objects[:2])
    stored = sandbox.stored_bytes()
    assert stored.objects == stored.log > 0
    monkeypatch.setitem(commit_script.LIMITS, limit, stored.all + 10 if limit == "bytes" else 2)
    with pytest.raises(Forbidden, match=text):
        write.create(sandbox, objects[2:])
    resource = "nodes" if limit == "nodes" else "pods"
    assert len(sandbox.list(resource).items) == 2


def test_watches_and_websockets_are_counted_by_who_and_for_what(limits: Limits) -> None:
    ada, bo = Requester("ada", OUTSIDE), Requester("bo", OUTSIDE)
    for counts, pool, kind in ((WATCHES, pools.WATCHES, "WATCHES"), (SOCKETS, pools.SOCKETS, "SOCKETS")):
        for part, at_most, others in (
            ("_PER_OWNER", 1, (bo, "one")),
            ("_PER_SANDBOX", 1, (ada, "two")),
            ("_PER_ADDRESS", 1, (Requester("ada", "203.0.113.8"), "one")),
            ("", 1, None),
        ):
            name: LimitName = f"MAX_{kind}{part}"  # type: ignore[assignment] # one of them
            limits[name] = at_most
            leave = counts.enter(pool.shares(ada, "one"))
            with pytest.raises(LimitExceeded, match=name):
                counts.enter(pool.shares(ada, "one"))
            if others:
                counts.enter(pool.shares(*others))()
            leave()
            counts.enter(pool.shares(ada, "one"))()
            limits[name] = 0
        assert not counts._open, "nothing is left of those that were closed"


async def test_a_websocket_beyond_the_limit_is_closed(limits: Limits, sandbox: Sandbox) -> None:
    limits["MAX_SOCKETS_PER_SANDBOX"] = 1
    before = refusals("MAX_SOCKETS_PER_SANDBOX")
    sockets = [Socket(sandbox) for _ in range(2)]
    for socket in sockets:
        socket.scope["client"] = (OUTSIDE, 1)
        await socket.connect()
    assert (await sockets[1].receive_output(PATIENCE))["code"] == TRY_AGAIN_LATER
    assert refusals("MAX_SOCKETS_PER_SANDBOX") == before + 1
    await sockets[1].send_input({"type": "websocket.disconnect", "code": 1001})
    await sockets[0].frame()
    await sockets[0].disconnect()
    again = Socket(sandbox)
    again.scope["client"] = (OUTSIDE, 1)
    await again.connect()
    await again.frame()
    await again.disconnect()


def test_the_table_in_the_document_has_each_limit_with_its_default_and_a_reason() -> None:
    text = (ROOT / "docs/OPERATIONS.md").read_text()
    rows = re.findall(r"^\| `(MAX_\w+)` \| (\d+) \| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    assert {name: int(default) for name, default, *_ in rows} == DEFAULTS
    assert len(rows) == len(DEFAULTS)
    assert all(reason.strip() for *_, reason in rows)


def test_limits_of_the_store_are_counted_too(store: Store) -> None:
    before = refusals("MAX_SANDBOXES")
    LimitReached("MAX_SANDBOXES", "full")
    assert refusals("MAX_SANDBOXES") == before + 1


def test_the_work_of_a_request_is_bounded() -> None:
    def respond(_: HttpRequest) -> HttpResponse:
        spend_work(REQUEST_WORK)
        with pytest.raises(OutOfWork):
            spend_work(1)
        return HttpResponse()

    assert RequestWork(respond)(HttpRequest()).status_code == 200
    assert "schedviz.web.limits.RequestWork" in settings.MIDDLEWARE
    spend_work(REQUEST_WORK + 1)  # nothing is counted outside of a request


@pytest.mark.parametrize(
    ("method", "path", "ends"),
    [
        ("GET", "/s/x/", True),
        ("POST", "/s/x/paste/", False),
        ("POST", "/s/x/api/v1/namespaces/default/pods", True),
        ("DELETE", "/s/x/api/v1/namespaces/default/pods", True),
        ("POST", "/bring/", True),
    ],
)
def test_an_act_of_a_page_is_carried_out_whole_and_all_else_ends_with_its_client(
    method: str, path: str, ends: bool
) -> None:
    waiting = Waiting()

    def respond(request: HttpRequest) -> HttpResponse:
        spend_work(1)
        waiting.has_ended = True
        for step in (lambda: spend_work(1), check_waiting):
            with pytest.raises(Abandoned) if ends else nullcontext(), limit_work(10):
                step()
        with measure_work(10):
            spend_work(1)  # what is kept for others is done for them, too
        return HttpResponse()

    request = RequestFactory().generic(method, path)
    request.scope = {WAITING: waiting}  # type: ignore[attr-defined]  # as an ASGI request has it
    assert RequestWork(respond)(request).status_code == 200


def test_a_deletion_of_many_ends_between_two_objects(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    write.create(sandbox, [pod(name) for name in ("a", "b", "c")])
    waiting, store = Waiting(), SandboxStorage.store

    def store_and_disconnect(storage: SandboxStorage, admitted: Admission) -> Sequence[int]:
        waiting.has_ended = True
        return store(storage, admitted)

    monkeypatch.setattr(SandboxStorage, "store", store_and_disconnect)
    request = RequestFactory().delete("/")
    with pytest.raises(Abandoned), limit_work(waiting=waiting):
        views.api(request, sandbox.name, "api/v1/namespaces/default/pods")
    assert [each["metadata"]["name"] for each in sandbox.list("pods").items] == ["b", "c"]
