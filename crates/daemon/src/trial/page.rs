//! A trial's outcome in words: as text, and as a page to print.

use super::judge::{Effect, Figure, Outcome};
use super::plan::Plan;
use super::record::Block;
use crate::text::{Column, bit_rate, table, time};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A row of the table.
struct Row {
    name: String,
    cells: [String; 4],
}

/// An interval whose ends are so many times apart is one of two or three groups, and its ends say nothing.
const WIDE: f64 = 100.0;

/// Rows of goodput, fairness, delays, and of each host.
fn rows(outcome: &Outcome) -> (Vec<Row>, Vec<Row>) {
    let row = |name: &str, figure: &Option<Figure>, form: fn(f64) -> String| {
        figure.map(|figure| Row { name: name.to_owned(), cells: cells(&figure, form) })
    };
    let [half, p95, p99] = &outcome.delays;
    let all = [
        row("goodput, all hosts", &outcome.goodput, bit_rate),
        row("Jain's index of hosts", &outcome.jain, |jain| format!("{jain:.3}")),
        row("delay, median", half, time),
        row("delay, 95 %", p95, time),
        row("delay, 99 %", p99, time),
    ];
    let hosts = outcome.hosts.iter();
    let hosts = hosts.map(|(host, figure)| Row { name: host.clone(), cells: cells(figure, bit_rate) });
    (all.into_iter().flatten().collect(), hosts.collect())
}

fn cells(figure: &Figure, form: fn(f64) -> String) -> [String; 4] {
    let ratio = match figure.ratio {
        None => "takes two groups".to_owned(),
        Some([ratio, low, high]) if high > WIDE * low => format!("{ratio:.3} (too few groups)"),
        Some([ratio, low, high]) => format!("{ratio:.3} ({low:.3} to {high:.3})"),
    };
    let effect = match figure.effect() {
        Effect::More => "more",
        Effect::Less => "less",
        Effect::Undecided => "",
    };
    [form(figure.paced), form(figure.before), ratio, effect.to_owned()]
}

const HEADS: [&str; 5] = ["", "with pacing", "without", "with over without (95 %)", ""];

fn about(outcome: &Outcome, plan: &Plan, done: usize) -> String {
    let [paced, before] = outcome.blocks;
    let period = outcome.period.map_or_else(String::new, |[from, to]| {
        let at =
            |second| humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + Duration::from_secs(second));
        format!(", {} to {}", at(from), at(to))
    });
    format!(
        "{done} of {} blocks of {}{period}; with traffic {paced} with pacing and {before} without",
        plan.blocks(),
        time(plan.block().as_secs_f64())
    )
}

/// What a trial says when it begins, or goes on with block `next`: how long it takes, and what ends it.
pub(super) fn beginning(plan: &Plan, next: u64, mode: &str, file: &Path) -> String {
    let (blocks, block) = (plan.blocks(), plan.block());
    let left = time((block * blocks.saturating_sub(next)).as_secs_f64());
    format!(
        "trial: block {} of {blocks}, {} each: {left} to go. A signal ends it (Ctrl-C, a terminal that closes): the mode is {mode} then, and the same \
         command goes on with {}",
        (next + 1).min(blocks),
        time(block.as_secs_f64()),
        file.display()
    )
}

/// A block that is over, in one line.
pub(super) fn of_block(block: &Block, plan: &Plan) -> String {
    let side = if block.paced { "with" } else { "without" };
    let delay = block.delay_s.map_or_else(String::new, |[half, p95, _]| {
        format!(", delay {} (half of the data), {} (95 %)", time(half), time(p95))
    });
    let goodput = bit_rate(block.goodput_bps());
    format!("trial: block {} of {}, {side} pacing: {goodput}{delay}", block.block + 1, plan.blocks())
}

/// For a terminal.
pub(super) fn text(outcome: &Outcome, plan: &Plan, done: usize) -> String {
    let (all, hosts) = rows(outcome);
    let columns: Vec<_> =
        HEADS.iter().enumerate().map(|(at, &head)| Column { head, right: (1..4).contains(&at) }).collect();
    let line = |row: Row| [vec![row.name], row.cells.into()].concat();
    let rows: Vec<_> = all.into_iter().chain(hosts).map(line).collect();
    let table = if rows.is_empty() { String::new() } else { format!("{}\n", table(&columns, &rows)) };
    format!("{}\n\n{table}{}\n", about(outcome, plan, done), outcome.verdict())
}

