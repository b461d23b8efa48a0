"""Each limit, for programs, pages and websockets; and a class behind one address, which is admitted."""

import json
import re
from collections.abc import Mapping
from urllib.parse import unquote

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest, HttpResponse
from django.test import Client

from schedviz.api import write
from schedviz.limit_settings import DEFAULTS, LimitName
from schedviz.limits import rates
from schedviz.limits.exceeded import LimitExceeded
from schedviz.limits.open_counts import SOCKETS, WATCHES
from schedviz.limits.requester import Requester
from schedviz.live.viewer import TRY_AGAIN_LATER
from schedviz.metrics.server import REFUSED
from schedviz.rooms.room import What
from schedviz.rooms.room_store import Rooms
from schedviz.store import LimitReached, Sandbox, Store, commit_script
from schedviz.store.keys import Keys
from schedviz.web.limits import RequestWork
from simulator.apiserver.status import Forbidden
from simulator.kernel.work import REQUEST_WORK, OutOfWork, spend_work
from tests.access.conftest import Scene, new_client
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


def test_a_class_of_100_joins_in_a_minute_from_one_address(store: Store) -> None:
    """With the limits as they are by default."""
    rooms = Rooms(store)
    room, _ = rooms.create("Monday", What("scenario", "online-vs-offline"), "own", 3600)
    for number in range(100):
        learner = Client(headers={"host": "localhost"}, REMOTE_ADDR="203.0.113.9")
        for path in ("/rooms/", f"/rooms/{room.code}/"):
            assert learner.get(path).status_code == 200
        joined = learner.post(f"/rooms/{room.code}/", {"name": f"learner {number}"})
        assert joined.status_code == 302, joined.content.decode()[-500:]
        assert learner.get(f"/rooms/{room.code}/me/").status_code in (200, 302)


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
        ("bytes", "the objects of a sandbox may have 0 MB as JSON"),
    ],
)
def test_nodes_pods_and_bytes_of_a_sandbox_are_limited(
    store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, limit: str, text: str
) -> None:
    objects = [(node if limit == "nodes" else pod)(name) for name in ("a", "b", "c")]
    write.create(sandbox, objects[:2])
    stored = int(store.redis.hget(Keys.of(sandbox.name).state, "bytes") or 0)
    monkeypatch.setitem(commit_script.LIMITS, limit, stored + 10 if limit == "bytes" else 2)
    with pytest.raises(Forbidden, match=text):
        write.create(sandbox, objects[2:])
    resource = "nodes" if limit == "nodes" else "pods"
    assert len(sandbox.list(resource).items) == 2


def test_watches_and_websockets_are_counted_by_who_and_for_what(limits: Limits) -> None:
    ada, bo = Requester("ada", OUTSIDE), Requester("bo", OUTSIDE)
    for counts, kind in ((WATCHES, "WATCHES"), (SOCKETS, "SOCKETS")):
        for part, at_most, others in (
            ("_PER_OWNER", 1, (bo, "one")),
            ("_PER_SANDBOX", 1, (ada, "two")),
            ("_PER_ADDRESS", 1, (Requester("ada", "203.0.113.8"), "one")),
            ("", 1, None),
        ):
            name: LimitName = f"MAX_{kind}{part}"  # type: ignore[assignment] # one of them
            limits[name] = at_most
            leave = counts.enter(ada, "one")
            with pytest.raises(LimitExceeded, match=name):
                counts.enter(ada, "one")
            if others:
                counts.enter(*others)()
            leave()
            counts.enter(ada, "one")()
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
