use super::tests::*;
#[test]
fn dump() {
    let text = std::fs::read_to_string(std::env::var("SC").unwrap()).unwrap();
    let s = scenario(&text);
    let (b, _) = capture(&s);
    std::fs::write(std::env::var("OUT").unwrap(), b).unwrap();
}
