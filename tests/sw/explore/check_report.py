#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_report.py sweep|run DOM.html SOURCE: the numbers of a page that a browser has built equal their source's."""
import html.parser
import json
import re
import sqlite3
import sys


class Tables(html.parser.HTMLParser):
    """Cells of the table in the element with an id, a heading's name and a cell's exact value where they have them (data-name,
    data-value); the keys of its rows; data-ready of the body."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted, self.depth, self.rows, self.cell, self.exact, self.ready = wanted, 0, [], None, None, None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "body":
            self.ready = attributes.get("data-ready")
        if self.depth == 0 and attributes.get("id") == self.wanted:
            self.depth = 1
        elif self.depth and tag == "div":
            self.depth += 1
        if self.depth and tag == "tr":
            self.rows.append([attributes.get("data-key"), []])
        if self.depth and tag in ("td", "th"):
            self.cell, self.exact = "", attributes.get("data-value", attributes.get("data-name"))

    def handle_data(self, text):
        if self.cell is not None:
            self.cell += text

    def handle_endtag(self, tag):
        if self.depth and tag == "div" and self.cell is None:
            self.depth -= 1
        if tag in ("td", "th") and self.cell is not None:
            self.rows[-1][1].append(self.cell if self.exact is None else self.exact)
            self.cell = None


def same(text, value):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(text) == float(value)
    return text == ("" if value is None else str(value))


def member(stats, path):
    """None: there is none, as of a layer of another network."""
    for word in path.split("."):
        stats = next((item for item in stats if item["name"] == word), {}) if isinstance(stats, list) else stats.get(word)
    return stats


def check_sweep(dom, source):
    head = dom.rows[0][1]
    points = {row[0]: row[1:] for row in sqlite3.connect(source).execute("select key, status, params, stats, seconds, error from points")}
    shown = [row for row in dom.rows[1:] if row[0]]
    assert len(shown) == min(len(points), 200), (len(shown), len(points))
    for key, cells in shown:
        status, params, stats, seconds, error = points[key]
        for name, text in zip(head, cells):
            if name == "status":
                value = status
            elif name == "seconds":
                value = seconds
            elif name == "error":
                value = error
            elif name in json.loads(params):
                value = json.loads(params)[name]
            else:
                value = member(json.loads(stats), name) if stats else None
            close = name == "seconds" and abs(float(text) - value) <= 1e-3 * value  # shown with four digits
            assert close or same(text, value), (key, name, text, value)


def check_run(dom, source):
    head = dom.rows[0][1]
    stats = json.load(open(source + "/stats.json"))
    layers, bound = stats["layers"], stats["summary"]["bound_by"]
    summary = re.search(r'<div id="summary">.*?</header>', open(page).read(), re.S).group(0)
    facts = dict(re.findall(r'<div class="fact[^"]*"><span>([^<]*)</span><b[^>]*>([^<]*)</b>', summary))
    assert f'data-value="{bound}"' in summary, "the page does not say what binds"
    assert abs(float(facts["share of peak arithmetic"].split()[0]) - 100 * stats["summary"]["peak_share"]) < 0.1, facts
    power, unit = facts["mean power"].split()
    watts = float(power) * {"W": 1, "mW": 1e-3, "uW": 1e-6}[unit]
    assert abs(watts * stats["total"]["time_ps"] / stats["energy"]["total_pj"] - 1) < 1e-3, facts
    assert any(name.startswith("area at ") and "mm2" in value for name, value in facts.items()), facts
    assert "static; " in summary and "by other sources" in summary, facts
    assert len(dom.rows) == len(layers) + 1
    for layer, (_, cells) in zip(layers, dom.rows[1:]):
        for name, text in zip(head, cells):
            value = layer["stall_cycles"][name[13:]] if name.startswith("stall_cycles.") else layer[name]
            assert same(text, value), (name, text, value)


kind, page, source = sys.argv[1:]
parser = Tables("points" if kind == "sweep" else "layers")
parser.feed(open(page).read())
assert parser.ready is not None, "the page's code did not come to its end"
assert len(parser.rows) > 1, "no table"
(check_sweep if kind == "sweep" else check_run)(parser, source)
