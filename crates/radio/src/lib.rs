//! 802.11: propagation, reception, frame times and the DCF.
