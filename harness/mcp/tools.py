"""tools.py - the tables of tools, resources and prompts: commands of this program, with schemas for what goes in and out."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from protocol import INVALID_PARAMS, ProtocolError

LONGEST_WAIT_S = 25  # a client may give up after 30

# ---------------------------------------------------------------- schemas


def text(description: str) -> dict:
    return {"type": "string", "description": description, "minLength": 1}


def word(description: str, *words: str) -> dict:
    return {"type": "string", "description": description, "enum": list(words)}


def truth(description: str) -> dict:
    return {"type": "boolean", "description": description}


def arguments_schema(arguments: dict[str, dict], required: tuple[str, ...]) -> dict:
    """Nothing but these."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": arguments, **needed, "additionalProperties": False}


def document_schema(optional: tuple[str, ...] = (), **fields: tuple[object, str]) -> dict:
    """Of a document, which may hold more than these fields with their type and description."""
    properties = {name: {"type": type, "description": description} for name, (type, description) in fields.items()}
    return {"type": "object", "properties": properties, "required": [name for name in fields if name not in optional]}


def gates_schema(optional: tuple[str, ...] = (), **fields: tuple[object, str]) -> dict:
    gates = "gate, outcome and evidence of each; the last one is the one that failed"
    return document_schema(optional, **fields, gates=("array", gates))


def job_schema(result: dict) -> dict:
    """The answer of a tool that is a job, with the command's document as its `result`."""
    schema = document_schema(
        optional=("seconds", "progress", "exit_code", "message", "experiments"),
        job=("string", "its handle, for 'wait' and 'cancel'; it outlives this server"),
        tool=("string", "the tool that was called"),
        state=("string", "running: call 'wait' with the job"),
        seconds=("number", "since it began"),
        progress=("string", "the newest line of progress"),
        exit_code=("integer", "of the command"),
        message=("string", "what the command said beside its document, or why there is none"),
        experiments=("array", "of an interrupted job: those that it began, with their verdicts"))
    schema["properties"]["state"]["enum"] = ["running", "done", "failed", "cancelled", "interrupted"]
    schema["properties"]["result"] = result
    return schema


ANY_JOB = job_schema({"type": "object", "description": "the document of the tool that was called"})


def evaluation_schema() -> dict:
    number = ["number", "null"]
    # Of an output that was out of bounds.
    wrong = document_schema(
        workload=("string", "the sizes, a workload or a shape of the check"),
        regime=("string", "of the inputs"),
        tensor=("string", "the output"),
        axes=("array", "their names"),
        index=("array", "along each axis"),
        expected=(number, "by the fp64 reference"),
        got=(number, "null where it is not finite; the feedback says what it is"),
        bound=(number, "of the difference"),
        inputs=("array", "those at the same indices"),
        seed=(["integer", "null"], "of the inputs; null: kept secret"))
    wrong["properties"]["inputs"]["items"] = document_schema(
        name=("string", "the input"), index=("array", "along each of its axes"), value=(number, "null where it is not finite"))
    wrong |= {"type": ["object", "null"], "description": "the first wrong element, where a gate failed for one"}
    schema = gates_schema(
        variant=("string", "FAMILY/NAME"),
        verdict=("string", "see above"),
        score=("number", "a ratio; 0 for a wrong candidate"),
        incumbent=("string", "what it was judged against"),
        feedback=("array", "sentences to act on"),
        wrong=("object", "see its properties"),
        experiment=(["object", "null"], "the whole record"))
    schema["properties"]["wrong"] = wrong
    return schema


# ---------------------------------------------------------------- documents as a model reads them


def without_steps(document: dict, arguments: dict) -> dict:
    """The gates without the time of each of their steps, here and in an `experiment`."""
    document = dict(document)
    if isinstance(document.get("gates"), list):
        document["gates"] = [{key: value for key, value in gate.items() if key != "steps"} if isinstance(gate, dict) else gate
                             for gate in document["gates"]]
    if isinstance(document.get("experiment"), dict):
        document["experiment"] = without_steps(document["experiment"], arguments)
    return document


def without_rounds(document: dict, arguments: dict) -> dict:
    """Shortens `apo show`: the rounds are nine tenths of the document."""
    return {key: value for key, value in without_steps(document, arguments).items() if key != "rounds"}


