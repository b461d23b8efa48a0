"""The status controller of ValidatingAdmissionPolicies
(pkg/controller/validatingadmissionpolicystatus/controller.go, v1.34): it warns of expressions whose types are
not those of the matched kinds."""

from simulator.api import Manifest
from simulator.apiserver.generation import GENERATION
from simulator.apiserver.policies.request import POLICIES
from simulator.apiserver.policies.type_checking import expression_warnings
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
            warnings = expression_warnings(current["spec"])
            checked = {"expressionWarnings": warnings} if warnings else {}
            return with_status(current, observedGeneration=generation, typeChecking=checked)

        self.patch(POLICIES, manifest, observed)
