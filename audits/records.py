"""What everything else knows of an audit: one record, written in the audit's own package.

Page, report, overview, comparison, gate, schema and tests loop over records; no list of audits stands
elsewhere. A record loads nothing but its options: what runs and what draws is named, and imported when it is
first needed, so that a worker never loads a drawing library and `groups` never loads a neural one.
"""

from __future__ import annotations

import functools
import importlib
import importlib.resources
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from audits.errors import is_installed, not_installed, optional

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


_TRAINING_SECONDS = {"logistic": 1.0, "forest": 4.0, "boosting": 4.0, "mlp": 12.0}  # of 20,000 rows
# what stands above the control of an option that several audits have
_LABELS = {
    "level": "Error rate",
    "material": "Smallest difference that matters",
    "material_amount": "Smallest difference that matters",
    "seconds": "Time limit for measuring chance",
}
_MIN_BYTES, _COPIES = 1e8, 4.0  # what every audit takes: libraries, and copies of the encoded features


@dataclass(frozen=True, eq=False)
class Exhibit:
    """One thing that a result has to show: what it is, a figure and the table behind it.

    Attributes
    ----------
    key : str
        Name within the audit, as a page names it to draw something else in its place: ``"sizes"``.
    heading : str
        What it is, in a few words; stands above it on pages and in reports.
    caption : str
        What to look for, in a sentence.
    figure : callable
        Makes the figure; called only when it is shown.
    table : callable
        Makes the numbers behind it.
    wide : bool
        Whether it needs the whole width of a page.
    bars : bool
        Whether the table is what the figure draws, bar by bar, which nobody reads on paper.
    tab : str
        Where a page shows it, unless it is the first, which stands above the tabs: ``"who"`` (who are they?),
        ``"apart"`` (what sets them apart?), ``"tested"`` (how we tested), or the title of a tab of its own.
    """

    key: str
    heading: str
    caption: str
    figure: Callable[[], go.Figure]
    table: Callable[[], pd.DataFrame]
    wide: bool = False
    bars: bool = False
    tab: str = "tested"

    @property
    def named(self) -> str:
        """Heading and caption: no other exhibit of a result has both."""
        return f"{self.heading}: {self.caption}"


@dataclass(frozen=True, eq=False)
class Section:
    """How a result is presented: a title that names what was compared, exhibits, and facts by name."""

    title: str
    exhibits: tuple[Exhibit, ...]
    facts: Mapping[str, str] = field(default_factory=dict)

    def exhibit(self, key: str) -> Exhibit:
        """Return the exhibit of that key; KeyError where this result has none."""
        return {each.key: each for each in self.exhibits}[key]


@dataclass(frozen=True)
class Size:
    """How large an audit's work is, for its expected seconds.

    Attributes
    ----------
    rows : int
        Rows audited.
    width : int
        Columns of the encoded features.
    trained : str or None
        Kind of model trained here; None for one that was brought.
    groups : mapping
        Protected attribute to the rows of each of its values, as far as known.
    """

    rows: int
    width: int
    trained: str | None = None
    groups: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def start_seconds(self) -> float:
        """About how many seconds go before the first audit: reading, and training a model here."""
        return 1.0 + _TRAINING_SECONDS.get(self.trained or "", 0.0) * self.rows / 20_000


