"""What the texts of Kubernetes mean: reasons of the scheduler, conditions, events; and remedies."""