def overview(document: dict, arguments: dict) -> dict:
    """Shortens `apo list`: each family with its name, its summary, its workloads and the number of its variants."""
    if "family" in arguments:
        return document
    families = [{"name": family.get("name", ""), "summary": family.get("summary", ""),
                 "workloads": [workload.get("name", "") for workload in family.get("workloads", [])],
                 "variants": len(family.get("variants", []))} for family in document.get("families", [])]
    return {**document, "families": families}


def whole(document: dict, arguments: dict) -> dict:
    return document


# ---------------------------------------------------------------- tools


@dataclass(frozen=True)
class Tool:
    """`command` with its `words`: a name is a position, "family=" becomes family=VALUE, and "--at_least" becomes
    --at-least=VALUE, or --NAME of a truth.

    `candidate` is what stands before a source file, for tools that take one; `with_file` goes with a file alone.
    """
    name: str
    title: str
    description: str
    arguments: dict[str, dict]
    output_schema: dict
    required: tuple[str, ...] = ()
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    command: str = ""  # "": the server carries it out by itself
    words: tuple[str, ...] = ()
    candidate: str | None = None
    with_file: tuple[str, ...] = ()
    # A job may take longer than a client waits: it has a row in the journal, and its answer is a record of the job.
    is_job: bool = False
    # The exit codes whose document answers what was asked: 1 and 3 too where a wrong kernel is an answer.
    answers: tuple[int, ...] = (0,)
    # Selects the part of the command's document that is passed on.
    shape: Callable[[dict, dict], dict] = whole

    @property
    def input_schema(self) -> dict:
        return arguments_schema(self.arguments, self.required)

    def document(self) -> dict:
        """As in tools/list. Clients assume the worst of a hint that is not stated, so that all four are."""
        hints = {"readOnlyHint": self.read_only, "destructiveHint": self.destructive,
                 "idempotentHint": self.idempotent, "openWorldHint": False}
        return {"name": self.name, "title": self.title, "description": self.description,
                "inputSchema": self.input_schema, "outputSchema": self.output_schema, "annotations": hints}


def family(more: str = "") -> dict:
    return text("kernel family; 'list' shows them" + more)


def workload(otherwise: str) -> dict:
    return text(f"workload of the family (default: {otherwise})")


def variant(description: str) -> dict:
    return text(description + ", FAMILY/NAME or FAMILY/NAME[TUNABLE=VALUE,...]")


CACHE = word("state of the caches before each call (default: cold)", "cold", "warm")
PRESETS = ("auto", "standard", "extended", "strict", "precise")
PATH = text("the candidate's source file, below the folder where the server was started; with its headers that are included "
            "with quotes. Either this or 'source'")
SOURCE = text("the candidate's source text, at most 1 MiB. Either this or 'path'")
FAMILY_OF_FILE = family("; of a file without a block")
FUNCTION = text("function of the file to call, for a file as it is, and what its parameters get where their names "
                "do not say it: 'norm4 N=B*T block_size=256'")
LINE = {"type": "array", "items": text("such as 'tune block_size 256' or 'requires C % 4 == 0'"),
        "description": "lines of the metadata block, for a file as it is"}
JOB = text("the handle of a job, such as j12")

