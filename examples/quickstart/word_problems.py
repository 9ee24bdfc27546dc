"""School word problems whose solutions are computed step by step, so that a slip can be planted in any step."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

Values = dict[str, int]


@dataclass(frozen=True)
class Step:
    name: str
    compute: Callable[[Values], int]
    text: str  # formatted with all values
    formula: str  # as a calculator note would show it


@dataclass(frozen=True)
class WordProblem:
    question: str
    numbers: dict[str, tuple[int, ...]]
    steps: tuple[Step, ...]
    unit: str = ""

    def draw(self, rng: random.Random) -> Values:
        return {name: rng.choice(choices) for name, choices in self.numbers.items()}

    def solve(self, numbers: Values, slip_at: int = -1, slip: int = 0) -> tuple[list[str], list[str], int]:
        """Sentences, calculator notes and the answer; `slip` is added to the result of step `slip_at`."""
        values = dict(numbers)
        sentences, notes = [], []
        for i, step in enumerate(self.steps):
            values[step.name] = step.compute(values) + (slip if i == slip_at else 0)
            sentences.append(step.text.format(**values))
            notes.append(step.formula.format(**values))
        return sentences, notes, values[self.steps[-1].name]


PROBLEMS = (
    WordProblem(
        "Mara bakes {trays} trays of muffins with {per} muffins on each tray. She gives {gift} muffins to her neighbours "
        "and sells the rest for ${price} each. How many dollars does she make?",
        {"trays": (6, 8, 12), "per": (12, 15), "gift": (9, 14), "price": (2, 3)},
        (
            Step("all", lambda v: v["trays"] * v["per"], "Mara bakes {trays} * {per} = {all} muffins.", "{trays}*{per}={all}"),
            Step("rest", lambda v: v["all"] - v["gift"], "After the gift {all} - {gift} = {rest} muffins are left.", "{all}-{gift}={rest}"),
            Step("money", lambda v: v["rest"] * v["price"], "They bring {rest} * {price} = {money} dollars.", "{rest}*{price}={money}"),
        ),
        "$",
    ),
    WordProblem(
        "A water tank holds {full} litres. It is empty, and a pump fills it with {rate} litres a minute while a leak loses "
        "{leak} litres a minute. How many minutes does it take to fill the tank?",
        {"full": (1260, 2520), "rate": (18, 22), "leak": (4, 8)},
        (
            Step("net", lambda v: v["rate"] - v["leak"], "Each minute the tank gains {rate} - {leak} = {net} litres.", "{rate}-{leak}={net}"),
            Step("minutes", lambda v: v["full"] // v["net"], "So it needs {full} / {net} = {minutes} minutes.", "{full}/{net}={minutes}"),
        ),
    ),
    WordProblem(
        "Jonas reads {pages} pages every weekday and twice as many on each day of the weekend. How many pages does he read "
        "in {weeks} weeks?",
        {"pages": (14, 18, 25), "weeks": (3, 4, 6)},
        (
            Step("work", lambda v: 5 * v["pages"], "On weekdays he reads 5 * {pages} = {work} pages a week.", "5*{pages}={work}"),
            Step("free", lambda v: 2 * 2 * v["pages"], "On the weekend he reads 2 * 2 * {pages} = {free} pages.", "2*2*{pages}={free}"),
            Step("week", lambda v: v["work"] + v["free"], "That is {work} + {free} = {week} pages a week.", "{work}+{free}={week}"),
            Step("total", lambda v: v["week"] * v["weeks"], "In {weeks} weeks: {week} * {weeks} = {total} pages.", "{week}*{weeks}={total}"),
        ),
    ),
    WordProblem(
        "A school orders {boxes} boxes of pencils with {per} pencils in each. The {children} children get the same number "
        "of pencils each, as many as possible. How many pencils are left over?",
        {"boxes": (7, 9), "per": (24, 30), "children": (22, 26)},
        (
            Step("all", lambda v: v["boxes"] * v["per"], "There are {boxes} * {per} = {all} pencils.", "{boxes}*{per}={all}"),
            Step("each", lambda v: v["all"] // v["children"], "Each child gets {each} pencils, because {children} * {each} does not exceed {all}.", "{all}//{children}={each}"),
            Step("left", lambda v: v["all"] - v["each"] * v["children"], "So {all} - {each} * {children} = {left} pencils remain.", "{all}-{each}*{children}={left}"),
        ),
    ),
    WordProblem(
        "Lin saves ${start} and adds ${weekly} every week. Her brother starts with ${brother} and spends ${spend} every "
        "week. After {weeks} weeks, how many dollars more does Lin have than her brother?",
        {"start": (40, 65), "weekly": (15, 20), "brother": (180, 220), "spend": (5, 10), "weeks": (8, 10, 12)},
        (
            Step("lin", lambda v: v["start"] + v["weekly"] * v["weeks"], "Lin has {start} + {weekly} * {weeks} = {lin} dollars.", "{start}+{weekly}*{weeks}={lin}"),
            Step("bro", lambda v: v["brother"] - v["spend"] * v["weeks"], "Her brother has {brother} - {spend} * {weeks} = {bro} dollars.", "{brother}-{spend}*{weeks}={bro}"),
            Step("more", lambda v: v["lin"] - v["bro"], "The difference is {lin} - {bro} = {more} dollars.", "{lin}-{bro}={more}"),
        ),
        "$",
    ),
    WordProblem(
        "A train leaves at a speed of {speed} km an hour and travels for {first} hours. After a stop it travels for "
        "{second} hours at {slow} km an hour. How many kilometres does it cover in all?",
        {"speed": (90, 120), "first": (3, 4), "second": (2, 5), "slow": (60, 75)},
        (
            Step("a", lambda v: v["speed"] * v["first"], "First it covers {speed} * {first} = {a} km.", "{speed}*{first}={a}"),
            Step("b", lambda v: v["slow"] * v["second"], "Then it covers {slow} * {second} = {b} km.", "{slow}*{second}={b}"),
            Step("sum", lambda v: v["a"] + v["b"], "Together that is {a} + {b} = {sum} km.", "{a}+{b}={sum}"),
        ),
    ),
    WordProblem(
        "A farmer has {hens} hens, and each lays {eggs} eggs a week. He keeps {keep} eggs a week for himself and packs the "
        "rest in cartons of 12. How many full cartons does he pack in {weeks} weeks?",
        {"hens": (30, 42), "eggs": (5, 6), "keep": (18, 24), "weeks": (2, 4)},
        (
            Step("laid", lambda v: v["hens"] * v["eggs"], "The hens lay {hens} * {eggs} = {laid} eggs a week.", "{hens}*{eggs}={laid}"),
            Step("sold", lambda v: v["laid"] - v["keep"], "He packs {laid} - {keep} = {sold} of them.", "{laid}-{keep}={sold}"),
            Step("total", lambda v: v["sold"] * v["weeks"], "Over {weeks} weeks that makes {sold} * {weeks} = {total} eggs.", "{sold}*{weeks}={total}"),
            Step("cartons", lambda v: v["total"] // 12, "{total} / 12 gives {cartons} full cartons.", "{total}//12={cartons}"),
        ),
    ),
    WordProblem(
        "A shop buys {n} jackets for ${cost} each and sells them with a profit of {percent} percent. How many dollars "
        "does it take in if it sells all of them?",
        {"n": (20, 35), "cost": (40, 60), "percent": (25, 45)},
        (
            Step("gain", lambda v: v["cost"] * v["percent"] // 100, "The profit on one jacket is {cost} * {percent} / 100 = {gain} dollars.", "{cost}*{percent}/100={gain}"),
            Step("price", lambda v: v["cost"] + v["gain"], "It sells for {cost} + {gain} = {price} dollars.", "{cost}+{gain}={price}"),
            Step("total", lambda v: v["price"] * v["n"], "All jackets bring {price} * {n} = {total} dollars.", "{price}*{n}={total}"),
        ),
        "$",
    ),
)
