//! Where the explicit nodes stand: in metres, on the globe, or nowhere.

use crate::file::ScenarioFile;
use crate::limits::MESH_EXTENT;
use crate::read::{Placement, Role};
use crate::{Position, Rectangle, ScenarioError};
use meshpace_units::random::Stream;

/// What a file without places must say instead.
const ALLOWED: &str = "x and y, or lat and lon, or within; or no place at any mesh node, and a [[radio_link]] for every pair that hears each other";

/// The position of every explicit node; `None` for wired ones, and for all if radio links say which nodes hear which.
/// `generated`: a generator has placed others. What is said to be within a rectangle is drawn from a stream for each node.
pub(crate) fn places(
    file: &ScenarioFile,
    generated: bool,
    seed: u64,
) -> Result<Vec<Option<Position>>, ScenarioError> {
    let mesh = || file.nodes.iter().filter(|node| node.role != Role::Wired);
    let is_globe = |place: &Placement| matches!(place, Placement::Globe { .. });
    let placed = mesh().find(|node| node.place != Placement::Nowhere);
    if let Some(node) = mesh().find(|node| node.place == Placement::Nowhere) {
        if generated || placed.is_some() || file.radio_links.is_empty() {
            return Err(node.place_at.error("nothing", ALLOWED));
        }
        if let Some(at) = &file.radio.by_distance {
            return Err(at.error("the key, though no node has a place", "only with x and y, or lat and lon"));
        }
    }
    let globe = mesh().find(|node| is_globe(&node.place));
    let other = mesh().find(|node| matches!(node.place, Placement::Flat(_) | Placement::Within { .. }));
    if let Some(node) = globe.filter(|_| generated || other.is_some()) {
        let found = "lat and lon beside nodes placed in metres";
        return Err(node.place_at.error(found, "x and y, or lat and lon at every node and no generator"));
    }
    let projection = Projection::around(mesh().filter_map(|node| match node.place {
        Placement::Globe { lat, lon, .. } => Some((lat, lon)),
        _ => None,
    }));
    let place = |(index, node): (u64, &crate::read::NodeSpec)| match (node.place, &projection) {
        (Placement::Flat(position), _) => Ok(Some(position)),
        (Placement::Within { rectangle: Rectangle { west, south, east, north }, height }, _) => {
            let mut draw = Stream::new(seed, "place-within", index);
            let (x, y) = (draw.uniform(west, east), draw.uniform(south, north));
            Ok(Some(Position { x, y, z: height }))
        }
        (Placement::Globe { lat, lon, height }, Some(projection)) => {
            let (x, y) = projection.project(lat, lon);
            if x.abs().max(y.abs()) > MESH_EXTENT {
                let found = format!("a node {:.0} km from the first", libm::hypot(x, y) / 1e3);
                let allowed = format!("at most {} km", MESH_EXTENT / 1e3);
                return Err(node.place_at.error(found, allowed));
            }
            Ok(Some(Position { x, y, z: height }))
        }
        _ => Ok(None),
    };
    (0..).zip(&file.nodes).map(place).collect()
}

/// From degrees to metres around the first node.
///
/// Equirectangular around the mean latitude, with the ellipsoid's radii of curvature there (WGS 84). Within a mesh of
/// 10 km a distance is wrong by about 0.1 % at 50 degrees of latitude: east-west by `tan(lat)` times the angle
/// between a node and the mean latitude, north-south by less.
struct Projection {
    origin: (f64, f64),
    /// Metres a degree, east and north.
    scale: (f64, f64),
}

/// WGS 84: semi-major axis in metres, and the square of the first eccentricity.
const SEMI_MAJOR: f64 = 6_378_137.0;
const ECCENTRICITY_SQUARED: f64 = 6.694_379_990_14e-3;

