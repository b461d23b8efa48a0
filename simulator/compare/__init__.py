"""The same workload under two schedulers, side by side."""
