//! What `top` shows, and what keys do to it. No screen and no daemon in here.

use crate::control::SortKey;
use crate::control::protocol::{Detail, Flow, Flows, Status};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The state of the screen.
#[derive(Debug, Default)]
pub struct Model {
    /// The daemon's latest words, if it has spoken.
    pub status: Option<Status>,
    /// The flows shown, in order.
    pub flows: Vec<Flow>,
    /// How many flows fit the filter; more than are shown if there are very many.
    pub matching: usize,
    /// What they are sorted by.
    pub sort: SortKey,
    /// The other way round.
    pub reverse: bool,
    /// The filter in force, as typed.
    pub filter: String,
    /// The filter being typed.
    pub typing: Option<String>,
    /// Nothing is asked while paused.
    pub paused: bool,
    /// The flow that the cursor is on, by name: it stays on the flow when the order changes.
    pub selected: Option<String>,
    /// The explanation is open.
    pub explaining: bool,
    /// Its latest contents.
    pub detail: Option<Detail>,
    /// First line of the explanation that is shown.
    pub scroll: u16,
    /// The keys are explained.
    pub help: bool,
    /// What went wrong, shown until it goes right again.
    pub trouble: Option<String>,
}

/// What the driver has to do after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Draw again.
    Draw,
    /// Ask the daemon at once, then draw.
    Refresh,
    /// End.
    Quit,
}

/// Lines that a page key moves by.
const PAGE: isize = 10;

impl Model {
    /// Takes in an answer about the whole.
    pub fn on_answer(&mut self, status: Status, flows: Flows) {
        self.trouble = None;
        self.status = Some(status);
        self.matching = flows.matching;
        self.flows = flows.list;
        let known = |name: &String| self.flows.iter().any(|flow| flow.flow == *name);
        if !self.selected.as_ref().is_some_and(known) && !self.explaining {
            self.selected = self.flows.first().map(|flow| flow.flow.clone());
        }
    }

    /// Takes in an answer about the selected flow; the explanation of one that has ended stays as it was.
    pub fn on_detail(&mut self, detail: Detail) {
        self.detail = Some(detail);
    }

    /// Notes that the daemon could not be asked, or did not like the question.
    pub fn on_trouble(&mut self, trouble: String) {
        self.trouble = Some(trouble);
    }

    /// Where the cursor is in the list.
    #[must_use]
    pub fn cursor(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.flows.iter().position(|flow| flow.flow == *selected)
    }

    /// The filter to ask for.
    #[must_use]
    pub fn wanted_filter(&self) -> Option<String> {
        (!self.filter.is_empty()).then(|| self.filter.clone())
    }

    /// A key was pressed.
    pub fn on_key(&mut self, key: KeyEvent) -> Wish {
        if key.kind == KeyEventKind::Release {
            return Wish::Draw;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return if key.code == KeyCode::Char('c') { Wish::Quit } else { Wish::Draw };
        }
        if self.typing.is_some() {
            return self.on_typing(key.code);
        }
        if self.help {
            self.help = false;
            return if key.code == KeyCode::Char('q') { Wish::Quit } else { Wish::Draw };
        }
        match key.code {
            KeyCode::Char('q') => Wish::Quit,
            KeyCode::Esc if self.explaining => self.close(),
            KeyCode::Esc => Wish::Quit,
            KeyCode::Char('?' | 'h') => {
                self.help = true;
                Wish::Draw
            }
            KeyCode::Char('p' | ' ') => {
                self.paused = !self.paused;
                if self.paused { Wish::Draw } else { Wish::Refresh }
            }
            KeyCode::Char('/') => {
                self.typing = Some(self.filter.clone());
                Wish::Draw
            }
            KeyCode::Enter | KeyCode::Char('e') if self.explaining => self.close(),
            KeyCode::Enter | KeyCode::Char('e') => self.open(),
            KeyCode::Char('r') => {
                self.reverse = !self.reverse;
                self.resort()
            }
            KeyCode::Char('s') | KeyCode::Right => self.next_sort(1),
            KeyCode::Char('S') | KeyCode::Left => self.next_sort(SortKey::ALL.len() - 1),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::PageUp => self.step(-PAGE),
            KeyCode::PageDown => self.step(PAGE),
            KeyCode::Home => self.step(isize::MIN),
            KeyCode::End => self.step(isize::MAX),
            _ => Wish::Draw,
        }
    }

    fn on_typing(&mut self, code: KeyCode) -> Wish {
        let text = self.typing.get_or_insert_default();
        match code {
            KeyCode::Char(c) if text.len() < 64 => text.push(c),
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Esc => self.typing = None,
            KeyCode::Enter => {
                self.filter = self.typing.take().unwrap_or_default();
                return Wish::Refresh;
            }
            _ => {}
        }
        Wish::Draw
    }

    fn open(&mut self) -> Wish {
        if self.selected.is_none() {
            return Wish::Draw;
        }
        self.explaining = true;
        self.detail = None;
        self.scroll = 0;
        Wish::Refresh
    }

    fn close(&mut self) -> Wish {
        self.explaining = false;
        Wish::Draw
    }

    fn next_sort(&mut self, by: usize) -> Wish {
        let all = SortKey::ALL;
        let at = all.iter().position(|&key| key == self.sort).unwrap_or(0);
        self.sort = all[(at + by) % all.len()];
        self.resort()
    }

