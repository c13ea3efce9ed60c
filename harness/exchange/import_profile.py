"""import_profile.py - a profile of another tool: an SQLite export of Nsight Systems, or what `ncu --csv` prints.

Reads {"file", "copies": the names of CUPTI's directions, "gap_limits": in ns, of classes of idle gaps}.
Prints {"source": "nsys" or "ncu", "device", "process": as the recorder writes one, "metrics": of ncu, "notes"}. The
file may hold anything: the program checks the numbers of the process as it checks those that a profiled process leaves.
"""
import bisect
import csv
import io
import math
import re
import sqlite3
import time
import urllib.parse

from conversion import Mistake, main, read_bytes

PATIENCE_S = 300


def process_of(work, devices=(), untimed=0):
    return {"pid": 0, "parent": 0, "program": "", "library": "", "missing": "", "complete": True, "dropped": 0,
            "untimed": untimed, "work": work, "devices": list(devices), "ranges": []}  # fmt: skip


# ---------------------------------------------------------------- Nsight Systems

TABLES = {kind: "CUPTI_ACTIVITY_KIND_" + name for kind, name in
          (("kernel", "KERNEL"), ("copy", "MEMCPY"), ("fill", "MEMSET"))}  # fmt: skip
TIMED = """ WHERE typeof(start) = 'integer' AND typeof("end") = 'integer' AND start >= 0 AND "end" >= start"""
SUMS = """count(*), sum("end" - start), min("end" - start), max("end" - start)"""
READS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


def open_to_read(file):
    connection = sqlite3.connect(f"file:{urllib.parse.quote(file)}?mode=ro", uri=True)
    connection.text_factory = lambda text: text.decode(errors="replace")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in READS else sqlite3.SQLITE_DENY)
    deadline = time.monotonic() + PATIENCE_S
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    return connection


def work_of(connection, kind, copies):
    """One entry a kernel or direction of copies."""
    table, name, size = TABLES[kind], "''", "0"
    if kind == "kernel":
        of_table = f"FROM sqlite_schema WHERE name = '{table}'"
        demangled = connection.execute(f"SELECT instr(lower(sql), 'demangledname') {of_table}").fetchone()[0]
        name = "demangledName" if demangled else "shortName"
    else:
        name, size = ("copyKind" if kind == "copy" else "''"), "CAST(coalesce(sum(bytes), 0) AS INTEGER)"
    shown = f"(SELECT value FROM StringIds WHERE id = {name})" if kind == "kernel" else name
    for key, calls, total, least, most, moved in connection.execute(
            f"SELECT {shown}, {SUMS}, {size} FROM {table}{TIMED} GROUP BY {name}"):
        if kind == "copy":
            key = copies[key or 0] if (key or 0) in range(len(copies)) else "memcpy of another kind"
        yield {"kind": kind, "name": "memset" if kind == "fill" else str(key or "(no name)"), "calls": calls,
               "total_ns": total, "min_ns": least, "max_ns": most, "bytes": moved}  # fmt: skip


def devices_of(connection, tables, limits):
    """Busy and idle times of each GPU: intervals come in the order of their starts."""
    columns = 'CAST(deviceId AS INTEGER), start, "end"'
    intervals = " UNION ALL ".join(f"SELECT {columns} FROM {table}{TIMED}" for table in tables)
    devices = {}
    for device, start, end in connection.execute(f"SELECT * FROM ({intervals}) ORDER BY 2"):
        number = (device or 0) & 0xFF
        busy = devices.setdefault(number, {
            "device": number, "first_ns": start, "last_ns": start, "busy_ns": 0, "late": 0, "longest_gap_ns": 0,
            "gaps": [{"count": 0, "ns": 0} for _ in [*limits, None]]})  # fmt: skip
        if (gap := start - busy["last_ns"]) > 0:
            of_class = busy["gaps"][bisect.bisect_left(limits, gap)]
            of_class["count"] += 1
            of_class["ns"] += gap
            busy["longest_gap_ns"] = max(busy["longest_gap_ns"], gap)
        busy["busy_ns"] += max(0, end - max(start, busy["last_ns"]))
        busy["last_ns"] = max(busy["last_ns"], end)
    return devices.values()


def of_nsys(document):
    connection = open_to_read(document["file"])
    # A view could do anything.
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "StringIds" not in there:
        raise sqlite3.Error("it has no table StringIds")
    kinds = [kind for kind, table in TABLES.items() if table in there]  # a table is made only where it has rows
    if not kinds:
        raise sqlite3.Error("it has no table of kernels, copies or fills; was CUDA traced "
                            "('nsys profile --trace cuda')?")
    work = [one for kind in kinds for one in work_of(connection, kind, document["copies"])]
    rows = sum(connection.execute(f"SELECT count(*) FROM {TABLES[kind]}").fetchone()[0] for kind in kinds)
    devices = devices_of(connection, [TABLES[kind] for kind in kinds], document["gap_limits"])
    gpu = connection.execute("SELECT name FROM TARGET_INFO_GPU").fetchone() if "TARGET_INFO_GPU" in there else None
    process = process_of(work, devices, rows - sum(one["calls"] for one in work))
    return {"source": "nsys", "device": str(gpu[0]) if gpu else "", "process": process, "metrics": [], "notes": []}


# ---------------------------------------------------------------- ncu

