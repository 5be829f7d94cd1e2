"""What the five papers measured, as studies with claims: a folder a paper."""
