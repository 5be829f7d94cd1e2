//! `meshpaced man`: man pages and shell completions, made of the command line's own definition.

use crate::Failure;
use clap::Command;
use clap_complete::Shell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `meshpaced man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory that meshpaced.1 and one page a command are written to.
    #[arg(required_unless_present = "completions")]
    directory: Option<PathBuf>,
    /// Print this shell's completions instead.
    #[arg(long, value_name = "SHELL", conflicts_with = "directory")]
    completions: Option<Shell>,
}

/// Writes the pages or prints the completions of this command line.
///
/// # Errors
/// [`Failure::Operational`] if the directory cannot be written.
pub fn run(args: &Args, mut whole: Command) -> Result<ExitCode, Failure> {
    match (&args.directory, args.completions) {
        (Some(directory), _) => pages(directory, whole)?,
        (None, Some(shell)) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut whole, "meshpaced", &mut text);
            crate::text::print(&String::from_utf8_lossy(&text))?;
        }
        (None, None) => unreachable!("clap asks for one of them"),
    }
    Ok(ExitCode::SUCCESS)
}

fn pages(directory: &Path, whole: Command) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|why| Failure::operational(directory.display(), why))?;
    clap_mangen::generate_to(whole, directory).map_err(|why| Failure::operational(directory.display(), why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_defined() {
        Cli::command().debug_assert();
    }

    #[test]
    fn there_is_a_page_for_every_command_and_it_names_its_options() {
        let directory = tempfile::tempdir().unwrap();
        pages(directory.path(), Cli::command()).unwrap();
        let page = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
        for command in Cli::command().get_subcommands() {
            let text = page(&format!("meshpaced-{}.1", command.get_name()));
            assert!(text.contains(".TH meshpaced"), "{text}");
        }
        assert!(page("meshpaced.1").contains("explain"));
        assert!(page("meshpaced-flows.1").contains("\\-\\-sort"), "{}", page("meshpaced-flows.1"));
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_named() {
        let failure = pages(Path::new("/proc/nowhere"), Cli::command()).unwrap_err();
        assert!(failure.to_string().contains("/proc/nowhere"), "{failure}");
    }
}
