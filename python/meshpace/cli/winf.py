"""``meshpace winf``: links of a capture, with what they can carry and what is free of it."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from meshpace import engine
from meshpace.cli.failure import InputError
from meshpace.cli.terminal import console
from meshpace.cli.unpacking import unpacked
from meshpace.files import distinct, replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEGA = 1e6
_USELESS = (
    ("bad_frames", "failed their check sequence"),
    ("unreadable_frames", "have headers that are cut off or unknown"),
    ("frames_without_rate", "do not say how fast they were sent"),
    ("aggregated_frames", "are acknowledged together with others, and not measured"),
    (
        "foreign_frames",
        "are of interfaces without radiotap headers, of none that the file describes, or without a time",
    ),
)


@dataclass(frozen=True, slots=True)
class Outputs:
    """What to write beside the table."""

    as_json: bool
    series: bool
    parquet: Path | None
    pdf: Path | None


def winf(capture: Path, window_s: float, min_bytes: int, outputs: Outputs) -> None:
    """Measures, writes the files, prints the table or the JSON.

    Raises:
        InputError: nothing can be made of the capture.
        OSError: it cannot be read, or a file not be written.
    """
    distinct({"--parquet": outputs.parquet, "--pdf": outputs.pdf}, read=[capture])
    if outputs.pdf is not None:
        from meshpace.report.panels import require_matplotlib

        require_matplotlib()
    with ExitStack() as files:
        drafts = {path: files.enter_context(replacing(path)) for path in (outputs.parquet, outputs.pdf) if path}
        with unpacked(capture) as (readable, broken):
            try:
                found = engine.winf(readable, window_s=window_s, min_bytes=min_bytes)
            except ValueError as error:
                raise InputError(f"{capture}: {error}") from None
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(capture)) from None
        found = {"schema": 1, "capture": str(capture), "window_s": window_s, "min_bytes": min_bytes, **found}
        if broken is not None:
            found["partial"] = broken if found["partial"] is None else f"{broken}: {found['partial']}"
        if outputs.parquet:
            _write_parquet(drafts[outputs.parquet], found)
        if outputs.pdf:
            _write_pdf(drafts[outputs.pdf], found)
    if found["partial"] is not None:
        print(f"{capture}: partial: {found['partial']}", file=sys.stderr)
    if outputs.as_json:
        print(json.dumps(found))
    else:
        _print_table(found["links"])
        if outputs.series:
            _print_table(found["series"])
        _print_counts(found)


def _print_table(rows: list[dict[str, Any]]) -> None:
    """Links, or what they were at the end of each window."""
    over_time = any("time_s" in row for row in rows)
    table = Table(*(("time, s",) if over_time else ()), "from", "to", box=box.SIMPLE_HEAD)
    for title in ("capacity, Mbit/s", "available, Mbit/s", "exchanges"):
        table.add_column(title, justify="right")
    for row in rows:
        when = (f"{row['time_s']:.3f}",) if over_time else ()
        rates = (f"{row[key] / _MEGA:.3f}" for key in ("capacity_bps", "available_bps"))
        table.add_row(*when, row["from"], row["to"], *rates, str(row["samples"]))
    console().print(table)


def _print_counts(found: dict[str, Any]) -> None:
    busy = f"busy for {found['busy_share']:.1%}" if found["duration_s"] > 0 else "no time passed"
    print(f"{found['frames']} frames in {found['duration_s']:.3f} s, the medium {busy}; times by the {found['clock']}.")
    for key, why in _USELESS:
        if found[key]:
            print(f"{found[key]} frames {why}.")
    if len(found["channels_mhz"]) > 1:
        channels = ", ".join(map(str, found["channels_mhz"]))
        print(f"Frames of several channels ({channels} MHz): the medium is busy when any of them is.")


def _write_parquet(path: Path, found: dict[str, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"time_s": pa.float64(), "from": pa.string(), "to": pa.string(), "capacity_bps": pa.float64(),
             "available_bps": pa.float64(), "samples": pa.int64()}  # fmt: skip
    table = pa.Table.from_pylist(found["series"], schema=pa.schema(list(kinds.items())))
    about = {key: value for key, value in found.items() if key not in ("series", "links")}
    pq.write_table(table.replace_schema_metadata({"meshpace": json.dumps(about)}), path)


def _write_pdf(path: Path, found: dict[str, Any]) -> None:
    """Two curves a link over time: what it can carry, and what is free of it."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasPdf(figure)
    axes: Axes = figure.add_subplot()
    for number, link in enumerate(found["links"]):
        rows = [row for row in found["series"] if (row["from"], row["to"]) == (link["from"], link["to"])]
        times = [row["time_s"] for row in rows]
        colour, name = f"C{number % 10}", f"{link['from']} to {link['to']}"
        axes.plot(times, [row["capacity_bps"] / _MEGA for row in rows], "--", color=colour, marker=".")
        axes.plot(times, [row["available_bps"] / _MEGA for row in rows], "-", color=colour, marker=".", label=name)
    axes.set_xlabel("time, s")
    axes.set_ylabel("Mbit/s: capacity (dashed), available")
    axes.set_ylim(bottom=0)
    if found["links"]:
        axes.legend(fontsize="small")
    # Without the date: equal captures, equal bytes.
    figure.savefig(path, format="pdf", metadata={"CreationDate": None})
