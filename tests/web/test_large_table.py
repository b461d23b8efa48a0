"""The list of a kind whose columns are too large for a table."""

from django.test import Client

from schedviz.api import write
from schedviz.store import Meta, Store
from tests.apiserver.test_custom_resources import definition, widget


def test_objects_are_listed_by_name_where_their_columns_are_too_large(
    client: Client, store: Store, sandbox_name: str
) -> None:
    path = ".metadata.annotations['a']"
    columns = [{"name": f"Column {n}", "type": "string", "jsonPath": path} for n in range(1_000)]
    large = widget(size=1)
    large["metadata"]["annotations"] = {"a": "x" * 200_000}
    write.create_sandbox(store, Meta(sandbox_name, created=1_780_000_000.0), [definition(columns), large])
    answer = client.get(f"/s/{sandbox_name}/objects/widgets.example.com/")
    assert answer.status_code == 200
    assert b"/objects/widgets.example.com/default/w/" in answer.content
    assert b"Column 1" not in answer.content
    store.delete(sandbox_name)
