"""Evidence for the ledger, one module for each group of claims; each has a function ``evidence(claims)``."""
