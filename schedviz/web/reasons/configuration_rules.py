"""The part of the table of fault_rules.py for a KubeSchedulerConfiguration, a scenario and feature gates.

Upstream's texts are those of pkg/scheduler/apis/config/validation and of component-base/featuregate; the
others are those of :mod:`simulator.config` and :mod:`simulator.scenario`.
"""

from typing import Final

from django.utils.translation import gettext_noop

_DURATION: Final = gettext_noop("“%(value)s” is not a duration. Write it as 400ms, 12s or 1m30s.")
_UNIQUE: Final = gettext_noop("The name is there twice. Each must be different.")

CONFIGURATION: Final[tuple[tuple[str, str], ...]] = (
    # Numbers and durations.
    (
        r"must be greater than or equal to PodInitialBackoffSeconds",
        gettext_noop("“%(value)s” is too small: it must be at least podInitialBackoffSeconds."),
    ),
    (r"not in valid range", gettext_noop("“%(value)s” is too small or too large for this field.")),
    (
        r"invalid BindTimeoutSeconds, should not be a negative value",
        gettext_noop("“%(value)s” is too small: it must be 0 or more."),
    ),
    (r"must be at least 1 second", gettext_noop("“%(value)s” is too short: it must be at least 1s.")),
    (
        r"must be more than nothing and at most (?P<most>\S+)",
        gettext_noop("“%(value)s” must be more than 0 and at most %(most)s."),
    ),
    (r"""(?P<value>'.*'|".*") is not a duration; write .*""", _DURATION),
    (r"""(?P<value>'.*'|".*") is longer than a year""", gettext_noop("“%(value)s” is longer than a year.")),
    (
        r"cannot be zero at the same time as (?P<other>\w+)",
        gettext_noop("This field and %(other)s cannot both be 0."),
    ),
    # Plugins.
    (
        r"plugin '(?P<plugin>[^']*)' does not exist",
        gettext_noop("There is no plugin “%(plugin)s”. Check its spelling, also small and capital letters."),
    ),
    (
        r"plugin '(?P<plugin>[^']*)' does not extend (?P<point>\w+) plugin",
        gettext_noop("The plugin “%(plugin)s” does not implement the extension point %(point)s."),
    ),
    (r"plugin '(?P<plugin>[^']*)' is already registered", _UNIQUE),
    (r"no such plugins: (?P<plugins>.*)", gettext_noop("There are no such plugins: %(plugins)s.")),
    (r"one plugin is needed, got \d+", gettext_noop("Exactly one plugin is needed here.")),
    (r"at least one plugin is needed", gettext_noop("At least one plugin is needed here.")),
    (
        r"must be the same for all profiles: they share one queue",
        gettext_noop("The plugin must be the same in all profiles: they share one queue."),
    ),
    # Arguments of plugins.
    (r"Invalid enum value .*", gettext_noop("“%(value)s” is not one of the allowed values.")),
    (r"duplicate value|duplicate extender managed resource name", _UNIQUE),
    (
        r"at least one point must be specified",
        gettext_noop("At least one point is needed here, with its utilization and its score."),
    ),
    (
        r"utilization values must be sorted in increasing order",
        gettext_noop("The utilization of each point must be larger than that of the point before."),
    ),
    (
        r"when \.defaultingType is System, \.defaultConstraints must be empty",
        gettext_noop("Constraints of your own need defaultingType: List."),
    ),
    (
        r"constraint must not define a selector, as they deduced for each pod",
        gettext_noop("A default constraint has no labelSelector: the scheduler makes it for each pod."),
    ),
    (
        r"duplicate topologyKey and whenUnsatisfiable",
        gettext_noop("An earlier constraint has the same topologyKey and whenUnsatisfiable."),
    ),
    (
        r"must have at least one node selector term",
        gettext_noop("At least one node selector term is needed here."),
    ),
    (
        r"requires feature gates (?P<gate>\w+) and (?P<other>\w+)",
        gettext_noop("This needs two feature gates: %(gate)s and %(other)s."),
    ),
    (
        r"unexpected field `\w+`: the (?P<gate>\w+) feature is off",
        gettext_noop("This needs the feature gate %(gate)s."),
    ),
    # Extenders.
    (
        r"must be an http or https URL",
        gettext_noop("“%(value)s” is not an address that begins with http:// or https://."),
    ),
    (
        r"must have a positive weight applied to it",
        gettext_noop("An extender with prioritizeVerb needs a weight of 1 or more."),
    ),
    (
        r"not supported: certificates are those that this machine trusts",
        gettext_noop("This is not supported: the certificates are those that this machine trusts."),
    ),
    (
        r"must be an extended resource: .*",
        gettext_noop(
            "“%(value)s” is not an extended resource: its name has a domain that is not kubernetes.io, as "
            "example.com/gpu."
        ),
    ),
    (
        r"found \d+ extenders implementing bind: .*",
        gettext_noop("Only one extender may have a bindVerb."),
    ),
    (
        r"(?P<url>.+) is not on a host that may be called",
        gettext_noop("“%(url)s” is not on a host that may be called. The operator sets these hosts."),
    ),
    # Feature gates and versions.
    (
        r"unrecognized feature gate: (?P<gate>.*)",
        gettext_noop("There is no feature gate “%(gate)s” in this version of Kubernetes."),
    ),
    (
        r"cannot set feature gate (?P<gate>\w+) to \w+, feature is locked to (?P<locked>\w+)",
        gettext_noop(
            "The feature gate %(gate)s is always %(locked)s in this version of Kubernetes. It cannot be set."
        ),
    ),
    (
        r"(?P<gate>\w+): pod groups are modelled as v1\.36 has them, not as \S+",
        gettext_noop("The feature gate %(gate)s is there only with Kubernetes v1.36."),
    ),
    (
        r"(?P<gate>\w+) is enabled, but depends on features that are disabled: \[(?P<gates>[^]]*)\]",
        gettext_noop("The feature gate %(gate)s needs these, too: %(gates)s."),
    ),
    (
        r"missing bool value for (?P<gate>.*)|invalid value of (?P<gate2>[^=]*)=.*",
        gettext_noop("Write the feature gate “%(gate)s” as %(gate)s=true or %(gate)s=false."),
    ),
    (
        r"must be a mapping of names to true or false",
        gettext_noop("Write each feature gate on a line, as name: true or name: false."),
    ),
    (
        r'Kubernetes "(?P<version>.*)" is not modelled; choose (?P<choices>.*)',
        gettext_noop("There is no version “%(version)s” here. Choose one of these: %(choices)s."),
    ),
    (
        (
            r'no matches for kind "(?P<kind>[^"]*)" in version "[^"]*"; it needs Kubernetes (?P<version>\S+) '
            r"with the feature gate (?P<gate>\w+)"
        ),
        gettext_noop("“%(kind)s” needs Kubernetes %(version)s with the feature gate %(gate)s."),
    ),
    (
        r'no matches for kind "(?P<kind>[^"]*)" in version "[^"]*"; switch the feature gate (?P<gate>\w+) on',
        gettext_noop("“%(kind)s” needs the feature gate %(gate)s, which is off."),
    ),
    # Sandboxes and scenarios.
    (
        r"there may be \d+ sandboxes: delete one first",
        gettext_noop("There are as many sandboxes as this server may have. Delete one first."),
    ),
    (
        r"a sandbox's name is at most 63 of .*",
        gettext_noop(
            "The name of a sandbox has at most 63 small letters (a-z), digits and “-”, and a letter or digit "
            "first and last."
        ),
    ),
    (
        r"the first document must be of kind Scenario, apiVersion (?P<group>\S+)",
        gettext_noop("The first document must have kind: Scenario and apiVersion: %(group)s."),
    ),
    (
        r"the name of copies must end with a number",
        gettext_noop("The name must end with a number, from which the copies are counted: node-1."),
    ),
)
