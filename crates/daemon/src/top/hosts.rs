//! Hosts first: above the flows, what goes into the mesh by host, where that is shaped.

use super::draw::WIDE;
use super::model::Model;
use crate::control::protocol::HostShare;
use crate::status::{HOST_HEADS, host_row};
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Text;
use ratatui::widgets::{Cell, Row, Table};

/// Hosts shown at the most.
const SHOWN: usize = 6;
/// Below this height flows alone are shown.
const HIGH: u16 = 14;
/// Widths of a host's columns, without its address. A narrow screen leaves out the columns whose values come
/// from the configuration file.
const WIDTHS: [u16; 8] = [10, 6, 10, 5, 6, 6, 8, 8];
const OF_THE_FILE: [&str; 2] = ["cap", "price"];

/// The hosts that got something in the last second, most first.
fn busy(model: &Model) -> impl Iterator<Item = &HostShare> {
    let hosts = model.status.iter().filter_map(|status| status.hosts.as_ref());
    hosts.flat_map(|hosts| &hosts.list).filter(|host| host.rate_bps > 0).take(SHOWN)
}

/// Lines that they take of a screen so high.
pub(super) fn height(model: &Model, screen: u16) -> u16 {
    match busy(model).count() as u16 {
        0 => 0,
        _ if screen < HIGH => 0,
        hosts => hosts + 1,
    }
}

/// Draws them.
pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, area: Rect) {
    let shown = |column: &usize| area.width >= WIDE || !OF_THE_FILE.contains(&HOST_HEADS[*column]);
    let columns: Vec<usize> = (0..HOST_HEADS.len()).filter(shown).collect();
    let cell = |column: usize, text: &str| match column {
        0 => Cell::from(format!(" {text}")),
        _ => Cell::from(Text::from(text.to_owned()).right_aligned()),
    };
    let row = |host: &HostShare| {
        let cells = host_row(host);
        Row::new(columns.iter().map(|&column| cell(column, &cells[column])).collect::<Vec<_>>())
    };
    let heads = columns.iter().map(|&column| cell(column, HOST_HEADS[column]));
    let head = Row::new(heads).style(Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED));
    let widths = columns.iter().map(|&column| match column {
        0 => Constraint::Min(0),
        _ => Constraint::Length(WIDTHS[column - 1]),
    });
    frame.render_widget(Table::new(busy(model).map(row), widths).header(head).column_spacing(1), area);
}
