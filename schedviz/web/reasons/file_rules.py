"""The rules of files that are imported or played: what is wrong with them, in plain words.

A problem is recognised by the text of :mod:`simulator.dumps` or :mod:`simulator.arrivals`."""

from typing import Final

from django.utils.translation import gettext_noop

_NOT_MADE_BY: Final = gettext_noop(
    "This is not an object of Kubernetes. Make the file with this command: %(command)s"
)
_BETWEEN: Final = gettext_noop("“%(value)s” must be from %(least)s to %(most)s.")
_VALUE: Final = r"""(?P<value>'.*'|".*"|[^'" ]+)"""
"""A value in a message, as Python writes it."""

WRONG_FILES: Final = (
    gettext_noop("a table that kubectl get prints"),
    gettext_noop("the output of kubectl describe"),
    gettext_noop("the output of kubectl cluster-info"),
    gettext_noop("a message of kubectl"),
    gettext_noop("a list of names"),
    gettext_noop("a copy of a terminal"),
    gettext_noop("a text in Markdown"),
    gettext_noop("a web page"),
    gettext_noop("a file compressed with zstd"),
    gettext_noop("a file compressed with bzip2"),
    gettext_noop("a file compressed with xz"),
    gettext_noop("a 7z archive"),
    gettext_noop("a snapshot of etcd"),
    gettext_noop("a PDF file"),
    gettext_noop("a picture"),
)
"""What a file can be that is no dump, as :mod:`simulator.dumps.recognition` says it."""

