//! `top` on a screen. Everything important is shown by words and signs, never by colour alone. Only bold and reverse video
//! are used, so the screen reads the same on any terminal and to any eye.

use super::hosts;
use super::model::Model;
use crate::control::SortKey;
use crate::control::protocol::{Flow, Guard, Status};
use crate::flows::{rate, treatment};
use crate::text::{UNKNOWN, bit_rate, count, digits, or_unknown, time};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Table, TableState, Wrap};

/// Below this width the column of the wired round trip gives way to the flows' names.
pub(super) const WIDE: u16 = 96;
/// A flow that has data on their way and a goodput below this part of the mean is marked with `!`.
const STARVING: f64 = 0.5;

const HELP: &str = "\
up, down, j, k     move; page up, page down, home, end
Enter, e           explain the flow's rate, and back
s, S (right, left) sort by the next or previous column
r                  sort the other way round
/                  filter: address, prefix (10.1.2.0/24) or port (:443)
p, space           pause, and go on
q, Esc, Ctrl-C     quit

!   before a flow: data on their way, and less than half of the mean goodput
( ) around a rate: the flow is only watched, in the queue it made; e foretells
rates in bit/s of payload: 262 k is 262 kbit/s";

const KEYS: &str = "q quit  s/S sort  r reverse  / filter  p pause  Enter explain  ? help";

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, model: &Model) {
    let hosts = if model.explaining { 0 } else { hosts::height(model, frame.area().height) };
    let header = header(model);
    let lengths = [
        Constraint::Length(header.lines.len() as u16),
        Constraint::Length(hosts),
        Constraint::Min(0),
        Constraint::Length(1),
    ];
    let [head, above, body, foot] = Layout::vertical(lengths).areas(frame.area());
    frame.render_widget(Paragraph::new(header), head);
    if hosts > 0 {
        hosts::draw(frame, model, above);
    }
    if model.explaining {
        draw_explanation(frame, model, body);
    } else {
        draw_flows(frame, model, body);
    }
    frame.render_widget(Paragraph::new(footer(model)), foot);
    if model.help {
        let area = centred(frame.area(), 79, HELP.lines().count() as u16 + 2);
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(HELP).block(Block::bordered().title(" keys ")), area);
    }
}

fn header(model: &Model) -> Text<'static> {
    let Some(status) = &model.status else {
        return Text::from("asking the daemon");
    };
    let Status { flows, fairness, traffic, lateness, wait, .. } = status;
    let jain = or_unknown(fairness.jain, |jain| format!("{jain:.2}"));
    let first = format!(
        "meshpaced {}  mode {}  up {}  flows {} ({})",
        status.version,
        status.mode,
        time(status.uptime_s),
        count(flows.known as u64),
        flows.in_words(),
    );
    let second = format!(
        "Jain {jain}  mean {}  waiting {}  for {}  late 99 % {}  lost {}",
        or_unknown(fairness.mean_bps, bit_rate),
        count(traffic.held as u64),
        or_unknown(wait.longest_now_s, time),
        or_unknown(lateness.p99_s, time),
        count(traffic.dropped + traffic.queue_overflows + traffic.socket_overflows),
    );
    let mut lines = vec![Line::styled(first, Style::new().add_modifier(Modifier::BOLD)), Line::from(second)];
    // Half of the time nothing is paced then, and no host is shaped.
    let guard = status.guard.iter().filter(|guard| guard.state == Guard::COMPARES);
    lines.extend(guard.map(|guard| Line::from(format!("guard {}", guard.message))));
    Text::from(lines)
}

fn footer(model: &Model) -> Line<'static> {
    let strong = Style::new().add_modifier(Modifier::REVERSED);
    if let Some(typed) = &model.typing {
        return Line::from(format!("filter: {typed}_   Enter take, Esc leave, empty for all"));
    }
    if let Some(trouble) = &model.trouble {
        return Line::styled(trouble.clone(), strong);
    }
    let mut words = Vec::new();
    if model.paused {
        words.push("PAUSED".to_owned());
    }
    if !model.filter.is_empty() {
        words.push(format!("filter {}: {}", model.filter, count(model.matching as u64)));
    }
    words.push(KEYS.to_owned());
    Line::from(words.join("  "))
}

/// A column: its sort key, head, width, and what stands in it.
struct Column {
    key: Option<SortKey>,
    head: &'static str,
    width: u16,
    cell: fn(&Flow) -> String,
}

const fn column(key: SortKey, head: &'static str, width: u16, cell: fn(&Flow) -> String) -> Column {
    Column { key: Some(key), head, width, cell }
}

