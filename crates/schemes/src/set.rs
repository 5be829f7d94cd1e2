//! Parameters of schemes: what there is to set, reading it, setting it.

use crate::places::PLACES;
use crate::{Scheme, profiles};
use meshpace_keys::{Choice, Key, Need, RawValue, Setting, suggestion};
use std::sync::LazyLock;

/// A setting that is not acceptable: what was found and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: found {found}; allowed: {allowed}")]
pub struct ParamError {
    /// The parameter.
    pub key: String,
    /// What was found.
    pub found: String,
    /// What would be accepted.
    pub allowed: String,
}

/// All parameters: those that choose parts, then those of the parts, each once.
///
/// A parameter that several parts have stands as the first of them declares it: type, range and meaning are the same for
/// all, the default is each part's own.
pub fn parameters() -> impl Iterator<Item = &'static Key> {
    static ALL: LazyLock<Vec<Key>> = LazyLock::new(|| {
        let mut keys: Vec<Key> = PLACES.iter().map(|place| place.selector()).collect();
        keys.push(profiles::SELECTOR);
        for key in PLACES.iter().flat_map(|place| place.choices()).flat_map(|choice| choice.keys()) {
            if keys.iter().all(|known| known.name != key.name) {
                keys.push(*key);
            }
        }
        keys
    });
    ALL.iter()
}

