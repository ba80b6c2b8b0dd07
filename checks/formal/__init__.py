"""Machine-checked proofs: which theorem of ``formal/`` says what of the ledger, and what the Coq kernel says of it."""