fn columns(width: u16) -> Vec<Column> {
    let mut columns = vec![
        column(SortKey::Hops, "hops", 5, |f| or_unknown(f.hops, |hops| hops.to_string())),
        column(SortKey::Wireless, "wireless", 9, |f| or_unknown(f.wireless_rtt_s, time)),
        column(SortKey::Goodput, "goodput", 8, |f| or_unknown(f.goodput_bps, short)),
        column(SortKey::Rate, "rate", 8, |f| rate(f, short)),
        column(SortKey::Wait, "wait", 8, |f| or_unknown(f.wait_s, time)),
        Column { key: None, head: "treatment", width: 12, cell: treatment },
    ];
    if width >= WIDE {
        columns.insert(2, column(SortKey::Wired, "wired", 9, |f| or_unknown(f.wired_rtt_s, time)));
        columns.insert(4, Column { key: None, head: "cap", width: 8, cell: cap });
        columns.insert(6, column(SortKey::Queue, "queue", 6, |f| f.queued.to_string()));
        columns.push(column(SortKey::Age, "age", 12, |f| time(f.age_s)));
    }
    columns
}

/// A rate in a few columns: `262 k`, `1.25 M`.
fn short(bps: u64) -> String {
    let text = bit_rate(bps as f64);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    format!("{number} {}", unit.trim_end_matches("bit/s")).trim_end().to_owned()
}

fn cap(flow: &Flow) -> String {
    or_unknown(flow.cap_pps, |pps| format!("{} p/s", digits(pps)))
}

fn draw_flows(frame: &mut Frame<'_>, model: &Model, area: Rect) {
    let columns = columns(area.width);
    let mark = |column: Option<SortKey>| match (column == Some(model.sort), model.reverse) {
        (false, _) => "",
        // Numbers come largest first unless reversed; names the other way round.
        (true, reverse) if reverse == (model.sort == SortKey::Name) => "v",
        (true, _) => "^",
    };
    let mean = model.status.as_ref().and_then(|status| status.fairness.mean_bps);
    let fixed: u16 = columns.iter().map(|column| column.width + 1).sum();
    let name_width = usize::from(area.width.saturating_sub(fixed));
    let right = |text: String, width: u16| format!("{text:>width$}", width = usize::from(width));
    let row = |flow: &Flow| {
        let starving = starves(flow, mean);
        let name = clipped(&format!("{}{}", if starving { '!' } else { ' ' }, flow.flow), name_width);
        let cells = columns.iter().map(|column| Cell::from(right((column.cell)(flow), column.width)));
        let style = if starving { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        Row::new(std::iter::once(Cell::from(name)).chain(cells)).style(style)
    };
    let heads = columns
        .iter()
        .map(|column| right(format!("{}{}", column.head, mark(column.key)), column.width))
        .map(Cell::from);
    let name_head = Cell::from(format!(" flow{}", mark(Some(SortKey::Name))));
    let head = Row::new(std::iter::once(name_head).chain(heads))
        .style(Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED));
    let widths = columns.iter().map(|column| Constraint::Length(column.width));
    let table = Table::new(model.flows.iter().map(row), std::iter::once(Constraint::Min(0)).chain(widths))
        .header(head)
        .column_spacing(1)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = TableState::new().with_selected(model.cursor());
    frame.render_stateful_widget(table, area, &mut state);
    if model.flows.is_empty() && model.status.is_some() {
        let text = if model.filter.is_empty() { "no flows" } else { "no flow fits the filter" };
        let [_, below] = Layout::vertical([Constraint::Length(2), Constraint::Min(0)]).areas(area);
        frame.render_widget(Paragraph::new(text).centered(), below);
    }
}

fn starves(flow: &Flow, mean: Option<f64>) -> bool {
    match (flow.goodput_bps, mean) {
        (Some(goodput), Some(mean)) => {
            flow.outstanding && flow.idle_s < 5.0 && (goodput as f64) < STARVING * mean
        }
        _ => false,
    }
}

/// The text, cut to `width` with a mark where something is missing.
fn clipped(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}~")
}

fn draw_explanation(frame: &mut Frame<'_>, model: &Model, area: Rect) {
    let name = model.selected.as_deref().unwrap_or(UNKNOWN);
    let text = match &model.detail {
        Some(detail) => crate::explain::render(detail),
        None => "asking the daemon".to_owned(),
    };
    let ended = !model.flows.is_empty() && model.cursor().is_none();
    let title = if ended { format!(" {name}: no longer listed ") } else { format!(" {name} ") };
    let lines = text.lines().count();
    let scroll = usize::from(model.scroll).min(lines.saturating_sub(1)) as u16;
    let paragraph = Paragraph::new(text)
        .wrap(Wrap { trim: false })
        .scroll((scroll, 0))
        .block(Block::bordered().title(title).title_bottom(" Enter: back "));
    frame.render_widget(paragraph, area);
}

fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 2);
    Rect { x, y, width, height }
}

#[cfg(test)]
mod tests;
