"""A client that compares every answer with the OpenAPI document."""

import json
import re
from typing import Any

from django.http import HttpResponse
from django.test import Client
from jsonschema import Draft202012Validator


class DocumentedClient:
    """Requests by method and path, as JSON."""

    def __init__(self, client: Client | None = None) -> None:
        self.client = client or Client(headers={"host": "localhost"})
        self.document = json.loads(self.client.get("/api/openapi.json").content)
        self.used: set[tuple[str, str]] = set()
        """The operations that succeeded."""

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """The status and the body of the answer."""
        content = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        answer: HttpResponse = self.client.generic(method, path, **content, headers=headers)  # type: ignore[arg-type]
        found = json.loads(answer.content) if answer.content else None
        self._check(method.lower(), path.partition("?")[0], answer, found)
        return answer.status_code, found

    def _check(self, method: str, path: str, answer: HttpResponse, found: Any) -> None:
        template = next((each for each in self.document["paths"] if is_path_of(each, path)), None)
        assert template is not None, f"{path} is not documented"
        operation = self.document["paths"][template].get(method)
        if operation is None:
            assert answer.status_code == 405
            return
        responses = operation["responses"]
        response = responses.get(str(answer.status_code)) or responses["default"]
        assert (str(answer.status_code) in responses) == (answer.status_code < 400), (method, path, found)
        if answer.status_code < 400:
            self.used.add((method, template))
        if "content" not in response:
            assert found is None
            return
        schema = response["content"]["application/json"]["schema"]
        mistakes = Draft202012Validator({**schema, "components": self.document["components"]}).iter_errors(
            found
        )
        assert [f"{each.json_path}: {each.message}" for each in mistakes] == []
        assert answer.headers["Content-Type"] == "application/json"


def is_path_of(template: str, path: str) -> bool:
    pattern = re.sub(r"\{\w+\}", "[^/]+", re.escape(template).replace(r"\{", "{").replace(r"\}", "}"))
    return re.fullmatch(pattern, path) is not None
