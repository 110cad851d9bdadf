/* SPDX-License-Identifier: Apache-2.0 */
/* The page that compares runs: data = {runs: [{name, stats}]}. The first run is the reference until another one is chosen. */
const runs = data.runs.map((run, i) => ({ i, stats: run.stats, folder: run.name, colour: colours[i % colours.length] }));
/* A run's name is the last part of its folder, or as many parts as make the names distinct. */
for (let depth = 1; depth < 9; depth++) {
    for (const run of runs) run.name = run.folder.replace(/\/+$/, "").split("/").slice(-depth).join("/");
    if (new Set(runs.map(r => r.name)).size === runs.length) break;
}
if (new Set(runs.map(r => r.name)).size < runs.length) for (const run of runs) run.name += " (" + (run.i + 1) + ")";
let base = runs[0];
const refreshers = [], refresh = () => refreshers.forEach(f => f());
document.title = runs.map(r => r.name).join(", ");
const header = make(null, "header");
document.body.prepend(header);
make(header, "h1", runs.length + " runs: " + runs.map(r => r.name).join(", "));
for (const run of runs) {
    const line = make(header, "div", null, { className: "note" });
    make(line, "span", null, { className: "key" }).style.background = run.colour;
    make(line, "span", run.name + ": " + runTitle(run.stats) + ", cnnvp " + run.stats.cnnvp + " " + run.stats.command + (run.stats.partial ? "; it did not come to its end" : ""));
}
const networks = new Set(runs.map(r => r.stats.network && r.stats.network.xxh3 || r.stats.command));
if (networks.size > 1) make(header, "p", "These runs have different networks or commands: their times and energies are not of the same work.", { className: "warning", id: "warning" });
const images = runs.map(r => r.stats.total.images);
if (new Set(images).size > 1) make(header, "p", "The numbers of images differ, " + images.join(", ") + ": times, cycles, energies and bytes are of all images.", { className: "warning", id: "images" });
chooser(make(header, "div", null, { className: "bar screen" }), "compared with", runs.map(r => [r.i, r.name]), 0, value => { base = runs[value]; refresh(); });
/* A relative change: "+12.5 %", or "2.31 times" from a factor of two. */
function change(value, from) {
    if (typeof value !== "number" || typeof from !== "number" || value === from) return "";
    if (!from) return "new";
    const ratio = value / from;
    if (Math.abs(ratio - 1) < .0005) return "";
    return ratio >= 2 ? Number(ratio.toPrecision(3)) + " times" : (ratio > 1 ? "+" : "\u2212") + (100 * Math.abs(ratio - 1)).toFixed(1) + " %";
}
/* A table with one row per fact and one column per run; better: 1 if more is better, -1 if less is, 0 for neither. */
function sideBySide(parent, id, lines) {
    const holder = make(make(parent, "div", null, { id, className: "scroll", tabIndex: 0 }), "table");
    function fill() {
        const head = make(null, "tr"), body = make(null, "tbody");
        for (const name of ["", ...runs.map(r => r.name)]) make(head, "th", name, { className: name ? "" : "text" });
        for (const line of lines()) {
            const row = make(body, "tr");
            make(row, "th", line.name, { className: "text", scope: "row" });
            for (const run of runs) {
                const value = line.of(run), cell = make(row, "td", value === undefined ? "\u2013" : typeof value === "number" ? (line.write || short)(value) : show(value));
                if (value !== undefined) cell.dataset.value = value;
                if (run === base || value === undefined) continue;
                const text = change(value, line.of(base));
                if (text) make(cell, "small", " " + text, { className: line.better ? ((value > line.of(base)) === (line.better > 0) ? "less" : "more") : "" });
            }
        }
        const thead = make(null, "thead");
        thead.append(head);
        holder.replaceChildren(thead, body);
    }
    fill();
    refreshers.push(fill);
    return fill;
}
/* ---- what changed in the configuration ---- */
const all = runs.map(r => new Map(settings(r.stats))), keys = [...new Set(all.flatMap(m => [...m.keys()]))];
const changed = keys.filter(key => all.some(m => m.get(key) !== all[0].get(key)));
const configuration = section("What differs in the configuration", "configuration", false);
if (changed.length) sideBySide(configuration, "settings", () => changed.map(key => ({ name: key, of: run => all[run.i].get(key), write: show })));
else make(configuration, "p", "Nothing: all units have the same parameters.", { className: "note" });
/* ---- headline ---- */
const facts = [["total.time_ps", -1], ["total.images_per_s", 1], ["summary.bound_by", 0], ["summary.peak_share", 1], ["summary.bandwidth_share", 0], ["summary.energy_per_image_pj", -1], ["energy.total_pj", -1], ["energy.static_pj", -1], ["area.total_um2", -1],
    ["summary.tops_per_watt", 1], ["memory.read_bytes", -1], ["memory.write_bytes", -1], ["memory.burst_bytes", -1], ["storage.peak_feature_bytes", -1]];
