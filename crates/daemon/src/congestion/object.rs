//! The programs: read from their object, fitted to this kernel, loaded.
//!
//! aya loads no congestion control (`struct_ops`), and libbpf would bring a C library with libelf and zlib into a binary that is static.
//! aya's own reader of objects does what is long: ELF, types, places of the kernel's fields (CO-RE), calls. What is left are a few calls of
//! bpf(2) (`meshpace_linux::bpf`).

use super::exchange::{NAME, Settings};
use super::types::{FUNCTION, STRUCT, Types};
use crate::Failure;
use crate::shared::congestion as c;
use aya_obj::Object;
use aya_obj::btf::{Btf, BtfFeatures};
use aya_obj::generated::bpf_insn;
use meshpace_linux::bpf::{self, Map, NewMap, NewProgram, kind};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use zerocopy::{FromBytes, IntoBytes};

static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/calm.bpf.o"));

/// The congestion control's members and their programs; `cong_control` has one for each number of its arguments.
const MEMBERS: [(&str, &str); 5] = [
    ("init", "calm_init"),
    ("set_state", "calm_state"),
    ("ssthresh", "calm_threshold"),
    ("undo_cwnd", "calm_undo"),
    ("min_tso_segs", "calm_together"),
];
/// Everybody may choose it (`TCP_CONG_NON_RESTRICTED`, include/net/tcp.h): it takes no more than others leave.
const NON_RESTRICTED: u32 = 1;
/// The maps, as the object names them.
pub const SETTINGS_MAP: &str = "calm_settings";
/// See [`SETTINGS_MAP`].
pub const SUBNETS_MAP: &str = "calm_subnets";
/// The program on a control group.
pub const BY_DESTINATION: &str = "calm_subnet";

/// The maps that the programs share.
#[derive(Debug)]
pub struct Maps {
    /// What user space says to them.
    pub settings: Map,
    /// Destinations.
    pub subnets: Map,
}

impl Maps {
    /// Those that were made before, if they were. Destinations are there only while a program looks them up.
    ///
    /// # Errors
    /// [`Failure::Operational`] without the right to look for them.
    pub fn find() -> Result<Option<Self>, Failure> {
        let find =
            |name, kind| bpf::map_named(name, kind).map_err(|why| refused("looking for eBPF maps", &why));
        let Some(settings) = find(SETTINGS_MAP, kind::ARRAY)? else { return Ok(None) };
        let subnets = match find(SUBNETS_MAP, kind::LPM_TRIE)? {
            Some(subnets) => subnets,
            None => make(&parse(), SUBNETS_MAP)?,
        };
        Ok(Some(Self { settings, subnets }))
    }

    /// What the programs have been told.
    ///
    /// # Errors
    /// [`Failure::Operational`] where the kernel refuses.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let bytes = self.settings.get(&[0; 4]).map_err(|why| refused("eBPF map calm_settings", &why))?;
        let told = c::Settings::read_from_bytes(&bytes)
            .map_err(|_| Failure::operational("eBPF map calm_settings", "it is of another meshpaced"))?;
        Ok(Settings::from(&told))
    }

    /// Tells the programs.
    ///
    /// # Errors
    /// [`Failure::User`] for a path that is too long, [`Failure::Operational`] where the kernel refuses.
    pub fn tell(&self, settings: &Settings) -> Result<(), Failure> {
        let told = settings.told().ok_or_else(|| {
            Failure::User("the control group's path is too long: allowed are 255 bytes".to_owned())
        })?;
        self.settings.set(&[0; 4], told.as_bytes()).map_err(|why| refused("eBPF map calm_settings", &why))
    }
}

/// Makes one of the object's maps.
fn make(object: &Object, name: &str) -> Result<Map, Failure> {
    let map = &object.maps[name];
    let new = NewMap {
        kind: map.map_type(),
        key: map.key_size(),
        value: map.value_size(),
        entries: map.max_entries(),
        flags: map.map_flags(),
        name,
        value_type: None,
    };
    Map::new(&new).map_err(|why| refused(&format!("eBPF map {name}"), &why))
}