impl Projection {
    /// Around the first of these nodes (latitude and longitude), if there is one.
    fn around(nodes: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Self> {
        let origin = nodes.clone().next()?;
        let (sum, count) = nodes.fold((0.0, 0.0), |(sum, count), (lat, _)| (sum + lat, count + 1.0));
        let latitude = (sum / count).to_radians();
        // Radii of curvature: in the prime vertical a / w, in the meridian a (1 - e^2) / w^3.
        let sine = libm::sin(latitude);
        let w = libm::sqrt(1.0 - ECCENTRICITY_SQUARED * sine * sine);
        let east = SEMI_MAJOR / w * libm::cos(latitude);
        let north = SEMI_MAJOR * (1.0 - ECCENTRICITY_SQUARED) / (w * w * w);
        Some(Self { origin, scale: (east.to_radians(), north.to_radians()) })
    }

    fn project(&self, lat: f64, lon: f64) -> (f64, f64) {
        // The shorter way around the globe.
        let mut east = lon - self.origin.1;
        if east > 180.0 {
            east -= 360.0;
        } else if east < -180.0 {
            east += 360.0;
        }
        (east * self.scale.0, (lat - self.origin.0) * self.scale.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
        let projection = Projection::around([a, b].into_iter()).expect("two nodes");
        let (x, y) = projection.project(b.0, b.1);
        libm::hypot(x, y)
    }

    #[test]
    fn a_degree_has_the_length_of_the_tables() {
        // A degree of latitude and of longitude on WGS 84 (NGA.STND.0036, table of lengths): at 0, 45 and 60 degrees.
        for (lat, north, east) in
            [(0.0, 110_574.0, 111_320.0), (45.0, 111_132.0, 78_847.0), (60.0, 111_412.0, 55_800.0)]
        {
            let small = 1e-3;
            let up = distance((lat - small / 2.0, 10.0), (lat + small / 2.0, 10.0)) / small;
            let right = distance((lat, 10.0), (lat, 10.0 + small)) / small;
            assert!((up - north).abs() < 1.0, "{lat}: {up} m north");
            assert!((right - east).abs() < 1.0, "{lat}: {right} m east");
        }
    }

    #[test]
    fn the_date_line_is_no_wall() {
        let across = distance((10.0, 179.999), (10.0, -179.999));
        assert!((across - distance((10.0, 1.0), (10.0, 1.002))).abs() < 1e-6, "{across}");
    }

    /// The straight line between two places on the ellipsoid: within 10 km as long as the way on it to 1e-7.
    fn chord(a: (f64, f64), b: (f64, f64)) -> f64 {
        let place = |(lat, lon): (f64, f64)| {
            let (lat, lon) = (lat.to_radians(), lon.to_radians());
            let radius = SEMI_MAJOR / libm::sqrt(1.0 - ECCENTRICITY_SQUARED * libm::pow(libm::sin(lat), 2.0));
            let across = radius * libm::cos(lat);
            let up = radius * (1.0 - ECCENTRICITY_SQUARED) * libm::sin(lat);
            [across * libm::cos(lon), across * libm::sin(lon), up]
        };
        let square = place(a).iter().zip(place(b)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        libm::sqrt(square)
    }

    #[test]
    fn ten_kilometres_are_right_to_about_a_thousandth() {
        let mut draw = Stream::new(1, "test", 0);
        let nodes: Vec<_> =
            (0..30).map(|_| (draw.uniform(49.955, 50.045), draw.uniform(8.0, 8.14))).collect();
        let projection = Projection::around(nodes.iter().copied()).expect("nodes");
        for a in &nodes {
            for b in nodes.iter().filter(|b| *b != a) {
                let ((ax, ay), (bx, by)) = (projection.project(a.0, a.1), projection.project(b.0, b.1));
                let (flat, truth) = (libm::hypot(ax - bx, ay - by), chord(*a, *b));
                assert!((flat / truth - 1.0).abs() < 1.1e-3, "{a:?} to {b:?}: {flat} m for {truth} m");
            }
        }
    }
}
