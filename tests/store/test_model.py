"""After any operations a sandbox equals a dict, and its watch log leads from any state to the next."""

import uuid
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from schedviz.store import Commit, Meta, Sandbox, Store
from simulator.api import ApiError, Change
from tests.amounts import examples

json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
changes = st.lists(
    st.tuples(
        st.sampled_from(["pods", "nodes", "things.example.com"]),
        st.sampled_from(["a", "ns/b", "ns/ä c"]),
        st.none() | json,
        st.sampled_from(["create", "update", "current", "stale"]),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda change: change[:2],
)


class Model(RuleBasedStateMachine):
    store: Store
    sandbox: Sandbox

    @initialize()
    def make(self) -> None:
        self.sandbox = self.store.create(Meta(name=f"model-{uuid.uuid4().hex}"))
        self.objects: dict[tuple[str, str], tuple[int, Any]] = {}
        self.version = 0
        self.replica: dict[tuple[str, str], Any] = {}
        self.seen = 0

    @rule(wanted=changes)
    def commit(self, wanted: list[tuple[str, str, Any, str]]) -> None:
        expected_reason = None
        batch = []
        for resource, key, spec, mode in wanted:
            current = self.objects.get((resource, key), (0, None))[0]
            expected = {"create": 0, "update": None, "current": current, "stale": self.version + 1}[mode]
            batch.append(
                Change(
                    resource,
                    key,
                    None if spec is None else {"metadata": {"name": key}, "spec": spec},
                    expected,
                )
            )
            if expected_reason is None:
                if current and expected == 0:
                    expected_reason = "AlreadyExists"
                elif current and expected not in (None, current):
                    expected_reason = "Conflict"
                elif not current and (expected != 0 or spec is None):
                    expected_reason = "NotFound"
        if expected_reason:
            with pytest.raises(ApiError) as refused:
                self.sandbox.commit(Commit(batch))
            assert refused.value.reason == expected_reason
            return
        versions = self.sandbox.commit(Commit(batch))
        for change, version in zip(batch, versions, strict=True):
            self.version += 1
            assert version == self.version
            if change.object is None:
                del self.objects[change.resource, change.key]
            else:
                self.objects[change.resource, change.key] = (version, change.object["spec"])

    @rule()
    def catch_up(self) -> None:
        for event in self.sandbox.events(self.seen, count=3):
            self.seen = event.version
            if event.type == "DELETED":
                del self.replica[event.resource, event.key]
            else:
                assert (event.type == "ADDED") == ((event.resource, event.key) not in self.replica)
                self.replica[event.resource, event.key] = event.object
        if self.seen == self.version:
            assert self.replica == self.as_manifests()

    def as_manifests(self) -> dict[tuple[str, str], Any]:
        return {
            (resource, key): {"metadata": {"name": key, "resourceVersion": str(version)}, "spec": spec}
            for (resource, key), (version, spec) in self.objects.items()
        }

    @invariant()
    def lists_equal_the_dict(self) -> None:
        if not hasattr(self, "sandbox"):
            return
        collections, version = self.sandbox.list_all()
        assert version == self.version
        assert {
            (r, k): o for r, items in collections.items() for k, o in items.items()
        } == self.as_manifests()

    def teardown(self) -> None:
        if hasattr(self, "sandbox"):
            self.store.delete(self.sandbox.name)


@pytest.mark.sampled
def test_a_sandbox_equals_a_dict_after_any_operations(store: Store) -> None:
    class Machine(Model):
        pass

    Machine.store = store
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=examples(60), stateful_step_count=25, deadline=None)
    )
