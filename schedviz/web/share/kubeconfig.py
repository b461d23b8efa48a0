"""Writes a kubeconfig for a sandbox."""

from urllib.parse import urlsplit

from schedviz.access.visitor import BASIC_USER
from schedviz.web.manifests.yaml import to_yaml
from simulator.api import Manifest


def kubeconfig(sandbox: str, server: str, token: str) -> str:
    """Return a kubeconfig. server: the address of the sandbox. token: "" = none is needed."""
    name = f"schedviz-{sandbox}"
    parts = urlsplit(server)
    if token and parts.scheme == "http":
        # Over plain HTTP, kubectl leaves out all that is in ``users`` (ClientConfig in
        # client-go/tools/clientcmd/client_config.go). Go's net/http sends what the address contains.
        server = parts._replace(netloc=f"{BASIC_USER}:{token}@{parts.netloc}").geturl()
    # JavaScript's official client connects by plain HTTP only with this; there is no certificate to verify.
    plain = {"insecure-skip-tls-verify": True} if parts.scheme == "http" else {}
    config: Manifest = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server, **plain}}],
        "users": [{"name": name, "user": {"token": token} if token else {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return to_yaml([config])
