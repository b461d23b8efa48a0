"""Requests to the API as plain HTTP."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from tests.waiting import PATIENCE

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: "web:1"}]}
"""
PODS = "/api/v1/namespaces/default/pods"


def request(
    url: str, method: str = "GET", body: str | bytes | None = None, headers: Mapping[str, str] = {}
) -> tuple[int, Any]:
    """The status and the decoded body."""
    data = body.encode() if isinstance(body, str) else body
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def pod_json(**spec: Any) -> str:
    container = {"name": "main", "image": "web:1"}
    return json.dumps({"metadata": {"name": "web"}, "spec": {"containers": [container], **spec}})