impl Scheme {
    /// A parameter's value; `None` if this scheme has no such parameter.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Setting> {
        self.value_of(key)
    }

    /// The parameters that this scheme has, with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static Key, Setting)> {
        parameters().filter_map(|key| Some((key, self.value_of(key.name)?)))
    }

    fn value_of(&self, key: &str) -> Option<Setting> {
        let word = |word: &str| Setting::Text(word.to_owned());
        if key == profiles::KEY {
            return profiles::of(&self.parts).map(|profile| word(profile.word));
        }
        if let Some(place) = PLACES.iter().find(|place| place.key == key) {
            if !self.has(place) {
                return None;
            }
            return Some(word((place.chosen)(&self.parts).word));
        }
        let declared = self.declared(key)?;
        let said = self.said.get(key).cloned();
        said.or_else(|| declared.default.and_then(|preset| preset.setting()))
    }

    /// The key as the first of the chosen parts that has it declares it.
    fn declared(&self, key: &str) -> Option<&'static Key> {
        self.choices().flat_map(|(_, choice)| choice.keys()).find(|known| known.name == key)
    }

    /// Sets a parameter. A key that chooses a part brings that part's parameters: set it first. What was said of a key
    /// stays as long as a chosen part has it.
    ///
    /// # Errors
    /// [`ParamError`] if the scheme has no such parameter or the value is not one of it; the scheme is unchanged.
    pub fn set(&mut self, key: &str, value: &RawValue) -> Result<(), ParamError> {
        self.set_all([(key, value)]).map_err(|(_, error)| error)
    }

    /// Sets several parameters, those that choose parts before those of the parts, in whatever order they come.
    ///
    /// # Errors
    /// As [`Scheme::set`], with the number of the setting that is wrong; the scheme is unchanged.
    pub fn set_all<'a>(
        &mut self,
        settings: impl IntoIterator<Item = (&'a str, &'a RawValue)>,
    ) -> Result<(), (usize, ParamError)> {
        let mut ordered: Vec<_> = settings.into_iter().enumerate().collect();
        let rank = |key: &str| parameters().position(|known| known.name == key).unwrap_or(usize::MAX);
        ordered.sort_by_key(|(_, (key, _))| rank(key));
        let mut changed = self.clone();
        for (index, (key, value)) in &ordered {
            changed.take(key, value).map_err(|error| (*index, error))?;
        }
        changed.check_needs().map_err(|(key, other, error)| {
            // The place whose choice does not fit, or else the one that it does not fit with.
            let at = |key| ordered.iter().find(|(_, (given, _))| *given == key).map(|(index, _)| *index);
            let index = at(key).or_else(|| at(other)).or_else(|| at(profiles::KEY)).unwrap_or(0);
            let key = ordered.iter().find(|(i, _)| *i == index).map_or(key, |(_, (key, _))| key).to_owned();
            (index, ParamError { key, ..error })
        })?;
        changed.check_bounds().map_err(|(key, other, error)| {
            let at = |key| ordered.iter().find(|(_, (given, _))| *given == key);
            let (index, (key, value)) = at(key).or_else(|| at(other)).unwrap_or(&ordered[0]);
            (*index, ParamError { key: (*key).to_owned(), found: value.to_string(), ..error })
        })?;
        *self = changed;
        Ok(())
    }

    fn take(&mut self, key: &str, value: &RawValue) -> Result<(), ParamError> {
        let known = parameters().find(|known| known.name == key);
        let Some(declared) = known.filter(|_| self.value_of(key).is_some()) else {
            return Err(self.unknown(key, known.is_some()));
        };
        let setting = declared.kind.accept(value).ok_or_else(|| ParamError {
            key: key.to_owned(),
            found: value.to_string(),
            allowed: declared.kind.allowed(),
        })?;
        if key == profiles::KEY {
            let word = setting.text();
            let profile = profiles::PROFILES.iter().find(|profile| profile.word == word);
            let profile = profile.unwrap_or_else(|| panic!("{key} lets {word} pass"));
            let meant: Vec<_> =
                profiles::meant(profile, &self.parts).map(|means| (means.key, means.word)).collect();
            for (place, word) in meant {
                self.choose(place, word);
            }
        } else if let Some(place) = PLACES.iter().find(|place| place.key == key) {
            self.choose(key, &setting.text());
            self.chosen.insert(place.key);
        } else {
            self.said.insert(declared.name, setting);
        }
        Ok(())
    }

    pub(crate) fn choose(&mut self, key: &str, word: &str) {
        let place = PLACES.iter().find(|place| place.key == key);
        (place.unwrap_or_else(|| panic!("no place {key}")).choose)(&mut self.parts, word);
        for place in PLACES.iter().filter(|place| place.follows == Some(key)) {
            if !self.has(place) {
                self.chosen.remove(place.key);
            }
            if !self.chosen.contains(place.key) {
                let brought = self.choice(key).brought(place.key).flatten();
                (place.choose)(&mut self.parts, brought.unwrap_or_else(|| place.first()));
            }
        }
        let gone: Vec<_> = self.said.keys().copied().filter(|key| self.declared(key).is_none()).collect();
        for key in gone {
            self.said.remove(key);
        }
    }

    /// Do all parts have beside them what they need? The error comes with the place that needs and the place needed. A part that
    /// leaves no choice of what is needed comes first: nothing beside it would help.
    fn check_needs(&self) -> Result<(), (&'static str, &'static str, ParamError)> {
        let needs = || {
            self.choices()
                .flat_map(|(place, choice)| choice.needs.iter().map(move |need| (place, choice, need)))
        };
        for (place, choice, need) in needs() {
            let leader = PLACES.iter().find(|other| other.key == need.key).and_then(|other| other.follows);
            let Some(leader) = PLACES.iter().find(|other| leader == Some(other.key)) else { continue };
            let leads = (leader.chosen)(&self.parts);
            if leader.key != place && !allows(leads, need) {
                let suit = leader.choices().into_iter().filter(|other| allows(other, need));
                let allowed: Vec<_> = suit.map(|other| other.word).collect();
                return Err(misfit((place, choice), (leader.key, leads), &allowed));
            }
        }
        for (place, choice, need) in needs() {
            let other = self.choice(need.key);
            if !need.words.contains(&other.word) {
                return Err(misfit((place, choice), (need.key, other), need.words));
            }
        }
        Ok(())
    }

    /// Is of two keys that bound something the upper bound no less than the lower one? The error comes with both, and is the upper one's.
    fn check_bounds(&self) -> Result<(), (&'static str, &'static str, ParamError)> {
        let whole = |key: &str| self.value_of(key).map(Setting::whole);
        for &(least, most) in self.choices().flat_map(|(_, choice)| choice.bounds) {
            if let (Some(low), Some(high)) = (whole(least), whole(most))
                && high < low
            {
                let allowed = format!("{least} no more than {most}, here {low} and {high}");
                return Err((
                    most,
                    least,
                    ParamError { key: most.to_owned(), found: String::new(), allowed },
                ));
            }
        }
        Ok(())
    }

    fn unknown(&self, key: &str, elsewhere: bool) -> ParamError {
        let names: Vec<_> = self.parameters().map(|(known, _)| known.name).collect();
        let found = if elsewhere {
            "a parameter of other schemes".to_owned()
        } else {
            format!("no such parameter{}", suggestion(key, names.iter().copied()))
        };
        let allowed = format!("the parameters of {}: {}", self.name, names.join(", "));
        ParamError { key: key.to_owned(), found, allowed }
    }
}

/// True if what is needed may be chosen beside this part, whose choice says what there is to choose.
fn allows(leads: &Choice, need: &Need) -> bool {
    let same = leads.needs.iter().filter(|other| other.key == need.key);
    leads.brought(need.key) != Some(None)
        && same.into_iter().all(|other| other.words.iter().any(|word| need.words.contains(word)))
}

/// A choice that does not fit with what stands at another place, where these words would be allowed.
fn misfit(
    (place, choice): (&'static str, &Choice),
    (other, found): (&'static str, &Choice),
    allowed: &[&str],
) -> (&'static str, &'static str, ParamError) {
    let words: Vec<_> = allowed.iter().map(|word| format!("{word:?}")).collect();
    let found = format!("{place} = {:?} beside {other} = {:?}", choice.word, found.word);
    let allowed = format!("{other} = {} beside it", words.join(" or "));
    (place, other, ParamError { key: place.to_owned(), found, allowed })
}