/// For a printer: one file, black on white.
pub(super) fn html(outcome: &Outcome, plan: &Plan, done: usize) -> String {
    let (all, hosts) = rows(outcome);
    let body = |rows: Vec<Row>| {
        let line = |row: &Row| {
            let cells: String = row.cells.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
            format!("<tr><th>{}</th>{cells}</tr>\n", escaped(&row.name))
        };
        rows.iter().map(line).collect::<String>()
    };
    let heads: String = HEADS.iter().map(|head| format!("<th>{head}</th>")).collect();
    let mut tables =
        format!("<table><thead><tr>{heads}</tr></thead>\n<tbody>{}</tbody></table>\n", body(all));
    if !hosts.is_empty() {
        tables.push_str(&format!(
            "<h2>Goodput by host</h2>\n<table><thead><tr>{heads}</tr></thead>\n<tbody>{}</tbody></table>\n",
            body(hosts)
        ));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>A trial of pacing</title>\n<style>\n\
         body {{ font: 11pt/1.4 sans-serif; max-width: 45em; margin: 2em auto; color: #000; background: #fff }}\n\
         table {{ border-collapse: collapse; width: 100% }}\n\
         th, td {{ border-bottom: 1px solid #999; padding: 0.2em 0.6em; text-align: right }}\n\
         th:first-child {{ text-align: left; font-weight: normal }}\n\
         thead {{ display: table-header-group }}\ntr {{ break-inside: avoid }}\n</style></head><body>\n\
         <h1>A trial of pacing</h1>\n<p><strong>{}</strong></p>\n<p>{}.</p>\n{tables}\
         <p>The whole mesh with pacing and without, in blocks in an order that was drawn, as many of both in each group of {}. Intervals are over \
         the groups (Student's t of the logarithms). Goodput is what receivers of TCP acknowledged: other traffic is not counted. Delay is \
         the wait at the gateway and the wireless round trip, by TCP's data to the mesh.</p>\n</body></html>\n",
        escaped(&outcome.verdict()),
        escaped(&about(outcome, plan, done)),
        time(plan.group().as_secs_f64())
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Span;

    #[test]
    fn both_say_the_same_and_names_are_escaped() {
        let figure = Figure { paced: 1_200_000.0, before: 1_000_000.0, ratio: Some([1.2, 1.1, 1.3]) };
        let delay = Figure { paced: 0.05, before: 0.5, ratio: Some([0.1, 0.05, 0.2]) };
        let outcome = Outcome {
            blocks: [3, 3],
            goodput: Some(figure),
            jain: None,
            delays: [Some(delay); 3],
            period: Some([1_700_000_000, 1_700_003_600]),
            hosts: [("<10.1.2.3>".to_owned(), Figure { ratio: None, ..figure })].into(),
        };
        let plan = Plan::new(Span::from_secs(3_600), Span::from_secs(600), 1).unwrap();
        let text = text(&outcome, &plan, 6);
        for said in [
            "6 of 6 blocks of 10 min 0 s, 2023-11-14T22:13:20Z to 2023-11-14T23:13:20Z; with traffic",
            "1.2 Mbit/s",
            "1.200 (1.100 to 1.300)",
            "500 ms",
            "pacing pays: more goodput, sooner",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        let begins = beginning(&plan, 2, "observe", Path::new("t.jsonl"));
        assert!(begins.starts_with("trial: block 3 of 6, 10 min 0 s each: 40 min 0 s to go."), "{begins}");
        assert!(
            begins.ends_with("the mode is observe then, and the same command goes on with t.jsonl"),
            "{begins}"
        );
        let block = Block {
            block: 2,
            paced: true,
            ended_s: 0,
            looks: 9,
            hosts_bps: [("a".to_owned(), 600_000.0), ("b".to_owned(), 300_000.0)].into(),
            delay_s: Some([0.1, 0.2, 0.3]),
        };
        let said = of_block(&block, &plan);
        assert_eq!(
            said,
            "trial: block 3 of 6, with pacing: 900 kbit/s, delay 100 ms (half of the data), 200 ms (95 %)"
        );
        let idle = Block { paced: false, hosts_bps: Default::default(), delay_s: None, ..block };
        assert_eq!(of_block(&idle, &plan), "trial: block 3 of 6, without pacing: 0 bit/s");
        let wide = Figure { ratio: Some([0.572, 0.012, 26.828]), ..figure };
        assert_eq!(cells(&wide, bit_rate)[2], "0.572 (too few groups)");
        let page = html(&outcome, &plan, 6);
        assert!(
            page.contains(
                "<th>&lt;10.1.2.3&gt;</th><td>1.2 Mbit/s</td><td>1 Mbit/s</td><td>takes two groups</td>"
            ),
            "{page}"
        );
        assert!(page.contains("pacing pays") && !page.contains("Jain"), "{page}");
        assert!(page.contains("other traffic is not counted"), "{page}");
        assert!(page.contains("as many of both in each group of 1 h 0 min."), "{page}");
    }
}
