"""What the command says where there is nothing to mirror: one line, and no traceback."""

import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from schedviz.store.connected_mirrors import mirror_name
from schedviz.up.management.commands.mirror import NO_MIRROR
from tests.kubectl_plugin.api_server import Answer, refusal, serving, write_kubeconfig
from tests.kubectl_plugin.small_cluster import NODES, PODS, small_cluster


def said(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """The one line of the command, which ends."""
    with pytest.raises(SystemExit) as ended:
        call_command("mirror", *options)
    assert ended.value.code == NO_MIRROR
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


@pytest.mark.parametrize(
    ("path", "answer", "line"),
    [
        (PODS, refusal(403, "jane cannot"), "mirror: no permission to list pods: jane cannot"),
        (NODES, refusal(403, "jane cannot"), "mirror: no permission to list nodes: jane cannot"),
        ("/version", refusal(401, "no"), 'not accept the credentials of the context "prod" (401)'),
        ("/version", Answer(500, b"<html>"), ": /version: HTTP 500\n"),
        ("/version", Answer(200, b"<html>"), "not that of a Kubernetes API server"),
    ],
)
def test_a_cluster_that_refuses(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, path: str, answer: Answer, line: str
) -> None:
    with serving(small_cluster()) as server:
        server.answers[path] = answer
        assert line in said(capsys, "--kubeconfig", str(write_kubeconfig(tmp_path / "k", server.address)))


def test_a_server_that_hangs_is_not_there_or_speaks_no_tls(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def of(address: str) -> str:
        file = write_kubeconfig(tmp_path / "k", address)
        return said(capsys, "--kubeconfig", str(file), "--request-timeout", "200ms")

    with serving(small_cluster()) as server:
        server.hanging = NODES
        assert of(server.address) == f"mirror: {server.address}: no answer within 0.2 s\n"
        https = server.address.replace("http:", "https:")
        assert of(https) == f"mirror: {https}: what answers does not speak TLS\n"
    assert of("http://127.0.0.1:1") == "mirror: http://127.0.0.1:1: no connection: Connection refused\n"


def test_a_kubeconfig_or_an_option_that_is_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(write_kubeconfig(tmp_path / "k", "https://127.0.0.1:1"))
    assert 'no context "x"; there are: prod' in said(capsys, "--kubeconfig", file, "--context", "x")
    bare = str(write_kubeconfig(tmp_path / "bare", "127.0.0.1:1"))
    assert "has neither http:// nor https://: 127.0.0.1:1" in said(capsys, "--kubeconfig", bare)
    (tmp_path / "words").write_text("hello")
    assert said(capsys, "--kubeconfig", str(tmp_path / "words")).endswith("words: not a kubeconfig\n")
    assert "no such file" in said(capsys, "--kubeconfig", str(tmp_path / "gone"))
    assert "--request-timeout" in said(capsys, "--kubeconfig", file, "--request-timeout", "0s")
    assert "'Bank' is no name of a namespace" in said(capsys, "--kubeconfig", file, "--namespaces", "Bank")
    with pytest.raises(CommandError):
        call_command("mirror", "--writes", "x")
    assert os.environ["REDIS_URL"], "it would join, and starts nothing"


@pytest.mark.parametrize(
    ("context", "name"),
    [
        ("arn:aws:eks:eu-west-1:123:cluster/Prod", "arn-aws-eks-eu-west-1-123-cluster-prod"),
        ("kind-kind", "kind-kind"),
        ("集群", "mirror"),
        ("x" * 70, "x" * 63),
    ],
)
def test_the_name_of_a_context(context: str, name: str) -> None:
    assert mirror_name(context) == name
