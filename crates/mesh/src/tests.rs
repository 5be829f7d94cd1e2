//! What only the inside of the simulator shows.

mod leaks;
