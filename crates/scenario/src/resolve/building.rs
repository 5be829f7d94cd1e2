//! The links that the building must leave usable, those of the paths that flows name; what does not go with movement.

use super::network::Network;
use crate::file::ScenarioFile;
use crate::{Flow, Mobility, ScenarioError};
use meshpace_radio::Links;
use meshpace_radio::building::Kept;
use meshpace_settings::quoted;
use std::collections::BTreeSet;

/// Which links are kept, and by how much; `None` if the file asks for no margin.
pub(crate) fn resolve(
    file: &ScenarioFile,
    flows: &[Flow],
    mobility: &Mobility,
) -> Result<Option<Kept>, ScenarioError> {
    if let Some(at) = file.radio.fading_at.as_ref().filter(|_| *mobility != Mobility::Static) {
        let allowed = "mobility.model = \"static\": what moves changes its links anyway";
        return Err(at.error("fading of links whose ends move", allowed));
    }
    let Some((margin_db, at)) = &file.radio.link_margin else { return Ok(None) };
    if *mobility != Mobility::Static {
        return Err(at.error("a margin of links whose ends move", "mobility.model = \"static\""));
    }
    let hops = flows.iter().flat_map(Flow::ways).flat_map(|way| way.windows(2));
    let links: BTreeSet<_> = hops.map(|hop| (hop[0].min(hop[1]), hop[0].max(hop[1]))).collect();
    if links.is_empty() {
        return Err(at.error("a margin of no link", "only with a [[flow]] that has a path"));
    }
    Ok(Some(Kept { margin_db: *margin_db, links: links.into_iter().collect(), gain_draw: 0 }))
}

/// Refuses a margin that no draw gives.
pub(crate) fn check(file: &ScenarioFile, network: &Network, links: &Links) -> Result<(), ScenarioError> {
    let (Some((margin_db, at)), Some(positions)) = (&file.radio.link_margin, network.positions()) else {
        return Ok(());
    };
    let hopeless = links.hopeless(&positions).next();
    hopeless.map_or(Ok(()), |(a, b)| {
        let id = |node: meshpace_units::NodeId| quoted(&network.mesh[node.index()].id);
        let found = format!("{margin_db} dB, which the link of {} and {} never has", id(a), id(b));
        Err(at.error(found, "less, nodes nearer together, or more power"))
    })
}
