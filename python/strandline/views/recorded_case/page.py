"""The kinds of failing crash states of a recording under each design, as a page without any other file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from posixpath import normpath
from typing import Any

from strandline.checking.examined import Examined
from strandline.checking.groups import Group, groups
from strandline.checking.mending import Remedy
from strandline.checking.verdicts import Verdict
from strandline.engine import StateVisit
from strandline.views import crash_states, failure_groups, named_lines, remedies, template
from strandline.views.failure_groups import MOST_GROUPS
from strandline.views.hosts import Hosts
from strandline.views.numbers import counted
from strandline.views.recorded_case import between_hosts

PACKAGE = "strandline.views.recorded_case"

UNSEEN = (
    "What the checker read cannot be seen: it is a program of its own, which opens the files of the crash state. "
    "For what the recovery of a built-in workload read, run `strandline crash WORKLOAD --html FILE`."
)


Again = Callable[[Examined, Verdict], str]
Mend = Callable[[Examined, Verdict], Remedy | None]


def page(failing: Sequence[Examined], again: Again, mend: Mend, recording: str, hosts: Hosts | None = None) -> str:
    """The page; `again` is the command that reproduces a failure, `mend` what mends it.

    `hosts` is what is wrong between hosts.
    """
    between = [between_hosts.section(hosts)] if hosts and hosts.rows else []
    cases = "\n".join([*between, *(_cases(result, again, mend) for result in failing)])
    title = "a crash state that fails" if failing else "faults between hosts"
    return template.page(PACKAGE, f"{recording}: {title}", {"CASES": cases})


def _cases(result: Examined, again: Again, mend: Mend) -> str:
    """The representatives of the groups of failures, and how many are left out."""
    kinds = groups(result)
    shown = [(group, group.representative) for group in kinds[:MOST_GROUPS]]
    cases = [_case(result, group, again(result, verdict), mend(result, verdict)) for group, verdict in shown]
    if rest := failure_groups.left_out(kinds):
        cases.append(_text(f"{rest}.", "dim"))
    return "\n".join(cases)


def _case(result: Examined, group: Group, again: str, remedy: Remedy | None) -> str:
    verdict, state = group.representative, group.case
    of_checker = [
        _head("What the checker read"),
        _text(UNSEEN, "dim"),
        *([_text("It wrote:"), _pre("\n".join(verdict.output))] if verdict.output else []),
    ]
    return "\n".join(
        [
            "<section>",
            f"<h2>{escape(result.name)}: {escape(verdict.why + failure_groups.alike(group))}</h2>",
            *([_text(f"Remedy: {remedies.sentence(remedy)}.", "remedy")] if remedy else []),
            _text(f"State {state.name}. {_fails(result)} {crash_states.place(state)}."),
            *_source(state, remedy),
            _head("The stores that the state has and lacks"),
            _stores(state.has, state.lacks),
            _text(_left_out(state), "dim"),
            _head("The order of the model"),
            *map(_text, _order(result, state)),
            *(of_checker if result.verdicts is not None else []),
            _head("Reproduce"),
            _pre(again),
            "</section>",
        ]
    )


def _fails(result: Examined) -> str:
    """What fails."""
    if result.fails is None:
        return "Power is lost"
    return f"{result.name.capitalize()} {'fails' if len(result.fails) == 1 else 'fail'}"


def _source(state: StateVisit, remedy: Remedy | None) -> list[str]:
    """The named lines of the program, with what each did."""
    files: dict[str, list[str]] = {}
    # A relative name may begin with dots.
    for each in named_lines.named(state, remedy):
        lacks = ' class="lost"' if named_lines.LACKS in each.does else ""
        cells = f"<td>{each.line}</td><td><code>{escape(each.text)}</code></td><td>{escape(', '.join(each.does))}</td>"
        files.setdefault(normpath(each.file), []).append(f"<tr{lacks}>{cells}</tr>")
    tables = [f"<table><caption>{escape(file)}</caption>{''.join(rows)}</table>" for file, rows in files.items()]
    return [_head("The program"), *tables] if tables else []


def _order(result: Examined, state: StateVisit) -> list[str]:
    """What the model says of the state's stores, and what of their order is not certain."""
    assumed = result.plan.assumed
    known = [*([f"The threads: {crash_states.assumed(assumed)}."] if assumed else []), *crash_states.torn(state)]
    return [_model(result, state), *known]


def _model(result: Examined, state: StateVisit) -> str:
    model = result.plan.model
    if state in [verdict.state for verdict in result.disorders]:
        return f"Model {model} forbids this state: {result.design} has broken its own order."
    allows = f"Model {model} allows this state: no fence of the program keeps power from failing between these stores."
    if state.has and state.lacks:
        return f"{allows} The program lacks an order: a hollow store had to be durable before a filled one."
    if state.has:
        return f"{allows} None of them is lost: what is missing was stored later, or never."
    return f"{allows} All of them are lost: what depends on them was durable before."


def _left_out(state: StateVisit) -> str:
    words = ["Filled: durable. Hollow: lost. Stores that every crash here has, or that none has, are left out."]
    more = state.has_stores + state.lacks_stores - len(state.has) - len(state.lacks)
    return " ".join([*words, *([f"{counted(more, 'store')} more."] if more > 0 else [])])


def _stores(has: Sequence[dict[str, Any]], lacks: Sequence[dict[str, Any]]) -> str:
    sides = (("has", has), ("lost", lacks))
    lines = [
        f'<li class="{side}">{escape(text)}</li>' for side, stores in sides for text in crash_states.store_lines(stores)
    ]
    return f"<ul>{''.join(lines)}</ul>" if lines else _text("There are none.")


def _head(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def _text(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _pre(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"
