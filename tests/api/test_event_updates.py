"""Updates of Events: in events.k8s.io/v1 only the series may change; in v1 everything may."""

import json
from typing import Any

from .asking import request

CORE = "/api/v1/namespaces/default/events"
NEW = "/apis/events.k8s.io/v1/namespaces/default/events"
EVENT: dict[str, Any] = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "e.1"},
    "eventTime": "2024-01-01T00:00:00.000000Z",
    "reportingController": "example.com/c",
    "reportingInstance": "i",
    "action": "a",
    "reason": "r",
    "type": "Normal",
    "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
}
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
IMMUTABLE = "field is immutable"


def patch(url: str, changes: Any) -> tuple[int, str]:
    code, answer = request(url, "PATCH", json.dumps(changes), MERGE)
    return code, answer.get("message", "") if code != 200 else ""


def test_only_the_series_of_a_new_event_changes(url: str) -> None:
    assert request(url + NEW, "POST", json.dumps(EVENT))[0] == 201
    prefix = 'Event "e.1" is invalid: '
    about = (
        '{"Kind":"Pod","Namespace":"default","Name":"q","UID":"","APIVersion":"","ResourceVersion":"",'
        '"FieldPath":""}'
    )
    causes = [
        f"involvedObject: Invalid value: {about}: {IMMUTABLE}",
        f'message: Invalid value: "n": {IMMUTABLE}',
        f"count: Invalid value: 3: {IMMUTABLE}",
    ]
    changes: dict[str, Any] = {"regarding": {"name": "q"}, "note": "n", "deprecatedCount": 3}
    assert patch(f"{url}{NEW}/e.1", changes) == (422, f"{prefix}[{', '.join(causes)}]")
    causes = [
        'series.count: Invalid value: "": should be at least 2',
        "series.lastObservedTime: Required value",
        f'reportingInstance: Invalid value: "j": {IMMUTABLE}',
    ]
    changes = {"reportingInstance": "j", "series": {"count": 1}}
    assert patch(f"{url}{NEW}/e.1", changes) == (422, f"{prefix}[{', '.join(causes)}]")
    series = {"count": 2, "lastObservedTime": "2024-01-01T00:00:01.000000Z"}
    assert patch(f"{url}{NEW}/e.1", {"series": series}) == (200, "")
    assert patch(f"{url}{CORE}/e.1", {"message": "n", "count": 3, "series": {"count": 1}}) == (200, "")


def test_an_event_is_applied_in_the_newer_version(url: str) -> None:
    path = f"{url}{NEW}/e.1?fieldManager=me"
    code, created = request(path, "PATCH", json.dumps(EVENT), APPLY)
    assert (code, created["reason"]) == (201, "r")
    code, refused = request(path, "PATCH", json.dumps({**EVENT, "note": "n"}), APPLY)
    assert (code, refused["message"]) == (
        422,
        f'Event "e.1" is invalid: message: Invalid value: "n": {IMMUTABLE}',
    )
    other = {**EVENT, "metadata": {"name": "e.2"}, "type": "Odd"}
    code, refused = request(f"{url}{NEW}/e.2?fieldManager=me", "PATCH", json.dumps(other), APPLY)
    assert (code, refused["message"]) == (
        422,
        'Event "e.2" is invalid: type: Invalid value: "": has invalid value: Odd',
    )
