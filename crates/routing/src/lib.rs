//! Mesh routing protocols: static shortest paths, AODV, DSDV.
