//! The simulator: event loop, nodes, queues, traffic, measurement.