HEADER = re.compile(r'^"ID",.*"Kernel Name"', re.MULTILINE)  # output of the program may precede it
DURATIONS = ("gpu__time_duration.sum", "gpu__time_duration.avg", "Duration")
NS = {"ns": 1, "nsecond": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9}
MOST_NS = 1e15  # of one launch: 11 days


def number(text):
    """"1,234.5"; words, "n/a" and lists are no numbers."""
    plain = text.replace(",", "").strip()
    return float(plain) if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", plain, re.ASCII) else None


def values_of(rows, file):
    """(launch, kernel, metric, unit, text, line) of the details page, a row a metric, or of the raw page, a column a
    metric."""
    _, header = next(rows)
    place = {name: index for index, name in reversed(list(enumerate(header)))}
    details = "Metric Name" in place and "Metric Value" in place
    kernel, units = place["Kernel Name"], [""] * len(header)
    for line, row in rows:
        if len(row) <= 1 or row[0].startswith("=="):
            continue  # an empty line, or one of ncu's own messages
        if len(row) != len(header):
            raise Mistake(f"a row of {len(row)} fields under a header of {len(header)} in {file}:{line}",
                          "the file is cut off, or another program printed into it: use 'ncu --csv --log-file FILE'")
        if not row[0]:
            units = row  # the raw page's second line
            continue
        launch = (row[place["Process ID"]] if "Process ID" in place else "", row[0])
        if details:
            unit = row[place["Metric Unit"]] if "Metric Unit" in place else ""
            yield launch, row[kernel], row[place["Metric Name"]], unit, row[place["Metric Value"]], line
            continue
        yield launch, row[kernel], "", "", "", line
        for index, metric in enumerate(header):
            if "__" in metric:  # metrics have two underscores, facts have none
                yield launch, row[kernel], metric, units[index], row[index], line


def numbered_rows(text):
    """Rows with the line that each begins on."""
    start = HEADER.search(text).start()
    reader = csv.reader(io.StringIO(text[start:], newline="\n"))
    first = text.count("\n", 0, start) + 1
    line = first
    for row in reader:
        yield line, row
        line = first + reader.line_num


def of_ncu(file, text):
    launches, timed, work, means = set(), set(), {}, {}
    for launch, kernel, metric, unit, shown, line in values_of(numbered_rows(text), file):
        launches.add(launch)
        value = number(shown)
        if metric in DURATIONS and launch not in timed:
            ns = value * NS[unit] if value is not None and unit in NS else -1
            if not 0 <= ns < MOST_NS:
                raise Mistake(f"'{shown:.40}' '{unit:.40}' is no duration in {file}:{line}",
                              'ncu writes for example "1,234" with the unit "ns"')
            timed.add(launch)
            ns = math.floor(ns + 0.5)
            one = work.setdefault(kernel, {"kind": "kernel", "name": kernel, "calls": 0, "total_ns": 0, "min_ns": ns,
                                           "max_ns": ns, "bytes": 0})
            one.update(calls=one["calls"] + 1, total_ns=one["total_ns"] + ns, min_ns=min(one["min_ns"], ns),
                       max_ns=max(one["max_ns"], ns))
        if value is not None and metric:
            mean = means.setdefault((kernel, metric), {"kernel": kernel, "name": metric, "mean": 0, "samples": 0})
            mean.update(unit=unit, mean=mean["mean"] + value, samples=mean["samples"] + 1)  # the sum until the end
    for mean in means.values():
        mean["mean"] /= mean["samples"]
    without = len(launches) - len(timed)
    note = f"{without} of {len(launches)} launches have no duration: let ncu collect gpu__time_duration.sum"
    return {"source": "ncu", "device": "", "process": process_of([work[name] for name in sorted(work)]),
            "metrics": [means[key] for key in sorted(means)], "notes": [note] if without else []}  # fmt: skip


# ---------------------------------------------------------------- either


def how_to_export(file):
    """Reports of the tools themselves can't be read: their formats are NVIDIA's own."""
    if file.endswith((".nsys-rep", ".qdrep")):
        return f"export it first: 'nsys export --type sqlite {file}'"
    if file.endswith(".ncu-rep"):
        return f"export it first: 'ncu --import {file} --csv --page raw > FILE.csv'"
    return "make one with 'nsys export --type sqlite REPORT' or 'ncu --csv --log-file FILE COMMAND'"


def import_profile(document):
    file = document["file"]
    if read_bytes(file, 16) == b"SQLite format 3\0":
        try:
            return {}, of_nsys(document)
        except sqlite3.Error as error:
            if str(error) == "interrupted":
                raise Mistake(f"reading '{file}' took more than five minutes", "export a shorter capture") from error
            raise Mistake(f"'{file}' is no SQLite export of Nsight Systems: {error}",
                          "make one with 'nsys export --type sqlite REPORT.nsys-rep'") from error
    text = read_bytes(file).decode(errors="replace")
    if not HEADER.search(text):
        raise Mistake(f"'{file}' is neither an SQLite export of Nsight Systems nor CSV of ncu", how_to_export(file))
    csv.field_size_limit(1 << 30)
    try:
        return {}, of_ncu(file, text)
    except csv.Error as error:
        raise Mistake(f"'{file}' is no CSV: {error}", how_to_export(file)) from error


if __name__ == "__main__":
    main(import_profile)
