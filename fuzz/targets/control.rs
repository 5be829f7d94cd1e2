//! What clients send: lines to the control socket, requests for metrics. In whatever pieces they come, the same is read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpaced::control::Filter;
use meshpaced::control::protocol::Request;
use meshpaced::flow_name::find_flow;
use meshpaced::foreign::{REQUEST_MAX, requests, scrape};

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = input;
    let whole = requests(bytes, usize::MAX);
    assert_eq!(whole, requests(bytes, usize::from(size)), "pieces of {size} bytes");
    for (line, request) in &whole {
        assert!(line.len() <= REQUEST_MAX && !line.contains(&b'\n'));
        let Some(request) = request else { continue };
        // What was understood is understood again.
        let again = serde_json::to_vec(request).unwrap_or_else(|why| panic!("{request:?}: {why}"));
        assert_eq!(serde_json::from_slice::<Request>(&again).ok().as_ref(), Some(request));
        match request {
            Request::Flows { filter: Some(text), .. } => {
                if let Err(why) = Filter::parse(text) {
                    assert!(!why.is_empty() && !why.contains(char::is_control), "{why:?}");
                }
            }
            Request::Flow { flow } => {
                let why = find_flow(flow, &std::iter::empty()).expect_err("there are no flows");
                assert!(!why.contains(char::is_control), "{why:?}");
            }
            _ => {}
        }
    }
    let asked = scrape(bytes, usize::MAX);
    assert_eq!(asked, scrape(bytes, usize::from(size)), "pieces of {size} bytes");
    if let Some((path, _)) = asked {
        assert!(path.starts_with('/') && !path.contains([' ', '?', '\r']), "{path:?}");
    }
});
