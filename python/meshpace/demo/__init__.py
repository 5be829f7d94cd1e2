"""The main job: NewReno against TCP-AP and TCP-GAP on the topologies of the TCP-GAP paper."""
