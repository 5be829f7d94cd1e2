//! What editors are told.

use meshpace_keys::Kind;
use meshpace_schemes::{parameters, schema};

#[test]
fn the_schema_has_every_parameter_with_its_range_and_default() {
    let schema = schema();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), parameters().count() + 1);
    for param in parameters() {
        let property = &properties[param.name];
        assert!(
            property["description"].as_str().is_some_and(|text| text.starts_with(param.doc)),
            "{}",
            param.name
        );
        if let Kind::Choice(words) = param.kind {
            assert_eq!(property["enum"].as_array().map(Vec::len), Some(words.len()));
        }
    }
    assert_eq!(properties["gc_interval"]["default"], 5.0);
    assert_eq!(properties["gc_interval"]["anyOf"][0]["minimum"], 1e-6);
    let overhead = properties["ap_overhead_bytes"]["description"].as_str().unwrap();
    assert!(
        overhead.contains(
            "By default: tcp-ap 68, tcp-ap-ns2-2005 112, tcp-gap 68, tcp-gap-nogc 68, tcp-ap-n1 68,"
        ),
        "{overhead}"
    );
}
