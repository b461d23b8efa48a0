"""The real kubectl against a sandbox: the sections of the transcripts, and the commands that do not end."""

import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.amounts import long_but_first
from tests.chart import CHART, default_values
from tests.kubectl.transcript import Section, Shell, Step, difference, read_sections

SECTIONS = read_sections()
IDS = [section.name.replace(" ", "-") for section in SECTIONS]


@pytest.mark.parametrize("section", SECTIONS, ids=IDS)
def test_kubectl_prints_what_the_transcript_says(shell: Shell, section: Section) -> None:
    wrong = [difference(step, shell.run(step.command)) for step in section.steps]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.parametrize("name", long_but_first(["describe", "taint", "patch"]))
def test_an_older_kubectl_prints_the_same(older_shell: Shell, name: str) -> None:
    """Of what did not change."""
    section = next(each for each in SECTIONS if each.name == name)
    wrong = [difference(step, older_shell.run(step.command)) for step in section.steps]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.parametrize("section", SECTIONS, ids=IDS)
def test_a_section_is_about_the_command_that_it_names(section: Section) -> None:
    command = re.compile(rf"\bkubectl (-\S+ \S+ )*{section.name}\b")
    assert any(command.search(step.command) for step in section.steps)


@contextmanager
def running(shell: Shell, *arguments: str) -> Iterator[Iterator[str]]:
    """kubectl, and the lines that it prints."""
    process = shell.start(*arguments)
    assert process.stdout is not None
    try:
        yield (line.rstrip("\n") for line in process.stdout)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def test_a_watch_prints_each_change(shell: Shell) -> None:
    shell.run("kubectl run before --image=web:1 --labels=watched=yes")
    with running(shell, "get", "pod", "-l", "watched=yes", "-w", "--output-watch-events") as lines:
        assert next(lines).split() == ["EVENT", "NAME", "READY", "STATUS", "RESTARTS", "AGE"]
        assert next(lines).split()[:2] == ["ADDED", "before"]
        shell.run("kubectl run watched --image=web:1 --labels=watched=yes")
        changes = (line.split() for line in lines if " watched " in line)
        assert next(changes)[:4] == ["ADDED", "watched", "0/1", "Pending"]
        assert any(change[:4] == ["MODIFIED", "watched", "1/1", "Running"] for change in changes)
        shell.run("kubectl delete pod watched --wait=false")
        assert any(change[:4] == ["MODIFIED", "watched", "1/1", "Terminating"] for change in changes)
        assert any(change[:2] == ["DELETED", "watched"] for change in changes)


def test_a_proxy_forwards_requests(shell: Shell) -> None:
    with running(shell, "proxy", "--port=0", "--append-server-path") as lines:
        address = next(lines).rpartition(" ")[2]
        with urllib.request.urlopen(f"http://{address}/api/v1/nodes/node-1") as answer:
            assert b'"name":"node-1"' in answer.read()


def test_helm_installs_upgrades_rolls_back_and_uninstalls_a_chart(shell: Shell) -> None:
    namespace = "--namespace=charts"
    for command, says in (
        (f"install viz {CHART} {namespace} --create-namespace", "STATUS: deployed"),
        (f"upgrade viz {CHART} {namespace} --set web.replicas=3", "REVISION: 2"),
        (f"rollback viz 1 {namespace}", "Rollback was a success"),
        (f"history viz {namespace}", "Rollback to 1"),
        (f"status viz {namespace}", "==> v1/Deployment"),
        (f"uninstall viz {namespace} --wait --timeout=60s", 'release "viz" uninstalled'),
    ):
        printed = shell.run(f"helm {command}")
        if command.startswith("rollback"):
            replicas = "kubectl get -n charts deployment viz-web -o jsonpath={.spec.replicas}"
            assert shell.run(replicas) == str(default_values()["web"]["replicas"])
        assert says in printed, printed


def test_helm_installs_a_chart_whose_hook_is_a_job(shell: Shell) -> None:
    printed = shell.run("helm install hooked hooked --namespace=hooks --create-namespace --timeout 60s")
    assert "STATUS: deployed" in printed, printed
    assert shell.run("kubectl get -n hooks configmap,job -o name") == "configmap/after-the-hook"


@pytest.mark.parametrize(
    ("printed", "fits"),
    [
        ("NAME   AGE\nweb    5s", True),
        ("NAME  AGE\nweb   10m", True),
        ("NAME   AGE\nother  5s", False),
        ("NAME   AGE\nweb    5s\n[1]", False),
        ("", False),
    ],
)
def test_an_output_is_compared_up_to_white_space_and_dots(printed: str, fits: bool) -> None:
    step = Step("kubectl get pods", "NAME   AGE\nweb    ...\n")
    assert (difference(step, printed) == "") == fits