TOOLS = [
    Tool(
        name="brief",
        title="What to try next, and why",
        description="The research brief of a workload: the incumbent, what its time goes to, candidates with predicted gains, "
                    "what was refuted, techniques that nobody has written. Start here.",
        arguments={"family": family(), "workload": workload("the family's first"),
                   "target": word("where it runs (default: auto)", "auto", "host", "cuda"), "cache": CACHE},
        required=("family",),
        output_schema=job_schema(document_schema(
            incumbent=("object", "the configuration to beat"),
            workload=("string", "what it is about"),
            bottlenecks=("array", "with evidence and bounds"),
            ranked=("array", "candidates, best first"))),
        read_only=True, idempotent=True, is_job=True,
        command="research", words=("family", "--workload", "--target", "--cache")),
    Tool(
        name="evaluate",
        title="Judge one candidate against the incumbent",
        description="Checks a candidate and times it against the incumbent of this machine in interleaved rounds and fresh "
                    "processes, and keeps the verdict. Verdicts: accepted, reverted, inconclusive, wrong (a gate failed), "
                    "incumbent (the same code), not_judged (not on this machine), ranked (judge quick). 'score' is the lower "
                    "end of the speed-up's interval, which is what can be claimed; 'feedback' says what to act on. Takes "
                    "minutes: a job.",
        arguments={
            "variant": text("a known variant with settings, FAMILY/NAME[SETTING=VALUE]; or give 'path' or 'source'"),
            "path": PATH, "source": SOURCE, "function": FUNCTION, "line": LINE,
            "family": family("; needed where the candidate's block names none"),
            "workload": workload("the first for the target"),
            "at_least": {"type": "number", "minimum": 0.001,
                         "description": "the least ratio that counts as reached; the exit code says whether"},
            "cache": CACHE,
            "judge": word("judge preset (default: auto); quick ranks candidates without a decision, in seconds",
                          *PRESETS, "quick")},
        output_schema=job_schema(evaluation_schema()),
        is_job=True, answers=(0, 1, 3), shape=without_steps,
        command="evaluate", candidate="", with_file=("--function", "--line"),
        words=("--family", "--workload", "--at_least", "--cache", "--judge")),
    Tool(
        name="register",
        title="Check a kernel and keep it as a variant",
        description="Builds a candidate, checks its results on many shapes and under sanitizers, and adds it to the catalogue "
                    "under the name in its apo:variant line. A refusal is an error with the compiler's text or the first wrong "
                    "element. 'evaluate' does this and times it too.",
        arguments={"path": PATH, "source": SOURCE, "function": FUNCTION, "line": LINE, "family": FAMILY_OF_FILE},
        output_schema=job_schema(gates_schema(
            optional=("log",),
            variant=("string", "FAMILY/NAME"),
            state=("string", "registered, already registered or refused"),
            path=("string", "where it is kept"),
            log=("string", "the compiler's, of a refused one"))),
        idempotent=True, is_job=True, shape=without_steps,
        command="register", candidate="", with_file=("--function", "--line"), words=("--family",)),
    Tool(
        name="verify",
        title="Check a kernel's results",
        description="Checks a variant, or a candidate that is not registered, against the fp64 reference on small, ragged and "
                    "production shapes and under sanitizers. Keeps nothing and times nothing.",
        arguments={"variant": text("FAMILY/NAME; or give 'path' or 'source'"), "path": PATH, "source": SOURCE,
                   "function": FUNCTION, "line": LINE, "family": FAMILY_OF_FILE},
        output_schema=job_schema(gates_schema(outcome=("string", "valid, or what is wrong"))),
        read_only=True, idempotent=True, is_job=True, answers=(0, 3), shape=without_steps,
        command="verify", candidate="--file=", with_file=("--family", "--function", "--line")),
    Tool(
        name="compare",
        title="Compare two variants",
        description="Judges variant b against variant a in paired rounds: the ratio with its interval, and whether this machine "
                    "can resolve it. Takes minutes: a job.",
        arguments={"a": variant("the variant to compare with"), "b": variant("the variant to judge"),
                   "workload": workload("the family's first"), "cache": CACHE,
                   "judge": word("judge preset (default: auto, from a run of the incumbent against itself)", *PRESETS)},
        required=("a", "b"),
        output_schema=job_schema(gates_schema(
            id=("integer", "the experiment"),
            outcome=("string", "valid, or the gate's"),
            judgement=(["object", "null"], "verdict, speedup, lower, upper, sentence"))),
        is_job=True, answers=(0, 3), shape=without_steps,
        command="compare", words=("a", "b", "--workload", "--cache", "--judge")),
    Tool(
        name="profile",
        title="Profile a variant",
        description="Where a variant's time goes: time, counters with units, stalls by source line, the distance to this "
                    "machine's measured roofs, bottlenecks. What could not be measured is named.",
        arguments={"variant": variant("the variant to profile"),
                   "workload": workload("that of its newest judgement here"), "cache": CACHE},
        required=("variant",),
        output_schema=job_schema(document_schema(
            workload=("string", "what it ran"),
            time_ns=(["number", "null"], "of a call"),
            floor_ns=(["number", "null"], "at the roofs"),
            metrics=("array", "name, value, unit, interval"),
            bottlenecks=("array", "with evidence"))),
        is_job=True,
        command="profile", words=("variant", "--workload", "--cache")),
    Tool(
        name="explain",
        title="Explain why one variant is faster",
        description="Profiles two variants and says which counters account for the difference between their times.",
        arguments={"a": variant("the variant to start from"), "b": variant("the variant to explain against a"),
                   "workload": workload("that of their newest judgement here"), "cache": CACHE},
        required=("a", "b"),
        output_schema=job_schema(document_schema(
            sentence=("string", "the answer"), differences=("array", "what accounts for it"))),
        is_job=True,
        command="explain", words=("a", "b", "--workload", "--cache")),
    Tool(
        name="wait",
        title="Wait for a job",
        description="Answers with the result of a job when it ends, or after some seconds with its progress; call it again then. "
                    "Knows jobs of earlier servers too.",
        arguments={"job": JOB, "seconds": {"type": "number", "minimum": 0, "maximum": LONGEST_WAIT_S,
                                           "description": "how long to wait for its end (default: 20)"}},
        required=("job",),
        output_schema=ANY_JOB,
        read_only=True, idempotent=True),
    Tool(
        name="cancel",
        title="Stop a job",
        description="Stops a job of this server with all of its processes. The journal keeps the experiments that it finished.",
        arguments={"job": JOB},
        required=("job",),
        output_schema=ANY_JOB,
        destructive=True, idempotent=True),
    Tool(
        name="list",
        title="List families, workloads and variants",
        description="Lists all kernel families with the names of their workloads, or one family in full, with its axes, tensors, "
                    "workloads and variants.",
        arguments={"family": family("; FAMILY/NAME shows one variant")},
        output_schema=document_schema(
            optional=("families", "variants"),
            format=("integer", "of documents"),
            families=("array", "the families, with their variants"),
            variants=("array", "the variants that were asked for")),
        read_only=True, idempotent=True, shape=overview,
        command="list", words=("family",)),
    Tool(
        name="lessons",
        title="What past experiments taught",
        description="Lists lessons, positive and negative, each with the condition under which it holds. Read them before you "
                    "try a technique again.",
        arguments={"family": family(), "technique": text("only lessons about this technique"),
                   "variant": text("only lessons about this variant, FAMILY/NAME"),
                   "verdict": word("only lessons with this verdict", "accepted", "reverted", "inconclusive")},
        output_schema=document_schema(
            lessons=("array", "text, verdict, speedup, condition of each; 'expired' says why it no longer holds")),
        read_only=True, idempotent=True,
        command="query --lessons", words=("family=", "technique=", "variant=", "verdict=")),
    Tool(
        name="query",
        title="Find past experiments",
        description="Finds experiments in the journal. A wrong key is answered with the keys that there are.",
        arguments={
            "where": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 64,
                      "description": "conditions, all of which hold: 'verdict=accepted', 'speedup>1.05', 'family=copy', "
                                     "'technique=chunk-prefetch', 'state=abandoned'"},
            "columns": text("columns to show, separated by commas"),
            "sort": text("keys, separated by commas; -KEY sorts descending"),
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "rows (default: 50)"}},
        output_schema=document_schema(
            columns=("array", "their names"),
            rows=("array", "a list of values each, in the order of the columns"),
            more=("boolean", "whether the limit left some out")),
        read_only=True, idempotent=True,
        command="query", words=("where", "--columns", "--sort", "--limit")),
    Tool(
        name="show",
        title="Show one experiment or variant in full",
        description="Shows an experiment with its gates, judgement and evidence, or a variant with its metadata.",
        arguments={"id": text("number of an experiment, or a variant FAMILY/NAME") | {"type": ["integer", "string"]},
                   "source": truth("with the source"), "log": truth("with the compiler's log, of an experiment")},
        required=("id",),
        output_schema=document_schema(
            format=("integer", "of documents"), id=(["integer", "string"], "what was asked for")),
        read_only=True, idempotent=True, shape=without_rounds,
        command="show", words=("id", "--source", "--log")),
    Tool(
        name="doctor",
        title="Check this machine",
        description="Checks what this machine can judge (compilers, GPU, permissions, journal) and names the fix of what fails. "
                    "Takes some seconds.",
        arguments={},
        output_schema=document_schema(
            format=("integer", "of documents"),
            host_works=("boolean", "whether variants for this CPU can be judged"),
            machine=("object", "what it is"),
            checks=("array", "name, state, finding and fix of each check")),
        read_only=True, idempotent=True, answers=(0, 1, 2, 3),
        command="doctor"),
]