    /// The order changes at once, also while paused; which flows are in the list changes with the next answer.
    fn resort(&mut self) -> Wish {
        self.sort.sort(&mut self.flows, self.reverse);
        if self.paused { Wish::Draw } else { Wish::Refresh }
    }

    /// Moves the cursor, or the explanation.
    fn step(&mut self, by: isize) -> Wish {
        if self.explaining {
            let to = isize::from_ne_bytes((self.scroll as usize).to_ne_bytes()).saturating_add(by);
            self.scroll = u16::try_from(to.max(0)).unwrap_or(u16::MAX);
            return Wish::Draw;
        }
        let last = self.flows.len().saturating_sub(1);
        let at = self.cursor().unwrap_or(0).saturating_add_signed(by).min(last);
        self.selected = self.flows.get(at).map(|flow| flow.flow.clone());
        Wish::Draw
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example;

    fn flows(names: &[&str]) -> Flows {
        let list: Vec<Flow> = names
            .iter()
            .zip(0..)
            .map(|(name, n)| Flow {
                flow: (*name).into(),
                goodput_bps: Some(1_000 - n),
                queued: n as usize,
                ..example::flow()
            })
            .collect();
        Flows { matching: list.len(), known: list.len(), list }
    }

    fn model(names: &[&str]) -> Model {
        let mut model = Model::default();
        model.on_answer(example::status(), flows(names));
        model
    }

    fn press(model: &mut Model, keys: &str) -> Wish {
        let code = |c| match c {
            '\n' => KeyCode::Enter,
            '\x1b' => KeyCode::Esc,
            '\x08' => KeyCode::Backspace,
            '^' => KeyCode::Up,
            'v' => KeyCode::Down,
            c => KeyCode::Char(c),
        };
        keys.chars().map(|c| model.on_key(code(c).into())).last().expect("keys")
    }

    fn order(model: &Model) -> Vec<&str> {
        model.flows.iter().map(|flow| flow.flow.as_str()).collect()
    }

    #[test]
    fn the_cursor_stays_on_its_flow_when_the_order_changes() {
        let mut model = model(&["a", "b", "c"]);
        assert_eq!(model.cursor(), Some(0));
        press(&mut model, "v");
        assert_eq!(model.selected.as_deref(), Some("b"));
        assert_eq!(press(&mut model, "r"), Wish::Refresh);
        assert_eq!(order(&model), ["c", "b", "a"]);
        model.on_answer(example::status(), flows(&["x", "y", "z", "b"]));
        assert_eq!(model.cursor(), Some(3));
        model.on_answer(example::status(), flows(&["x", "y"]));
        assert_eq!(model.cursor(), Some(0), "it ended");
        press(&mut model, "^^v v v v");
        assert_eq!(model.cursor(), Some(1), "the ends hold it");
    }

    #[test]
    fn sort_keys_go_round_both_ways() {
        let mut model = model(&["a", "b"]);
        let first = model.sort;
        press(&mut model, &"s".repeat(SortKey::ALL.len()));
        assert_eq!(model.sort, first);
        press(&mut model, "sS");
        assert_eq!(model.sort, first);
        model.sort = SortKey::Rate;
        press(&mut model, "s");
        assert_eq!((model.sort, order(&model)), (SortKey::Queue, vec!["b", "a"]));
    }

    #[test]
    fn while_paused_sorting_asks_nothing() {
        let mut model = model(&["a", "b"]);
        assert_eq!(press(&mut model, "p"), Wish::Draw);
        assert!(model.paused);
        assert_eq!(press(&mut model, "r"), Wish::Draw);
        assert_eq!(press(&mut model, "p"), Wish::Refresh);
    }

    #[test]
    fn a_filter_is_typed_corrected_and_taken_or_left() {
        let mut model = model(&["a"]);
        assert_eq!(press(&mut model, "/10.1.2.0/2q\x08"), Wish::Draw, "letters are text now");
        assert_eq!(press(&mut model, "4\n"), Wish::Refresh);
        assert_eq!(model.wanted_filter().as_deref(), Some("10.1.2.0/24"));
        press(&mut model, "/9\x1b");
        assert_eq!(model.wanted_filter().as_deref(), Some("10.1.2.0/24"), "left as it was");
        let clear = format!("/{}\n", "\x08".repeat(11));
        press(&mut model, &clear);
        assert_eq!(model.wanted_filter(), None);
    }

    #[test]
    fn the_explanation_opens_scrolls_and_closes() {
        let mut model = model(&["a", "b"]);
        assert_eq!(press(&mut model, "v\n"), Wish::Refresh);
        assert!(model.explaining);
        press(&mut model, "vv^");
        assert_eq!((model.scroll, model.selected.as_deref()), (1, Some("b")));
        press(&mut model, "^^^");
        assert_eq!(model.scroll, 0);
        assert_eq!(press(&mut model, "\x1b"), Wish::Draw);
        assert!(!model.explaining);
        assert_eq!(press(&mut model, "\x1b"), Wish::Quit);
    }

    #[test]
    fn control_c_quits_from_anywhere() {
        let quit = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        let mut model = model(&["a"]);
        press(&mut model, "/xyz");
        assert_eq!(model.on_key(quit), Wish::Quit);
        assert_eq!(press(&mut self::model(&[]), "q"), Wish::Quit);
    }
}
