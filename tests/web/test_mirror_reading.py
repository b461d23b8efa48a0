"""What a mirror does not read and assumes, in the language of the page."""

from collections.abc import Iterator

import pytest
from django.utils.translation import override

from schedviz.kubectl_plugin.assumptions import Assumptions, name_gates
from schedviz.mirror.session import ELSEWHERE, NO_ROOM
from schedviz.real_cluster.cluster import UNKNOWN_VERSION
from schedviz.real_cluster.errors import Refused
from schedviz.real_cluster.read_resources import FOLLOWED, say_elsewhere, say_unread
from schedviz.web.text import mirror_reading
from simulator.versions.features import read_features

GANGS = read_features("v1.36.2", {"GenericWorkload": True, "GangScheduling": True})


def unread() -> Iterator[str]:
    yield from (ELSEWHERE, NO_ROOM, "12 invalid objects in all")
    for resource, unknown in FOLLOWED.items():
        yield say_elsewhere(resource, unknown)
        yield f"shop: {say_unread(resource, Refused('no', 403), unknown)}"
        yield say_unread(resource, Refused("no", 404), unknown)


def assumed() -> Iterator[str]:
    configurations = (
        "its default configuration",
        "the configuration of the ConfigMap kube-system/scheduler:config.yaml",
        "the configuration /etc/scheduler.yaml",
    )
    reached = [(True, False, False), (False, True, False), (False, False, True), (False, False, False)]
    gates = [name_gates(GANGS, given=g, reached=r, served=s) for g, r, s in reached]
    for version in ("v1.36.2", "v1.31.4", UNKNOWN_VERSION):
        for configuration in configurations:
            for named in gates:
                yield from Assumptions(
                    "prod",
                    "https://10.0.0.1",
                    version,
                    "v1.36.2",
                    configuration,
                    named,
                    kubelets={"v1.33": 2},
                ).of_scheduler()


@pytest.mark.parametrize("language", ["zh-hans", "de"])
def test_each_line_of_the_mirroring_process_is_translated(language: str) -> None:
    with override(language):
        for line in unread():
            said = mirror_reading.say_unread(line)
            assert said != line
            assert not any(each in said for each in FOLLOWED.values()), said
        for line in assumed():
            said = mirror_reading.say_assumed(line)
            assert said != line
            assert "default" not in said
            assert "the feature gates" not in said


def test_what_is_no_known_sentence_stays_as_it_is() -> None:
    with override("zh-hans"):
        assert mirror_reading.say_unread("Pod default/a: spec: unknown field") == (
            "Pod default/a: spec: unknown field"
        )
