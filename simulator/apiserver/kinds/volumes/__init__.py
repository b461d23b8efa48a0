"""PersistentVolumes, their claims, and the sources of volumes, which pods have, too."""