TOOL_BY_NAME = {tool.name: tool for tool in TOOLS}

# ---------------------------------------------------------------- resources


@dataclass(frozen=True)
class Resource:
    path: str  # {...} stands for one part
    name: str
    title: str
    description: str
    mime_type: str
    words: str  # of a command that only reads
    field: str = ""  # of the command's document; "" takes all that it prints

    def document(self) -> dict:
        """As in resources/list, or in resources/templates/list."""
        address = "uriTemplate" if self.is_template else "uri"
        return {address: "apo://" + self.path, "name": self.name, "title": self.title, "description": self.description,
                "mimeType": self.mime_type}

    @property
    def is_template(self) -> bool:
        return "{" in self.path

    def command(self, uri: str) -> list[str] | None:
        """The words of the command; None for another address. No part of one is an option or leads elsewhere."""
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>(?!-)[A-Za-z0-9_.-]{1,200})", "apo://" + self.path)
        found = re.fullmatch(pattern, uri)
        return found and [part.format(**found.groupdict()) for part in self.words.split()]


RESOURCES = [
    Resource("lessons", "lessons", "Lessons", "What past experiments taught, and under which condition it holds", "text/plain",
             "query --lessons"),
    Resource("report", "report", "Report", "The report of the newest campaign", "text/markdown",
             "report --format=markdown --output=-"),
    Resource("status", "status", "Workers", "The workers of running campaigns: devices, what each judges, failures",
             "application/json", "list --workers --json"),
    Resource("brief/{family}/{workload}", "brief", "Research brief", "The incumbent, its bottlenecks, and what to try next",
             "application/json", "research {family} --workload={workload} --json"),
    Resource("experiment/{id}", "experiment", "Experiment", "One judgement with its gates and evidence", "text/plain",
             "show {id}"),
    Resource("source/{family}/{name}", "source", "Source", "The source text of a variant", "text/plain",
             "show {family}/{name} --source --json", "source"),
]