FILES: Final[tuple[tuple[str, str], ...]] = (
    # Dumps of clusters, and archives.
    (r"(?:the (?:dump|file)|it) is empty.*", gettext_noop("The file is empty.")),
    (
        r"(?:not gzip|not a tar archive|not a zip archive that can be read|cannot be unpacked): .*",
        gettext_noop("The file cannot be unpacked: it is damaged or cut off, or has a password."),
    ),
    (
        (
            r"more than (?P<mib>\d+) MiB; dump fewer kinds or namespaces|"
            r"the file has more than (?P<mib2>\d+) MiB"
        ),
        gettext_noop("The file has more than %(mib)s MiB."),
    ),
    (
        r"more than (?P<size>\d+ MiB) of YAML; use -o json, which is parsed much faster",
        gettext_noop("The file has more than %(size)s of YAML. Use -o json, which is read much faster."),
    ),
    (
        r"the .* has more than (?P<n>\d+) files with manifests",
        gettext_noop("The archive has more than %(n)s files with manifests."),
    ),
    (
        r"the .* has no file whose name ends with (?P<endings>.*)",
        gettext_noop("The archive has no file whose name ends with one of these: %(endings)s."),
    ),
    (
        r"not JSON that kubectl prints: .*",
        gettext_noop("This is not JSON that kubectl prints, or its end is missing."),
    ),
    (r"not UTF-(?:8|16)|the text is no UTF-8", gettext_noop("The text is not UTF-8.")),
    (r"not an object of Kubernetes; use (?P<command>kubectl .*)", _NOT_MADE_BY),
    (
        r"this is (?P<what>[^;]*); use (?P<command>kubectl .*)",
        gettext_noop("This is %(what)s. Make the file with this command: %(command)s"),
    ),
    (
        (
            r"the dump contains no object that the simulator uses, [^;]*; "
            r"found (?P<found>\d+ [A-Z]\w*(?:, \d+ [A-Z]\w*)*); use (?P<command>kubectl .*)"
        ),
        gettext_noop(
            "The file has no object that is used here, such as a Node or a Pod, but %(found)s. Make it with "
            "this command: %(command)s"
        ),
    ),
    (
        r"the dump contains no object that the simulator uses, .*; use (?P<command>kubectl .*)",
        gettext_noop(
            "The file has no object that is used here, such as a Node or a Pod. Make it with this command: "
            "%(command)s"
        ),
    ),
    (r"not a record of a recording: .*", gettext_noop("This line is not one of a recording.")),
    (
        r"a newer version recorded this: .*",
        gettext_noop("A newer version of schedviz has made this recording."),
    ),
    (
        r"reading the \w+ needs more than \d+ MiB",
        gettext_noop("Reading the file takes too long, or needs too much memory."),
    ),
    # Arrivals, and nodes for them.
    (
        r"more than (?P<n>[\d,]+) arrivals",
        gettext_noop("These are too many at once: at most %(n)s are possible."),
    ),
    (
        r"the workload has no node; give a file of nodes",
        gettext_noop("There is no node for the pods. Give a file of nodes, too."),
    ),
    (
        r"it is no header of an arrivals file or of nodes",
        gettext_noop("This is not the header of a file of arrivals or of nodes."),
    ),
    (r"the column is there twice", gettext_noop("The column is there twice.")),
    (
        r"unknown; the columns are (?P<columns>.*)",
        gettext_noop("There is no such column. The columns are %(columns)s."),
    ),
    (
        r"(?P<n>\d+) columns, but the header has (?P<header>\d+)",
        gettext_noop("Columns of this line: %(n)s. Columns of the header: %(header)s."),
    ),
    (r"unexpected end of data", gettext_noop("A quotation mark is opened and never closed.")),
    (r"no JSON: .*|no object of JSON", gettext_noop("This line is not an object of JSON.")),
    (r"unknown field", gettext_noop("There is no such field.")),
    (r"missing", gettext_noop("A value is needed here.")),
    (
        r"an object is changed or deleted, not both",
        gettext_noop("An object is either changed or deleted, not both."),
    ),
    (
        r"there is no (?P<kind>\S+) (?P<name>\S+) to change",
        gettext_noop("There is no object %(kind)s “%(name)s” at that time that could be changed."),
    ),
    (rf"{_VALUE} is neither true nor false", gettext_noop("“%(value)s” must be true or false.")),
    (
        r"a list; JSON Lines have one object a line, without brackets and commas",
        gettext_noop("This is a list. Write one object a line, without brackets and commas."),
    ),
    (
        r"longer than (?P<n>[\d,]+) bytes|field larger than field limit \((?P<n2>\d+)\)",
        gettext_noop("The line is longer than %(n)s bytes."),
    ),
    (
        r'a manifest; an arrival has it as its "object"',
        gettext_noop('This is a manifest. Write it as the object of an arrival: {"time": 0, "object": …}'),
    ),
    (
        r"the columns are separated by (?P<value>'.*'); a CSV has commas",
        gettext_noop("The columns are separated by “%(value)s”. Separate them by commas."),
    ),
    (
        r"more than a year after the pod was created or started",
        gettext_noop("The pod ends more than a year after it is created or started."),
    ),
    (r"a zip archive; unpack it before", gettext_noop("This is a zip archive. Unpack it before.")),
    (r"the file has no arrivals", gettext_noop("The file has no arrivals.")),
    (
        r"a trace of SimKube of version (?P<version>.+); version (?P<read>\d+) is read",
        gettext_noop("This trace of SimKube has version %(version)s. Only version %(read)s is read."),
    ),
    (
        (
            r"no (?:export|trace|Azure trace|record:|manifest with|object of Kubernetes) .*|"
            r"durationNanosecond of a ResourcePatch is no number"
        ),
        gettext_noop("The file does not have the form of a recording or trace that is read here."),
    ),
    (
        rf"{_VALUE}: (?:unable to parse quantity|quantities must match).*",
        gettext_noop("“%(value)s” is not an amount. Write it as 500m, 2 or 4Gi."),
    ),
    (r"no manifest", gettext_noop("This is not a manifest: an object with metadata is needed.")),
    (rf"{_VALUE} is not a number of seconds", gettext_noop("“%(value)s” is not a number of seconds.")),
    (
        rf"{_VALUE} is not a duration; write .*",
        gettext_noop("“%(value)s” is not a duration. Write it as 400ms, 12s or 1m30s."),
    ),
    (
        (
            rf"{_VALUE} is not from 0 to a year|before the beginning|more than a year after the beginning|"
            r"int too large to convert to float"
        ),
        gettext_noop("The time must be from 0 to a year."),
    ),
    (
        r"before the pod was created or started",
        gettext_noop("The pod ends before it is created or started."),
    ),
    (rf"{_VALUE} is not from (?P<least>-?[\d,]+) to (?P<most>[\d,]+)", _BETWEEN),
    (rf"{_VALUE} is less than 0", gettext_noop("“%(value)s” is too small: it must be 0 or more.")),
    (rf"{_VALUE} is not of the form (?P<form>\S+)", gettext_noop("Write “%(value)s” as %(form)s.")),
    (
        rf"{_VALUE} is not a whole number|could not convert string to float: (?P<value2>'.*')",
        gettext_noop("“%(value)s” is not a whole number."),
    ),
    (
        rf"{_VALUE} is not one of (?P<choices>[\w, ]+), or kind/name",
        gettext_noop("“%(value)s” is not one of the allowed values: %(choices)s."),
    ),
    (r"there are two nodes (?P<name>.*)", gettext_noop("There are two nodes “%(name)s”.")),
    (
        r"there are two of kind (?P<kind>\S+) named (?P<name>\S+?), as in line (?P<line>\d+)",
        gettext_noop("There is another object %(kind)s “%(name)s” at that time, in line %(line)s."),
    ),
    (
        r"there are two of kind (?P<kind>\S+) named (?P<name>\S+)",
        gettext_noop("There is another object %(kind)s “%(name)s” at that time."),
    ),
    (
        r"the workload has (?P<n>[\d,]+) pods; a sandbox holds at most (?P<most>[\d,]+)\..*",
        gettext_noop(
            "The workload has %(n)s pods, and a sandbox at most %(most)s. The command schedviz play plays it."
        ),
    ),
    (
        (
            r"the workload has (?P<n>[\d,]+) objects, with its pods; "
            r"a sandbox holds at most (?P<most>[\d,]+)\..*"
        ),
        gettext_noop(
            "The workload has %(n)s objects, with its pods, and a sandbox at most %(most)s. The command "
            "schedviz play plays it."
        ),
    ),
)
