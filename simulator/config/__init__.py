"""KubeSchedulerConfiguration, kubescheduler.config.k8s.io/v1: read, defaulted, checked, and spread over
profiles."""

from simulator.config.configuration import ConfigError, Configuration, Profile, load

__all__ = ["ConfigError", "Configuration", "Profile", "load"]
