"""The status controller of ValidatingAdmissionPolicies
(pkg/controller/validatingadmissionpolicystatus/controller.go, v1.34).

Simplified: it does not know the types of fields, so it never warns of an expression."""

from simulator.api import Manifest
from simulator.apiserver.generation import GENERATION
from simulator.apiserver.policies.request import POLICIES
from simulator.controllers.controller import Controller
from simulator.objects.status import status_of, with_status


class PolicyStatusController(Controller):
    component = "ValidatingAdmissionPolicyStatus"
    resource = POLICIES
    watches = (POLICIES,)

    def sync(self, key: str, manifest: Manifest) -> None:
        def observed(current: Manifest) -> Manifest:
            generation = current["metadata"].get(GENERATION, 0)
            if generation <= status_of(current).get("observedGeneration", 0):
                return current
            return with_status(current, observedGeneration=generation, typeChecking={})

        self.patch(POLICIES, manifest, observed)