const member = (stats, path) => path.split(".").reduce((at, word) => at === undefined || at === null ? undefined : at[word], stats);
sideBySide(section("Totals", "totals", false, "Beside each value: its difference from the run that is chosen above."), "summary",
    () => facts.filter(([path]) => runs.some(r => member(r.stats, path) !== undefined)).map(([path, better]) => ({ name: path === "summary.bound_by" ? "bound by" : say(path), of: r => member(r.stats, path), write: writer(path), better })));
/* ---- where the cycles go ---- */
const first = runs.find(r => r.stats.layers.length);
if (first) {
    const cycles = runs.map(r => ({ name: r.name, values: r.stats.layers.map(cycleValues).reduce((sum, v) => { for (const k in v) sum[k] = (sum[k] || 0) + v[k]; return sum; }, {}) }));
    bars(section("Where the cycles go", "cycles", false), cycles, cycleParts(first.stats.layers), { write: v => short(v, 4) + " cycles" });
}
/* ---- layers ---- */
const metrics = [["time", "time", l => l.cycles * 1e6 / l.mhz, writer("time_ps")], ["cycles", "cycles", l => l.cycles, v => grouped(v)], ["compute_cycles", say("compute_cycles"), l => l.compute_cycles, v => grouped(v)], ["stalls", "cycles standing still", l => l.cycles - l.compute_cycles, v => grouped(v)],
    ["energy_pj", "energy", l => l.energy_pj, writer("energy_pj")], ["traffic", "bytes off chip", l => l.dram_read_bytes + l.dram_write_bytes, writer("bytes")], ["utilization", say("utilization"), l => l.utilization, writer("utilization")], ["macs", "MACs", l => l.macs, v => short(v)]];
/* Matches layers by name and phase. Layers that share both are matched in order. */
for (const run of runs) {
    run.layers = new Map();
    const seen = new Map();
    for (const l of run.stats.layers) {
        const label = layerLabel(l), n = seen.get(label) || 0;
        seen.set(label, n + 1);
        run.layers.set(n ? label + " #" + (n + 1) : label, Object.assign({ mhz: clockOf(run.stats.platform.units, run.stats.platform.units.pe_array) * atOnce(run.stats) }, l));
    }
}
const names = [...new Set(runs.flatMap(r => [...r.layers.keys()]))];
let metric = metrics[0], sorting = "order";
const value = (run, name) => run.layers.has(name) ? metric[2](run.layers.get(name)) : undefined;
const spread = name => { const list = runs.map(r => value(r, name) || 0); return Math.max(...list) - Math.min(...list); };
function order() { return sorting === "order" ? names : names.slice().sort((a, b) => spread(b) - spread(a)); }
if (names.length) {
    const layers = section("Layers", "layers", true), bar = make(layers, "div", null, { className: "bar screen" }), chart = make(layers, "div", null, { id: "bars" });
    function drawBars() {
        groupedBars(chart, order(), runs, value, (run, name, v) => metric[3](v) + (run === base ? "" : " " + change(v, value(base, name))), (run, name, v) => name + ", " + run.name + "\n" + metric[1] + ": " + metric[3](v));
        legend(chart, runs.map(r => [r.colour, r.name]));
    }
    chooser(bar, "of each layer", metrics.map(m => [m[0], m[1]]), "time", v => { metric = metrics.find(m => m[0] === v); refresh(); });
    chooser(bar, "sorted by", [["order", "order of the network"], ["difference", "difference"]], "order", v => { sorting = v; refresh(); });
    drawBars();
    refreshers.push(drawBars);
}
const unitEnergies = runs.map(r => ({ name: r.name, values: Object.fromEntries(Object.entries(r.stats.energy.by_unit).map(([name, of]) => [name, of.dynamic_pj + of.static_pj])) }));
bars(section("Energy of the units", "energy", false), unitEnergies, unitParts(unitEnergies), { write: writer("energy_pj") });
const areas = runs.map(r => ({ name: r.name, values: r.stats.area.by_unit }));
bars(section("Area of the units", "area", false), areas, unitParts(areas), { write: writer("total_um2") });
document.body.dataset.ready = String(Math.round(performance.now()));
