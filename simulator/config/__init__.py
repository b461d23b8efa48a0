"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): decoding, defaults, validation, and merging
into profiles. :func:`simulator.plugins.registry.load` loads a configuration with all registered plugins."""

from simulator.config.configuration import ConfigError, Configuration, Profile

__all__ = ["ConfigError", "Configuration", "Profile"]
