"""``paretognn inspect``: what a graph is, and what training would do with it."""

from dataclasses import asdict
from typing import Any

from paretognn.cli.as_json import AsJson, print_json
from paretognn.cli.console import out
from paretognn.cli.options import takes_graph
from paretognn.graph import format_summary, summarise
from paretognn.methods import DEFAULT, PRESETS, method_config
from paretognn.methods.advice import advise, format_advice
from paretognn.sources import GraphSource
from paretognn.training.memory import estimate, probe_seconds

NAME = "inspect"
HELP = """Show a graph's counts and checks, what training would do, and what to train: preset, method and why, with what
will hurt.

\b
Examples:
  paretognn inspect --nodes people.csv --edges calls.csv
  paretognn inspect --dataset actor --json
"""


@takes_graph
def command(
    source: GraphSource,
    as_json: AsJson = False,
) -> None:
    graph = source.load()
    summary = summarise(graph)
    advice = advise(graph, summary)
    plans: dict[str, dict[str, Any]] = {}
    for preset in PRESETS:
        config, why = method_config(graph, DEFAULT, preset)
        plans[preset] = {"why": why, "steps": config.steps, "memory_bytes": estimate(graph, config)}
        if preset != "paper":
            seconds = probe_seconds(graph, config)
            plans[preset] |= {"seconds_per_step": seconds, "seconds": seconds * config.steps}
    if as_json:
        print_json({"graph": summary, "presets": plans, "advice": asdict(advice)})
        return
    for line in format_summary(summary):
        out.print(line)
    for preset, plan in plans.items():
        cost = f"{plan['memory_bytes'] / 2**30:.1f} GiB"
        if "seconds" in plan:
            cost += f", about {plan['seconds'] / 60:.1f} min ({plan['seconds_per_step']:.2f} s a step on this CPU)"
        out.print(f"preset {preset}: {plan['why']}; {plan['steps']} steps, {cost}")
    for line in format_advice(advice):
        out.print(line)
