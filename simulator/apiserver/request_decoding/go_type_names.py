"""The Go types of the fields whose types upstream names: OpenAPI says no more of them than "string"."""

from typing import Final

_FIELDS: Final = {
    "types.UID": "ObjectMeta.uid ObjectReference.uid OwnerReference.uid Preconditions.uid",
    # apimachinery/pkg/apis/meta/v1/types.go
    "v1.ConditionStatus": (
        "Condition.status DaemonSetCondition.status DeploymentCondition.status JobCondition.status "
        "NodeCondition.status PersistentVolumeClaimCondition.status PodCondition.status "
        "ReplicaSetCondition.status StatefulSetCondition.status"
    ),
    "v1.DeletionPropagation": "DeleteOptions.propagationPolicy",
    "v1.LabelSelectorOperator": "LabelSelectorRequirement.operator",
    "v1.ManagedFieldsOperationType": "ManagedFieldsEntry.operation",
    # api/core/v1/types.go
    "[]v1.Capability": "Capabilities.add Capabilities.drop",
    "v1.ContainerRestartPolicy": "Container.restartPolicy EphemeralContainer.restartPolicy",
    "v1.DNSPolicy": "PodSpec.dnsPolicy",
    "[]v1.FinalizerName": "NamespaceSpec.finalizers",
    "v1.HostPathType": "HostPathVolumeSource.type",
    "[]v1.IPFamily": "ServiceSpec.ipFamilies",
    "v1.IPFamilyPolicy": "ServiceSpec.ipFamilyPolicy",
    "v1.LimitType": "LimitRangeItem.type",
    "v1.MountPropagationMode": "VolumeMount.mountPropagation",
    "v1.NamespacePhase": "NamespaceStatus.phase",
    "v1.NodeAddressType": "NodeAddress.type",
    "v1.NodeConditionType": "NodeCondition.type",
    "v1.NodeInclusionPolicy": (
        "TopologySpreadConstraint.nodeAffinityPolicy TopologySpreadConstraint.nodeTaintsPolicy"
    ),
    "v1.NodeSelectorOperator": "NodeSelectorRequirement.operator",
    "v1.OSName": "PodOS.name",
    "[]v1.PersistentVolumeAccessMode": (
        "PersistentVolumeClaimSpec.accessModes PersistentVolumeClaimStatus.accessModes "
        "PersistentVolumeSpec.accessModes"
    ),
    "v1.PersistentVolumeClaimPhase": "PersistentVolumeClaimStatus.phase",
    "v1.PersistentVolumeMode": "PersistentVolumeClaimSpec.volumeMode PersistentVolumeSpec.volumeMode",
    "v1.PersistentVolumePhase": "PersistentVolumeStatus.phase",
    "v1.PersistentVolumeReclaimPolicy": (
        "PersistentVolumeSpec.persistentVolumeReclaimPolicy StorageClass.reclaimPolicy"
    ),
    "v1.PodConditionType": "PodCondition.type PodReadinessGate.conditionType",
    "v1.PodFSGroupChangePolicy": "PodSecurityContext.fsGroupChangePolicy",
    "v1.PodPhase": "PodStatus.phase",
    "v1.PodQOSClass": "PodStatus.qosClass",
    "v1.PreemptionPolicy": "PodSpec.preemptionPolicy PriorityClass.preemptionPolicy",
    "v1.Protocol": (
        "ContainerPort.protocol EndpointPort.protocol NetworkPolicyPort.protocol ServicePort.protocol"
    ),
    "v1.PullPolicy": "Container.imagePullPolicy EphemeralContainer.imagePullPolicy",
    "v1.ResourceName": "ContainerResizePolicy.resourceName ResourceMetricSource.name",
    "[]v1.ResourceQuotaScope": "ResourceQuotaSpec.scopes",
    "v1.ResourceQuotaScope": "ScopedResourceSelectorRequirement.scopeName",
    "v1.ResourceResizeRestartPolicy": "ContainerResizePolicy.restartPolicy",
    "v1.RestartPolicy": "PodSpec.restartPolicy",
    "v1.ScopeSelectorOperator": "ScopedResourceSelectorRequirement.operator",
    "v1.SeccompProfileType": "SeccompProfile.type",
    "v1.SecretType": "Secret.type",
    "v1.ServiceAffinity": "ServiceSpec.sessionAffinity",
    "v1.ServiceExternalTrafficPolicy": "ServiceSpec.externalTrafficPolicy",
    "v1.ServiceInternalTrafficPolicy": "ServiceSpec.internalTrafficPolicy",
    "v1.ServiceType": "ServiceSpec.type",
    "v1.StorageMedium": "EmptyDirVolumeSource.medium",
    "v1.TaintEffect": "Taint.effect Toleration.effect",
    "v1.TerminationMessagePolicy": (
        "Container.terminationMessagePolicy EphemeralContainer.terminationMessagePolicy"
    ),
    "v1.TolerationOperator": "Toleration.operator",
    "v1.URIScheme": "HTTPGetAction.scheme",
    "v1.UnsatisfiableConstraintAction": "TopologySpreadConstraint.whenUnsatisfiable",
    # api/apps/v1/types.go
    "v1.DaemonSetUpdateStrategyType": "DaemonSetUpdateStrategy.type",
    "v1.DeploymentConditionType": "DeploymentCondition.type",
    "v1.DeploymentStrategyType": "DeploymentStrategy.type",
    "v1.PersistentVolumeClaimRetentionPolicyType": (
        "StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted "
        "StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled"
    ),
    "v1.PodManagementPolicyType": "StatefulSetSpec.podManagementPolicy",
    "v1.StatefulSetUpdateStrategyType": "StatefulSetUpdateStrategy.type",
    # api/batch/v1/types.go
    "v1.CompletionMode": "JobSpec.completionMode",
    "v1.ConcurrencyPolicy": "CronJobSpec.concurrencyPolicy",
    "v1.JobConditionType": "JobCondition.type",
    "v1.PodFailurePolicyAction": "PodFailurePolicyRule.action",
    "v1.PodFailurePolicyOnExitCodesOperator": "PodFailurePolicyOnExitCodesRequirement.operator",
    "v1.PodReplacementPolicy": "JobSpec.podReplacementPolicy",
    # The types of the other groups.
    "v1.AddressType": "EndpointSlice.addressType",
    "v1.FSGroupPolicy": "CSIDriverSpec.fsGroupPolicy",
    "v1.FailurePolicyType": (
        "MutatingWebhook.failurePolicy ValidatingAdmissionPolicySpec.failurePolicy "
        "ValidatingWebhook.failurePolicy"
    ),
    "v1.MatchPolicyType": (
        "MatchResources.matchPolicy MutatingWebhook.matchPolicy ValidatingWebhook.matchPolicy"
    ),
    "[]v1.OperationType": "NamedRuleWithOperations.operations RuleWithOperations.operations",
    "v1.PathType": "HTTPIngressPath.pathType",
    "[]v1.PolicyType": "NetworkPolicySpec.policyTypes",
    "v1.ReinvocationPolicyType": "MutatingWebhook.reinvocationPolicy",
    "v1.ResourceScope": "CustomResourceDefinitionSpec.scope",
    "v1.ScopeType": "NamedRuleWithOperations.scope RuleWithOperations.scope",
    "v1.SideEffectClass": "MutatingWebhook.sideEffects ValidatingWebhook.sideEffects",
    "v1.UnhealthyPodEvictionPolicyType": "PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy",
    "[]v1.ValidationAction": "ValidatingAdmissionPolicyBindingSpec.validationActions",
    "v1.VolumeBindingMode": "StorageClass.volumeBindingMode",
    "[]v1.VolumeLifecycleMode": "CSIDriverSpec.volumeLifecycleModes",
    "v2.HPAScalingPolicyType": "HPAScalingPolicy.type",
    "v2.MetricSourceType": "MetricSpec.type",
    "v2.MetricTargetType": "MetricTarget.type",
    "v2.ScalingPolicySelect": "HPAScalingRules.selectPolicy",
}

NAMED_TYPES: Final = {field: name for name, fields in _FIELDS.items() for field in fields.split()}
"""The Go types by Go struct and field: ``PodSpec.restartPolicy``."""
