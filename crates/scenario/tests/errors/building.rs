//! Powers, error curves, what a building does, and rate control, which goes by them.

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

#[test]
fn rate_control() {
    let curve = "reception = \"sinr\", error_model = \"curve\", ";
    let chosen = "the rate of a link beside rate_control = \"ideal\"";
    for (keys, key, found, allowed) in [
        (
            "rate_control = \"minstrel\"".to_owned(),
            "radio.rate_control",
            "\"minstrel\"",
            "fixed, ideal, minstrel-ht",
        ),
        ("rate_control = \"ideal\"".to_owned(), "radio.rate_control", "\"ideal\"", "error_model = \"curve\""),
        (
            format!("{curve}rate_control = \"minstrel-ht\""),
            "radio.rate_control",
            "\"minstrel-ht\"",
            "fixed or ideal: the kernel's minstrel_ht has no groups for 802.11b",
        ),
        (
            "ideal_error = 0.2".to_owned(),
            "radio.ideal_error",
            "the key with",
            "only with rate_control = ideal",
        ),
        (
            format!("{curve}rate_control = \"ideal\", ideal_error = 1"),
            "radio.ideal_error",
            "1",
            "a number from",
        ),
        (
            format!("{curve}rate_control = \"ideal\", link_rates = [{{ from = \"n0\", rate = 1e6 }}]"),
            "radio.link_rates",
            chosen,
            "only with rate_control = \"fixed\"",
        ),
    ] {
        check(&[(3, key, found, allowed, &format!("FLOW\nCHAIN\nradio = {{ {keys} }}\n"))]);
    }
    let nodes = "node = [{ id = \"n0\", x = 0, y = 0 }, { id = \"n2\", x = 9, y = 0 }]";
    let link = format!(
        "FLOW\n{nodes}\nradio = {{ {curve}rate_control = \"ideal\" }}\nradio_link = [{{ from = \"n0\", to = \"n2\", rate = 1e6 }}]\n"
    );
    check(&[(4, "radio_link[0].rate", chosen, "only with rate_control = \"fixed\"", &link)]);
}