Named = str | Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class OnPages:
    """What only pages need of an audit.

    Attributes
    ----------
    noun : str
        What a sentence calls what the audit looks at, in the plural; by default its title in small letters.
    does : str
        The button that runs it, as a command to someone who does not know its name; ``{yes}`` is what the
        favored are.
    labels : mapping
        Option to what stands above its control, where that is more than its name: messages say it, too. A
        key with a dot is one of another section of the spec.
    alone : tuple of str
        Options that refusals name without the audit's name, as a function names its arguments.
    selected : mapping
        Column of ``people`` to what a selection by it says: ``"flagged"``; ``"column missing"`` and ``"column
        at_most"`` for those without a value, and up to one (``{percent}`` of it).
    asks : mapping
        What its page asks about the data before a run, by name: ``asks[name](data, **told)`` returns plain
        data, or a frame.
    former : tuple of str
        What its page was called in links of earlier versions.
    former_choices : mapping
        Names that choices had in links of earlier versions to those that they have now.
    """

    noun: str = ""
    does: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    alone: tuple[str, ...] = ()
    selected: Mapping[str, str] = field(default_factory=dict)
    asks: Mapping[str, Named] = field(default_factory=dict)
    former: tuple[str, ...] = ()
    former_choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The record of an audit.

    Attributes
    ----------
    name : str
        As specs name it; also the name of its package, page, texts and tests.
    title : str
        Of its page, and in lists.
    question : str
        What it answers, in a sentence.
    limits : str
        What it cannot tell.
    also_called : str
        What other libraries and everyday speech call it, apart by spaces, each in small letters and digits
        alone: ``"fliptest"``. Where a spec has one for a name, the error says what to write.
    options : type
        Frozen dataclass of what an auditor can choose; a spec's options are checked against it.
    result : str or type
        Frozen dataclass with at least ``verdict``, ``finding``, ``warnings`` and ``to_json()``.
    runs : str or callable
        ``runs(subject, options, *, rng, progress)`` returns the result.
    presents : str or callable
        ``presents(result)`` returns its `Section`.
    says : str or callable, optional
        ``says(result)`` returns the first sentence: one idea, at most 30 words, whole people, no method.
        The result's ``finding``, with numbers and method, stands below it, or instead where this is left out.
    keys : mapping or str, optional
        What others may rely on in its part of results.json, as a JSON schema, beside what every audit states;
        ``"package:file.json"`` where it lies in a file of its package.
    counted : str or callable, optional
        For an audit that is a sum over people who agree in a few columns, so that a table of any length can
        be counted batch by batch: ``counted(options, data)`` returns the columns that it reads besides those
        of the spec's data, each with how it cuts numbers (`audits.data.groupby.Asked`), or raises InputError
        for an option that needs every person.
    seconds : callable, optional
        ``seconds(options, size)``: about how long a run takes.
    memory : callable, optional
        ``memory(options, size)``: about how many bytes a run takes on top of its data and model.
    usual : str or callable, optional
        ``usual(data)`` returns options that need no choice on these data, or None where there are none.
    searches : str or callable, optional
        ``searches(data)`` returns options with which a run looks for groups that an average hides, before an
        all-clear stands.
    then : tuple of str
        Names of audits that ask what this one leaves open, the nearest first.
    designs : bool
        Whether its intervals and tests allow for sampling weights, strata, clusters and several rows a person
        (`AuditData.design`); where not, such data are refused.
    about_words : bool
        Whether it also understands a model of words.
    asks_anew : bool
        Whether the model must score people whom nobody in the data is: a column of predictions cannot.
    distances : bool
        Whether it tells people with the same features by numbers in standard deviations: a single cell that
        carries a column's whole spread is then refused, as all others would be alike.
    draws_rows : bool
        Whether it draws people by their place in the table, which then first puts them in an order that
        depends on their content alone. True unless set.
    units : mapping of str to str
        Unit of measures by the end of their path in results.json, of all others under ``""``, where that is
        not a share of people.
    needs : tuple of str
        Packages that an extra brings and that it cannot do without, as they are imported: where one is not
        installed, a run says so before it begins, and a guessed list of audits leaves it out.
    unplanned : str
        Why `audits.runs.plans.power` cannot simulate what it would see, a sentence; empty where it can.
    numeric : bool
        Whether it takes an outcome that is a number as it is; where not, it asks for a cut.
    decided, since : str or callable, optional
        ``decided(result)`` returns the decisions that its numbers rest on, by row, and ``since(result,
        before, *, level)`` how its numbers changed since other decisions on the same people, by place: a
        gate's baseline then has paired intervals.
    paired : str or callable, optional
        ``paired(first, second, subjects)`` returns how its numbers moved between its results of two models on
        the same people, an `audits.comparison.pairs.Pairing`; `subjects` are what the two were about, or None
        where they are not at hand. Without it no change has an interval.
    states : tuple of str
        Names of audits whose numbers it states itself: they are not run beside it.
    treats : str or callable, optional
        ``treats(subject, options, *, threshold, rng, progress)`` returns the subject with a model that is
        better by what it found, and notes: the second model of a comparison.
    decisions_alone : str or callable, optional
        ``decisions_alone(options, data)``: whether it reads decisions and no label: it is then about people
        without a label too. Left out: it is about those with one.
    handles_missing_labels : bool
        Whether it says itself what labels that are missing forbid: its verdict is about everyone decided on,
        or it withholds it. Left out: the run withholds its verdict where labels are missing unevenly.
    compares : str or callable, optional
        ``compares(options, subject)`` returns the columns by which it compares people and of which cells were
        filled in that the decisions did not come from. Left out: it compares nobody by their features.
    groups_alone : bool
        Whether it looks at people's groups and decisions, and at no column besides.
    windows : str or callable, optional
        ``windows(groups)`` returns its options for people whom a monitor received, who are so many by
        protected attribute and group. Without it, it is made of a window only where it is named.
    bundle : str or callable, optional
        ``bundle(result, *, note)`` returns what a monitor measures people by as it did.
    pages : OnPages
        What only pages need.

    Notes
    -----
    A string is ``"module:name"``, imported when first asked for. An installed package adds an audit by an
    entry point of the group ``evenhand.audits`` that names its record.
    """

    name: str
    title: str
    question: str
    limits: str
    options: type
    result: str | type
    runs: Named
    presents: Named
    also_called: str = ""
    says: Named | None = None
    keys: Mapping[str, Any] | str | None = None
    counted: Named | None = None
    seconds: Callable[[Any, Size], float] | None = None
    memory: Callable[[Any, Size], float] | None = None
    usual: Named | None = None
    searches: Named | None = None
    then: tuple[str, ...] = ()
    designs: bool = False
    about_words: bool = False
    asks_anew: bool = False
    distances: bool = False
    draws_rows: bool = True
    units: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    unplanned: str = ""
    numeric: bool = False
    decided: Named | None = None
    since: Named | None = None
    paired: Named | None = None
    states: tuple[str, ...] = ()
    treats: Named | None = None
    decisions_alone: Callable[[Any, Any], bool] | None = None
    handles_missing_labels: bool = False
    compares: Named | None = None
    groups_alone: bool = False
    windows: Named | None = None
    bundle: Named | None = None
    pages: OnPages = OnPages()

    @property
    def noun(self) -> str:
        """What a sentence calls what it looks at, in the plural: ``"rule sets"``."""
        return self.pages.noun or self.title.lower()

    def label(self, option: str) -> str:
        """Return what stands above the control of an option, as messages name it, too."""
        return self.pages.labels.get(option) or _LABELS.get(option) or option.replace("_", " ")

    @property
    def lacks(self) -> str | None:
        """The first package that it `needs` and that is not installed here."""
        return next((package for package in self.needs if not is_installed(package)), None)

    @property
    def result_type(self) -> type:
        """The class of its results."""
        found: type = resolve(self.result)
        return found

    def result_keys(self) -> Mapping[str, Any]:
        """Return the JSON schema of its part of results.json, as far as others may rely on it."""
        if not isinstance(self.keys, str):
            return self.keys or {}
        package, _, name = self.keys.partition(":")
        text = importlib.resources.files(package).joinpath(name).read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    def run(self, subject: Any, options: Any, **told: Any) -> Any:
        """Run it; see `runs`."""
        return resolve(self.runs)(subject, options, **told)

    def counted_columns(self, options: Any, data: Any) -> Mapping[str, Any]:
        """Return the columns that it counts people by; see `counted`."""
        found: Mapping[str, Any] = resolve(self.counted)(options, data)
        return found

    def sentence(self, result: Any) -> str:
        """Return what `result` found in one sentence for everyone; see `says`."""
        found: str = result.finding if self.says is None else resolve(self.says)(result)
        return found

    def section(self, result: Any) -> Section:
        """Return how `result` is presented."""
        found: Section = resolve(self.presents)(result)
        return found

    def show(self, result: Any, told: str = "") -> None:
        """Show `result` in a notebook: its compact form, or what is `told` of it, and its first figure.

        Only where IPython runs. The figure is passed on as Plotly's data and as a picture: GitHub, a printed
        notebook and whatever runs no script show the picture.
        """
        from IPython.display import HTML, display

        display(HTML(told or result._repr_html_()))  # type: ignore[no-untyped-call]
        exhibits = self.section(result).exhibits
        if exhibits:
            display(resolve("audits.drawing.svg:media")(exhibits[0].figure()), raw=True)  # type: ignore[no-untyped-call]

    def usual_options(self, data: Any) -> dict[str, Any] | None:
        """Return options that need no choice on these data, or None."""
        found: dict[str, Any] | None = resolve(self.usual)(data) if self.usual is not None else None
        return found

    def expected_seconds(self, options: Any, size: Size) -> float:
        """About how many seconds a run takes, on two cores."""
        return 3.0 if self.seconds is None else self.seconds(options, size)

    def expected_bytes(self, options: Any, size: Size) -> float:
        """About how many bytes a run takes besides data and model: at least a few copies of its table."""
        copies = _MIN_BYTES + _COPIES * 8.0 * size.rows * (size.width + 4)
        return copies if self.memory is None else max(copies, self.memory(options, size))


def resolve(what: Any) -> Any:
    """Return `what`, or what the text ``"module:name"`` names."""
    if not isinstance(what, str):
        return what
    module, _, name = what.partition(":")
    return getattr(importlib.import_module(module), name)


def says_what_it_lacks(audit: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Have an audit's function refuse in a run's words where a package of an extra is not installed.

    What its record `needs` is looked for before anything is computed; what only some options need, where they
    come to it.
    """

    @functools.wraps(audit)
    def told(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        record: Audit = resolve(f"{audit.__module__.rpartition('.')[0]}.record:AUDIT")
        if record.lacks is not None:
            raise not_installed(record.name, record.lacks)
        try:
            return audit(*given, **named)
        except ModuleNotFoundError as error:
            if error.name is None or not optional(error.name):
                raise
            raise not_installed(record.name, error.name) from error

    return told
