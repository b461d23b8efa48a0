"""The values of the fields that take one of a fixed set. Validation lets them through, and the OpenAPI
documents list them.

Each is a string type of Kubernetes' Go packages with the tag ``+enum`` (k8s.io/api/*/types.go, v1.34). They
are in the order in which the messages of validation write them.
"""

from typing import Final

# core/v1: containers
PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
SCHEMES: Final = ("HTTP", "HTTPS")
PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
PROC_MOUNTS: Final = ("Default", "Unmasked")
PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
"""The types of profiles of seccomp and of AppArmor."""
_NAMED_SIGNALS: Final = """
SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL
SIGPROF SIGPWR SIGQUIT SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1
SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ SIGRTMIN SIGRTMAX
"""
STOP_SIGNALS: Final = (
    *_NAMED_SIGNALS.split(),
    *(f"SIGRTMIN+{number}" for number in range(1, 16)),
    *(f"SIGRTMAX-{number}" for number in range(1, 15)),
)

# core/v1: pods
RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
GROUP_CHANGE_POLICIES: Final = ("Always", "OnRootMismatch")
GROUPS_POLICIES: Final = ("Merge", "Strict")
POD_PHASES: Final = ("Failed", "Pending", "Running", "Succeeded", "Unknown")
QOS_CLASSES: Final = ("BestEffort", "Burstable", "Guaranteed")

# core/v1: where pods may run
NODE_OPERATORS: Final = ("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn")
TAINT_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
TOLERATION_OPERATORS: Final = ("Equal", "Exists")
WHEN_UNSATISFIABLE: Final = ("DoNotSchedule", "ScheduleAnyway")
NODE_POLICIES: Final = ("Honor", "Ignore")
NODE_PHASES: Final = ("Pending", "Running", "Terminated")

# core/v1: volumes
ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")
RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
VOLUME_PHASES: Final = ("Available", "Bound", "Failed", "Pending", "Released")
CLAIM_PHASES: Final = ("Bound", "Lost", "Pending")
CLAIM_RESOURCE_STATUSES: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)
MODIFY_STATUSES: Final = ("InProgress", "Infeasible", "Pending")
HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
DISK_CACHING_MODES: Final = ("None", "ReadOnly", "ReadWrite")
DISK_KINDS: Final = ("Dedicated", "Managed", "Shared")

# core/v1: services, namespaces, quotas
SERVICE_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
AFFINITIES: Final = ("ClientIP", "None")
TRAFFIC_POLICIES: Final = ("Cluster", "Local")
IP_FAMILIES: Final = ("IPv4", "IPv6")
IP_FAMILY_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
NAMESPACE_PHASES: Final = ("Active", "Terminating")
QUOTA_SCOPES: Final = (
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "PriorityClass",
    "Terminating",
    "VolumeAttributesClass",
)
SCOPE_OPERATORS: Final = ("DoesNotExist", "Exists", "In", "NotIn")

# apps/v1
DEPLOYMENT_STRATEGIES: Final = ("Recreate", "RollingUpdate")
UPDATE_STRATEGIES: Final = ("RollingUpdate", "OnDelete")
"""The update strategies of DaemonSets and StatefulSets."""
POD_MANAGEMENT_POLICIES: Final = ("OrderedReady", "Parallel")

# batch/v1
COMPLETION_MODES: Final = ("NonIndexed", "Indexed")
REPLACEMENT_POLICIES: Final = ("Failed", "TerminatingOrFailed")
FAILURE_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
EXIT_CODE_OPERATORS: Final = ("In", "NotIn")
CONCURRENCY_POLICIES: Final = ("Allow", "Forbid", "Replace")

# admissionregistration.k8s.io/v1
FAILURE_POLICIES: Final = ("Fail", "Ignore")
MATCH_POLICIES: Final = ("Equivalent", "Exact")
OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
REINVOCATION_POLICIES: Final = ("IfNeeded", "Never")
SCOPES: Final = ("*", "Cluster", "Namespaced")
SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
VALIDATION_ACTIONS: Final = ("Audit", "Deny", "Warn")

# certificates.k8s.io/v1
KEY_USAGES: Final = (
    *("signing", "digital signature", "content commitment", "key encipherment", "key agreement"),
    *("data encipherment", "cert sign", "crl sign", "encipher only", "decipher only", "any"),
    *("server auth", "client auth", "code signing", "email protection", "s/mime", "ipsec end system"),
    *("ipsec tunnel", "ipsec user", "timestamping", "ocsp signing", "microsoft sgc", "netscape sgc"),
)

# discovery.k8s.io/v1, networking.k8s.io/v1, policy/v1, storage.k8s.io/v1, resource.k8s.io/v1
ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
POLICY_TYPES: Final = ("Ingress", "Egress")
EVICTION_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")
BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")
DEVICE_TAINT_EFFECTS: Final = ("NoExecute", "NoSchedule")
