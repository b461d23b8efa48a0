"""The ResourceQuota admission plugin, the last one: it charges what a request creates or enlarges to the
quotas of the namespace. What counts is in ``quota/``.

Upstream: apiserver/pkg/admission/plugin/resourcequota/admission.go.
"""

from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes


class ResourceQuota(AdmissionPlugin):
    name = "ResourceQuota"

    def does_handle(self, request: Attributes) -> bool:
        return request.resource.namespaced

    def validate(self, request: Attributes) -> None:
        request.quotas.charge(request.resource, request.object, request.old, request.subresource)
