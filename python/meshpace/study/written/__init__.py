"""Studies and claims as they are written: one TOML language for the papers' and everybody's (docs/studies.md)."""
