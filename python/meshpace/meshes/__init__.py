"""Real meshes as scenarios: what others' tools say of nodes and links."""
