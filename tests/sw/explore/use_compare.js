/* SPDX-License-Identifier: Apache-2.0 */
/* Put after the page of several runs by a test: what differs is listed and nothing else, changes are held against the run that is
   chosen, every layer has a bar a run. Says data-used. */
(() => {
    const wrong = [], check = (right, what) => { if (!right) wrong.push(what); }, cells = (id, row) => [...document.querySelectorAll("#" + id + " tbody tr")].filter(r => r.cells[0].textContent === row).flatMap(r => [...r.cells].slice(1));
    const differing = keys.filter(key => new Set(runs.map(r => String(new Map(settings(r.stats)).get(key)))).size > 1);
    check(document.querySelectorAll("#settings tbody tr").length === differing.length, "settings: " + differing);
    for (const key of differing) check(cells("settings", key).length === runs.length, key);
    const times = () => cells("summary", "time").map(c => c.textContent);
    check(cells("summary", "time").every((c, i) => Number(c.dataset.value) === runs[i].stats.total.time_ps), "times");
    check(!/%|times/.test(times()[0]) && times().slice(1).every((t, i) => runs[i + 1].stats.total.time_ps === runs[0].stats.total.time_ps || /%|times/.test(t)), "changes: " + times());
    const select = document.querySelector("header select");
    select.value = "1"; select.onchange();
    check(!/%|times/.test(times()[1]) && /%|times/.test(times()[0]), "held against another: " + times());
    select.value = "0"; select.onchange();
    check(change(150, 100) === "+50.0 %" && change(75, 100) === "\u221225.0 %" && change(300, 100) === "3 times" && change(7, 7) === "", "changes in words");
    const rows = () => document.querySelectorAll("#bars tr").length;
    check(rows() === names.length * runs.length && metric[0] === "time", "bars: " + rows());
    const [of, by] = document.querySelectorAll("#layers_section select");
    of.value = "energy_pj"; of.onchange(); by.value = "difference"; by.onchange();
    const spreads = [...document.querySelectorAll("#bars th")].map(th => spread(th.textContent));
    check(rows() === names.length * runs.length && spreads.every((v, i) => !i || v <= spreads[i - 1]), "sorted by difference: " + spreads);
    check((document.getElementById("warning") !== null) === (new Set(runs.map(r => r.stats.network.xxh3)).size > 1), "the warning of different networks");
    document.body.dataset.used = wrong.length ? "fails: " + wrong.slice(0, 8).join("; ") : "works";
})();