/// The programs, fitted to this kernel.
pub struct Programs {
    object: Object,
    types: OwnedFd,
    kernel: Types,
}

impl Programs {
    /// The object as it was compiled, and the maps that it says.
    ///
    /// # Errors
    /// [`Failure::Operational`] where the kernel refuses.
    pub fn with_new_maps() -> Result<(Self, Maps), Failure> {
        let object = parse();
        let maps = Maps { settings: make(&object, SETTINGS_MAP)?, subnets: make(&object, SUBNETS_MAP)? };
        Ok((Self::fit(object, &maps)?, maps))
    }

    /// The same with maps that were made before.
    ///
    /// # Errors
    /// As [`Self::with_new_maps`].
    pub fn with(maps: &Maps) -> Result<Self, Failure> {
        Self::fit(parse(), maps)
    }

    fn fit(mut object: Object, maps: &Maps) -> Result<Self, Failure> {
        let kernel = Types::of_this_kernel()?;
        let why = |error: &dyn std::error::Error| {
            Failure::operational("fitting the eBPF programs to this kernel", error)
        };
        // Linux 6.0 and newer know all of these.
        let features = BtfFeatures::new(true, true, true, true, true, true, true, true);
        let own =
            object.fixup_and_sanitize_btf(&features).map_err(|error| why(&error))?.expect("compiled with -g");
        let types =
            bpf::load_types(&own.to_bytes()).map_err(|why| refused("the eBPF programs' types", &why))?;
        let target = Btf::from_sys_fs().map_err(|error| why(&error))?;
        object.relocate_btf(&target).map_err(|error| why(&error))?;
        let text = object.functions.keys().map(|(section, _)| *section).collect();
        let known = [(SETTINGS_MAP, &maps.settings), (SUBNETS_MAP, &maps.subnets)];
        let said: Vec<_> = known.iter().map(|(name, _)| object.maps[*name].clone()).collect();
        let places =
            known.iter().zip(&said).map(|((name, map), said)| (*name, map.as_fd().as_raw_fd(), said));
        object.relocate_maps(places, &text).map_err(|error| why(&error))?;
        object.relocate_calls(&text).map_err(|error| why(&error))?;
        Ok(Self { object, types, kernel })
    }

    /// Loads one.
    fn load(&self, name: &str, kind: u32, attach: u32, attach_to: u32) -> Result<OwnedFd, Failure> {
        let function = &self.object.functions[&self.object.programs[name].function_key()];
        let instructions: Vec<u8> = function.instructions.iter().flat_map(bytes_of).collect();
        let functions = function.func_info.func_info_bytes();
        let new = NewProgram {
            kind,
            attach,
            attach_to,
            instructions: &instructions,
            name,
            types: self.types.as_fd(),
            functions: (&functions, function.func_info_rec_size as u32),
        };
        bpf::load_program(&new).map_err(|why| refused("loading an eBPF program", &why))
    }

