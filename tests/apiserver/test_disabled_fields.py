"""Fields whose feature gate is off by default are dropped, as kube-apiserver v1.34 does."""

from typing import Any

from simulator.apiserver.admission import admit
from simulator.apiserver.new_cluster import bootstrap
from simulator.apiserver.overlay import CreatedObjects


def stored(manifest: dict[str, Any]) -> dict[str, Any]:
    admission = admit([manifest], CreatedObjects(bootstrap(0)), 0, source="test")
    found = admission.changes[0].object
    assert found is not None
    return found


def test_a_pod_loses_the_fields_of_disabled_features() -> None:
    main = {
        "name": "main",
        "image": "nginx",
        "restartPolicy": "OnFailure",
        "restartPolicyRules": [{"action": "Restart"}],
        "lifecycle": {"stopSignal": "SIGUSR1"},
        "volumeMounts": [{"name": "picture", "mountPath": "/a"}, {"name": "empty", "mountPath": "/b"}],
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "hostnameOverride": "other",
            "containers": [main],
            "initContainers": [{"name": "sidecar", "image": "envoy", "restartPolicy": "Always"}],
            "volumes": [
                {"name": "picture", "image": {"reference": "art:1"}},
                {"name": "empty", "emptyDir": {}},
            ],
        },
    }
    spec = stored(pod)["spec"]
    kept = spec["containers"][0]
    assert "hostnameOverride" not in spec
    assert not {"restartPolicy", "restartPolicyRules", "lifecycle"} & kept.keys()
    assert [mount["name"] for mount in kept["volumeMounts"]] == ["empty"]
    assert [volume["name"] for volume in spec["volumes"]] == ["empty"]
    assert spec["initContainers"][0]["restartPolicy"] == "Always"


def test_a_stateful_set_loses_the_number_of_pods_that_may_be_unavailable() -> None:
    labels = {"app": "web"}
    stateful_set = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"hostnameOverride": "other", "containers": [{"name": "main", "image": "nginx"}]},
            },
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}},
        },
    }
    spec = stored(stateful_set)["spec"]
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert "hostnameOverride" not in spec["template"]["spec"]
