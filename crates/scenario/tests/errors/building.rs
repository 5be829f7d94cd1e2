//! Powers, error curves and what a building does.

use super::check;

#[test]
fn powers_and_curves() {
    let log = "propagation = \"log-distance\", ";
    for (keys, key, found, allowed) in [
        (
            format!("{log}tx_power = 6, cs_sensitivity = -92"),
            "radio.cs_sensitivity",
            "cs_sensitivity without sensitivity",
            "together",
        ),
        (format!("{log}sensitivity = -84"), "radio.sensitivity", "sensitivity without tx_power", "together"),
        (
            format!("{log}tx_power = \"6dBm\", sensitivity = -84, cs_sensitivity = -92, tx_range = 30"),
            "radio.tx_range",
            "30 beside sensitivity",
            "sensitivities or ranges",
        ),
        (
            format!("{log}tx_power = 6, sensitivity = -92, cs_sensitivity = -84"),
            "radio.cs_sensitivity",
            "-84",
            "at most radio.sensitivity = -92 dBm",
        ),
        (
            format!("{log}tx_power = 6, sensitivity = -30, cs_sensitivity = -92"),
            "radio.sensitivity",
            "-30",
            "below -34.2 dBm, what arrives 1 m away",
        ),
        (format!("{log}tx_power = 61"), "radio.tx_power", "61", "a power from -50 dBm to 60 dBm"),
        ("tx_power = 6".to_owned(), "radio.tx_power", "the key with", "only with propagation = log-distance"),
        (
            "error_model = \"curve\"".to_owned(),
            "radio.error_model",
            "the key with",
            "only with reception = sinr",
        ),
        (
            "reception = \"sinr\", error_model = \"curve\", sinr_threshold_db = 9".to_owned(),
            "radio.sinr_threshold_db",
            "9 beside error_model = \"curve\"",
            "only with error_model = \"threshold\"",
        ),
    ] {
        check(&[(3, key, found, allowed, &format!("FLOW\nCHAIN\nradio = {{ {keys} }}\n"))]);
    }
}

#[test]
fn buildings() {
    let path = "flow = [{ from = \"n0\", to = \"n2\", path = [\"n0\", \"n1\", \"n2\"] }]\nCHAIN\nrouting.protocol = \"static\"\n";
    check(&[
        (
            3,
            "radio.asymmetry_db",
            "-1",
            "a ratio in dB from 0 dB",
            "FLOW\nCHAIN\nradio = { asymmetry_db = -1 }\n",
        ),
        (
            3,
            "radio.ceiling_db",
            "the key with propagation = \"ranges\"",
            "two-ray, log-distance",
            "FLOW\nCHAIN\nradio = { propagation = \"ranges\", ceiling_db = 15 }\n",
        ),
        (3, "radio.storey", "0", "a length from", "FLOW\nCHAIN\nradio = { storey = 0 }\n"),
        (
            3,
            "radio.link_margin_db",
            "a margin of no link",
            "with a [[flow]] that has a path",
            "FLOW\nCHAIN\nradio = { link_margin_db = 3 }\n",
        ),
        (
            4,
            "radio.link_margin_db",
            "20 dB, which the link of \"n0\" and \"n1\" never has",
            "less, nodes nearer together, or more power",
            &format!("{path}radio = {{ link_margin_db = 20 }}\n"),
        ),
        (
            4,
            "radio.link_margin_db",
            "whose ends move",
            "\"static\"",
            &format!(
                "{path}radio = {{ link_margin_db = 1 }}\nmobility = {{ model = \"random-waypoint\" }}\n"
            ),
        ),
        (
            3,
            "radio.fading_db",
            "fading of links whose ends move",
            "mobility.model = \"static\"",
            "FLOW\nCHAIN\nradio = { fading_db = 2 }\nmobility = { model = \"random-waypoint\" }\n",
        ),
        (3, "radio.fading_time", "0", "a time from 0.001 s", "FLOW\nCHAIN\nradio = { fading_time = 0 }\n"),
        (
            3,
            "radio.gain_spread_db",
            "no node has a place",
            "only with x and y",
            "node = [{ id = \"n0\" }, { id = \"n2\" }]\nFLOW\nradio = { gain_spread_db = 2 }\nradio_link = [{ from = \"n0\", to = \"n2\" }]\n",
        ),
    ]);
}