def find_resource(uri: str) -> tuple[Resource, list[str]] | None:
    """The resource with the words of its command."""
    for resource in RESOURCES:
        if words := resource.command(uri):
            return resource, words
    return None


# ---------------------------------------------------------------- prompts

# The model reads these when a session begins.
INSTRUCTIONS = ("apo judges compute kernels: it checks a candidate against an fp64 reference, times it against the incumbent of "
                "this machine in interleaved rounds, and keeps a journal of every attempt. Start with 'brief', judge with "
                "'evaluate', and claim no speed-up that it did not confirm. Calls that take minutes answer with a job in state "
                "'running': call 'wait' with it.")

OPTIMISE = """Make the kernel family '{family}' faster{on_workload}.

1. Call `brief`: it names the incumbent, its bottlenecks, what was refuted, and techniques that nobody has written.
   Call `list` with the family for its contract: axes, tensors, workloads, variants. Read the incumbent's source at
   apo://source/FAMILY/NAME.
2. Write one candidate with one idea. Put the block of lines `// apo:variant {family}/NAME`, `// apo:technique`, `// apo:idea`
   and `// apo:predict 1.1x..1.3x over parent: why` at its top, and predict before you measure.
3. Call `evaluate` with the family{and_workload} and the file. While its state is `running`, call `wait` with the job.
4. Read verdict, score and feedback. `wrong`: mend what the failed gate says. `reverted` or `inconclusive`: read
   `lessons`, compare with your prediction, and try another idea. `accepted`: go on from the new incumbent.
5. Claim nothing but the score: it is the lower end of the interval of the speed-up, against the incumbent, on this
   machine."""

PROMPTS = [{"name": "optimise",
            "title": "Make a kernel faster",
            "description": "The loop of an improvement: brief, one idea, evaluate, lessons",
            "arguments": [{"name": "family", "description": "kernel family; the tool 'list' shows them", "required": True},
                          {"name": "workload", "description": "workload of the family (default: its first one)",
                           "required": False}]}]

# What the server answers to requests for a list; it never changes.
LISTS = {"tools/list": {"tools": [tool.document() for tool in TOOLS]},
         "resources/list": {"resources": [one.document() for one in RESOURCES if not one.is_template]},
         "resources/templates/list": {"resourceTemplates": [one.document() for one in RESOURCES if one.is_template]},
         "prompts/list": {"prompts": PROMPTS}}


def prompt_text(arguments: dict) -> str:
    """Of the only prompt. Throws ProtocolError for arguments that do not fit."""
    if set(arguments) - {"family", "workload"} or not all(isinstance(value, str) for value in arguments.values()):
        raise ProtocolError(INVALID_PARAMS, "the prompt takes the strings 'family' and 'workload'")
    if not arguments.get("family"):
        raise ProtocolError(INVALID_PARAMS, "the prompt needs the argument 'family'")
    workload = arguments.get("workload")
    return OPTIMISE.format(family=arguments["family"], on_workload=f" on its workload '{workload}'" if workload else "",
                           and_workload=", the workload" if workload else "")
