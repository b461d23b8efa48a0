"""Why, and what if: the smallest single changes that would let a pending pod run, why a bound pod went where
it went, and what would have saved an evicted one. Whatever is said here was tried on the model itself."""
