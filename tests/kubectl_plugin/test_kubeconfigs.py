"""What is said of a kubeconfig that cannot be used, and what is read of one that can."""

import logging
import sys
from pathlib import Path
from typing import Any

import certifi
import pytest
import yaml

from schedviz.kubectl_plugin.__main__ import NO_ANSWER
from schedviz.real_cluster.kubeconfig import connect
from schedviz.real_cluster.reader import ClusterReader
from simulator.api import Manifest
from tests.kubectl_plugin.api_server import ApiServer, write_kubeconfig
from tests.kubectl_plugin.conftest import Ask

CERTIFICATE = str(Path(certifi.where()))
EXEC = "client.authentication.k8s.io/v1"


def changed(file: Path, **fields: Any) -> str:
    config = yaml.safe_load(write_kubeconfig(file, "https://127.0.0.1:1").read_text())
    file.write_text(yaml.safe_dump({**config, **fields}))
    return str(file)


@pytest.mark.parametrize(
    ("fields", "options", "said"),
    [
        ({}, ["--context", "staging"], 'no context "staging"; there are: prod'),
        ({"current-context": ""}, [], "no current context is set; choose one by --context: prod"),
        ({"contexts": []}, [], 'no context "prod"; there are: none'),
        ({"contexts": 3}, [], "not a kubeconfig"),
        ({"clusters": []}, [], 'cluster "c" was not found for context "prod"'),
        ({"users": []}, [], 'user "u" was not found for context "prod"'),
        ({"contexts": [{"name": "prod", "context": {}}]}, [], "contexts[prod].context.cluster is missing"),
        ({"clusters": [{"name": "c", "cluster": {}}]}, [], 'the cluster of the context "prod" has no server'),
        (
            {"users": [{"name": "u", "user": {"exec": {"apiVersion": EXEC, "command": "/bin/false"}}}]},
            [],
            "exec: process returned 1",
        ),
        (
            {"users": [{"name": "u", "user": {"exec": {"apiVersion": EXEC, "command": "/not/there"}}}]},
            [],
            'the plugin for credentials "/not/there" is not installed, or not in the PATH',
        ),
        (
            {"users": [{"name": "u", "user": {"client-certificate": "gone.crt", "client-key": "gone.key"}}]},
            [],
            "users[u].user.client-certificate: no such file: ",
        ),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_named(
    ask: Ask, tmp_path: Path, fields: Manifest, options: list[str], said: str
) -> None:
    file = changed(tmp_path / "config", **fields)
    status, out, err = ask("pending", "--kubeconfig", file, *options)
    assert (status, out, err.count("\n")) == (NO_ANSWER, "", 1)
    assert err.startswith(f"pending: kubeconfig {file}: ")
    assert said in err
    assert "Traceback" not in err


SERVER = {"server": "https://127.0.0.1:1"}
GARBAGE, NO_BASE64 = "Z2FyYmFnZQ==", "abc"


@pytest.mark.parametrize(
    ("cluster", "user", "said"),
    [
        ({}, {"client-certificate-data": GARBAGE}, "users[u].user.client-certificate-data: no certificate"),
        ({}, {"client-certificate": __file__}, "users[u].user.client-certificate: no certificate in PEM"),
        ({}, {"client-certificate-data": NO_BASE64}, "users[u].user.client-certificate-data: not base64"),
        ({"certificate-authority-data": GARBAGE}, {}, "clusters[c].cluster.certificate-authority-data: no c"),
        ({"certificate-authority": "/"}, {}, "clusters[c].cluster.certificate-authority: no such file: /"),
        ({}, {"client-certificate": CERTIFICATE}, "users[u].user.client-key is missing"),
        (
            {},
            {"client-certificate": CERTIFICATE, "client-key-data": GARBAGE},
            "users[u].user.client-key-data: no private key in PEM without a password",
        ),
        (
            {},
            {"auth-provider": {"name": "oidc", "config": {"client-secret": "s3cret"}}},
            "users[u].user.auth-provider.config.id-token is missing",
        ),
    ],
)
def test_a_wrong_certificate_is_named_by_its_field(
    ask: Ask, tmp_path: Path, cluster: Manifest, user: Manifest, said: str
) -> None:
    """The official client says "PEM lib", or quotes the file."""
    named = {
        "clusters": [{"name": "c", "cluster": {**SERVER, **cluster}}],
        "users": [{"name": "u", "user": user}],
    }
    file = changed(tmp_path / "config", **named)
    _, _, err = ask("pending", "--kubeconfig", file)
    assert err.startswith(f"pending: kubeconfig {file}: {said}")
    assert "s3cret" not in err


@pytest.mark.parametrize("token", ["s3cret\nx", "s3cret\u20ac"])
def test_a_token_that_no_header_may_have_is_not_quoted(ask: Ask, tmp_path: Path, token: str) -> None:
    file = changed(tmp_path / "config", users=[{"name": "u", "user": {"token": token}}])
    err = ask("pending", "--kubeconfig", file).err
    assert err == 'pending: the token of the context "prod" has characters that no header may have\n'


def test_a_token_file_may_end_with_a_line_break(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t0k\n")
    user = {"name": "u", "user": {"tokenFile": str(tmp_path / "token")}}
    reader = ClusterReader(connect(changed(tmp_path / "config", users=[user])), 1)
    assert reader._authorization() == "Bearer t0k"


@pytest.mark.parametrize("text", ["", "a: [b", "hello", "- 1", "\x00"])
def test_a_file_that_is_no_kubeconfig(ask: Ask, tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text)
    status, _, err = ask("pending", "--kubeconfig", str(tmp_path / "config"))
    assert (status, err.count("\n")) == (NO_ANSWER, 1)
    assert err.startswith(f"pending: kubeconfig {tmp_path / 'config'}: ")


def test_a_folder_is_no_kubeconfig(ask: Ask, tmp_path: Path) -> None:
    err = ask("pending", "--kubeconfig", str(tmp_path)).err
    assert err == f"pending: kubeconfig {tmp_path}: a folder, not a file\n"


def test_without_a_kubeconfig(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("pending").err == "pending: kubeconfig ~/.kube/config: no such file\n"
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    assert ask("pending").err == "pending: kubeconfig in-cluster: Service token file does not exist.\n"


def test_several_files_are_merged_and_the_first_current_context_counts(
    ask: Ask, api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = yaml.safe_load(write_kubeconfig(tmp_path / "other", "http://127.0.0.1:1").read_text())
    other["contexts"][0]["name"] = other["current-context"] = "other"
    (tmp_path / "other").write_text(yaml.safe_dump(other))
    files = [write_kubeconfig(tmp_path / "first", api_server.address), tmp_path / "other", tmp_path / "gone"]
    monkeypatch.setenv("KUBECONFIG", ":".join(map(str, files)))
    assert "(context prod)" in ask("pending").out


def test_a_plugin_gives_the_token_and_nothing_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    credential = f'{{"apiVersion": "{EXEC}", "kind": "ExecCredential", "status": {{"token": "t0k"}}}}'
    plugin = {"apiVersion": EXEC, "command": sys.executable, "args": ["-c", f"print('{credential}')"]}
    users = [{"name": "u", "user": {"exec": {**plugin, "interactiveMode": "Never"}}}]
    with caplog.at_level(logging.DEBUG):
        found = connect(changed(tmp_path / "config", users=users))
    assert found.configuration.get_api_key_with_prefix("BearerToken") == "Bearer t0k"
    assert "t0k" not in caplog.text


def test_a_plugin_is_run_again_when_its_token_has_expired(tmp_path: Path) -> None:
    program = (
        f"import json, pathlib; file = pathlib.Path({str(tmp_path / 'runs')!r}); "
        "runs = file.read_text() + 'x' if file.exists() else 'x'; file.write_text(runs); "
        f"print(json.dumps({{'apiVersion': {EXEC!r}, 'kind': 'ExecCredential', 'status': {{"
        "'token': f't0k{len(runs)}', 'expirationTimestamp': '2025-01-01T00:00:00Z'}}))"
    )
    plugin = {"apiVersion": EXEC, "command": sys.executable, "args": ["-c", program]}
    users = [{"name": "u", "user": {"exec": {**plugin, "interactiveMode": "Never"}}}]
    reader = ClusterReader(connect(changed(tmp_path / "config", users=users)), 1)
    assert [reader._authorization() for _ in range(2)] == ["Bearer t0k2", "Bearer t0k3"]


def test_credentials_of_an_address_are_sent_and_not_printed(
    ask: Ask, api_server: ApiServer, tmp_path: Path
) -> None:
    address = api_server.address.replace("//", "//me:p%40ss@")
    out = ask("pending", "--kubeconfig", str(write_kubeconfig(tmp_path / "k", address, token="t0k"))).out
    assert api_server.headers["Authorization"] == "Basic bWU6cEBzcw=="
    assert f"Read once from {api_server.address} " in out