    /// Makes calm one of the kernel's congestion controls. It stays until [`unregister`].
    ///
    /// # Errors
    /// [`Failure::Operational`] where the kernel refuses.
    pub fn register(&self) -> Result<(), Failure> {
        let id = self.kernel.id(STRUCT, "tcp_congestion_ops")?;
        let whole = self.kernel.id(STRUCT, "bpf_struct_ops_tcp_congestion_ops")?;
        let member = |of: u32, name: &str| {
            let found = self.kernel.member(of, name);
            found.ok_or_else(|| {
                Failure::Operational(format!("this kernel's congestion controls have no {name}"))
            })
        };
        let start = member(whole, "data")?.offset;
        let mut value = vec![0; self.kernel.size(whole)];
        // Since a commit of Linux 6.10 the kernel hands it the acknowledgement, too.
        let control = match self.kernel.arguments(member(id, "cong_control")?) {
            Some(4) => "calm_control",
            Some(2) => "calm_control_2",
            other => {
                let what =
                    format!("this kernel's congestion controls are told {other:?} things; known are 2 and 4");
                return Err(Failure::Operational(what));
            }
        };
        let mut programs = Vec::new();
        for (name, program) in MEMBERS.into_iter().chain([("cong_control", control)]) {
            let member = member(id, name)?;
            let program = self.load(program, kind::STRUCT_OPS, member.index, id)?;
            let at = start + member.offset;
            value[at..at + 8].copy_from_slice(&u64::from(program.as_raw_fd().cast_unsigned()).to_ne_bytes());
            // Until the kernel has taken them all.
            programs.push(program);
        }
        let at = start + member(id, "name")?.offset;
        value[at..at + NAME.len()].copy_from_slice(NAME.as_bytes());
        let at = start + member(id, "flags")?.offset;
        value[at..at + 4].copy_from_slice(&NON_RESTRICTED.to_ne_bytes());
        let new = NewMap {
            kind: kind::STRUCT_OPS_MAP,
            key: 4,
            value: value.len() as u32,
            entries: 1,
            flags: 0,
            name: NAME,
            value_type: Some((whole, self.types.as_fd())),
        };
        let registered = Map::new(&new).and_then(|map| map.set(&[0; 4], &value));
        registered.map_err(|why| refused("the congestion control calm", &why))
    }

    /// The program that chooses calm by destination.
    ///
    /// # Errors
    /// [`Failure::Operational`] where the kernel refuses.
    pub fn by_destination(&self) -> Result<OwnedFd, Failure> {
        self.load(BY_DESTINATION, kind::SOCK_OPS, kind::CGROUP_SOCK_OPS, 0)
    }

    /// Runs one of the iterators over the calling thread's network namespace and gives what it says.
    ///
    /// # Errors
    /// [`Failure::Operational`] where the kernel refuses.
    pub fn iterate(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let program =
            self.load(name, kind::TRACING, kind::TRACE_ITER, self.kernel.id(FUNCTION, "bpf_iter_tcp")?)?;
        let mut said = Vec::new();
        let read =
            bpf::iterate(program.as_fd()).and_then(|mut file| io::Read::read_to_end(&mut file, &mut said));
        read.map_err(|why| refused("going through TCP sockets", &why))?;
        Ok(said)
    }
}

/// Takes calm off the kernel's congestion controls. Connections keep it until they are given another.
///
/// # Errors
/// [`Failure::Operational`] where the kernel refuses, or if something else than this made it.
pub fn unregister() -> Result<(), Failure> {
    let found =
        bpf::map_named(NAME, kind::STRUCT_OPS_MAP).map_err(|why| refused("looking for eBPF maps", &why))?;
    let map =
        found.ok_or_else(|| Failure::Operational("calm is this kernel's, but no eBPF made it".to_owned()))?;
    map.remove(&[0; 4]).map_err(|why| refused("the congestion control calm", &why))
}

/// A failure of the kernel's, with what it takes.
pub fn refused(what: &str, why: &io::Error) -> Failure {
    let hint = match why.kind() {
        io::ErrorKind::PermissionDenied => {
            " (run it as root: it takes CAP_SYS_ADMIN, CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON)"
        }
        _ => "",
    };
    Failure::operational(what, format!("{why}{hint}"))
}

fn parse() -> Object {
    Object::parse(OBJECT).unwrap_or_else(|error| panic!("our own object: {error}"))
}

/// `struct bpf_insn` (include/uapi/linux/bpf.h): a bit field of two registers, in the machine's order.
fn bytes_of(instruction: &bpf_insn) -> [u8; 8] {
    let (to, from) = (instruction.dst_reg(), instruction.src_reg());
    let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
    let mut bytes = [instruction.code, registers, 0, 0, 0, 0, 0, 0];
    bytes[2..4].copy_from_slice(&instruction.off.to_ne_bytes());
    bytes[4..].copy_from_slice(&instruction.imm.to_ne_bytes());
    bytes
}
