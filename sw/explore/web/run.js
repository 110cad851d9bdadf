/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a run: data = {stats, series}, stats.json and the .series trace. Times are picoseconds. */
const stats = data.stats, series = data.series, layers = stats.layers, end = Math.max(series.end_ps, stats.total.time_ps, 1);
const parts = cycleParts(layers), header = make(null, "header");
document.body.prepend(header);
document.title = runTitle(stats);
make(header, "h1", runTitle(stats));
make(header, "div", "cnnvp " + stats.cnnvp + " " + stats.command + ", seed " + stats.seed + ": " + time(stats.total.time_ps) + ", " +
    grouped(stats.total.accel_cycles) + " accelerator cycles, " + grouped(stats.total.macs) + " MACs" +
    (stats.partial ? "; the run did not come to its end: commands and transfers under way count in full" : ""), { className: "note", id: "totals" });
/* ---- headline ---- */
const summaryHolder = make(header, "div", null, { id: "summary" });
if (stats.summary && stats.summary.bound_by && stats.total.accel_cycles) {
    const fact = addFact(summaryHolder, ["bound by", boundNames[stats.summary.bound_by] || stats.summary.bound_by], { className: "fact first" });
    fact.querySelector("b").dataset.value = stats.summary.bound_by;
    if (stats.summary.critical_path)
        make(fact, "i", "the time waited for " + Object.entries(joinedPath(stats.summary)).sort((a, b) => b[1] - a[1]).filter(([, ps]) => ps >= 0.001 * stats.total.time_ps).map(([name, ps]) => name + " " + percent(ps / stats.total.time_ps)).join(", ") + "; cycles of the array:");
    make(fact, "i", addShares(fact, stats.summary.bound_shares));
    make(fact, "i", sentence(stats));
    const gains = Object.entries(stats.summary.gain_if_twice_as_fast || {}).sort((a, b) => b[1] - a[1]).filter(([, ps]) => ps >= .001 * stats.total.time_ps);
    if (gains.length) make(fact, "i", "Twice as fast, " + gains.map(([name, ps], i) => name + (i ? " " : " would bring about ") + percent(ps / stats.total.time_ps)).join(", ") + ".");
    const better = layers.filter(layer => layer.better_unit);
    if (better.length) make(fact, "i", "By the planner's prices another unit would do better: " + better.map(layer => layerLabel(layer) + " on " + layer.better_unit).join(", ") + ".");
    const above = layer => layer.cycles - layer.least_cycles;
    const far = layers.filter(layer => layer.least_cycles && above(layer) >= Math.max(.15 * layer.least_cycles, .05 * stats.total.accel_cycles)).sort((a, b) => above(b) - above(a))[0];
    if (far) make(fact, "i", layerLabel(far) + " takes " + show(+(far.cycles / far.least_cycles).toPrecision(3)) + " times what its MACs or least bytes would: " + [["idle PEs", Math.max(far.compute_cycles - far.macs / far.pes, 0)], ...Object.entries(far.stall_cycles).sort((a, b) => b[1] - a[1])].filter(([, cycles]) => cycles >= .005 * far.cycles).map(([cause, cycles]) => cause + " " + percent(cycles / far.cycles)).join(", ") + (far.least_dram_bytes ? "; " + (far.dram_burst_bytes / far.least_dram_bytes).toPrecision(3) + " times its least bytes in bursts." : "."));
}
for (const fact of headline(stats)) addFact(summaryHolder, fact);
const configuration = make(header, "details", null, { id: "configuration" }), list = make(configuration, "dl");
make(configuration, "summary", "Configuration");
for (const [name, unit] of Object.entries(stats.platform.units)) {
    make(list, "dt", name + (unit.model && unit.model !== name ? " (" + unit.model + ")" : ""));
    make(list, "dd", Object.entries(unit).filter(([key, value]) => key !== "connect" && key !== "model" && !(/^t_/.test(key) && value === 0)).map(([key, value]) => key + " " + show(value)).join(", "));
}
/* ---- what would help ---- */
if (data.advice) {
    const part = v => (v > 0 ? "+" : "") + percent(v), holder = section("What would help", "advice", true, "Single changes, each tried; what helps most by the objective, and what takes the least energy. *: results may change, too.");
    sortable(holder, ["change", "from", "to", "time", "energy", "area", "off chip"], data.advice.changes.filter((c, i, all) => all.findIndex(o => o.name === c.name && o.to === c.to) === i), (c, i) => [c.name + (c.changes_results ? " *" : ""), c.from, c.to, c.time, c.energy, c.area, c.traffic][i], { text: (v, i) => i > 2 ? part(v) : v });
}
/* ---- one time axis ---- */
const timeline = drawTimeline(section("Timeline", "timeline", true), series, layers, end);
/* ---- the blocks and their links ---- */
if (stats.summary && (stats.links || []).some(l => l.read_bytes + l.write_bytes))
    drawBlocks(section("Blocks and links", "blocks", true, "On a link: bytes a second of the whole run, and their share of what its port or bus can carry. In a block: its part of the critical path."), stats);
/* ---- cycles of the layers ---- */
if (layers.length) {
    const holder = section("Cycles of the layers", "cycles", true), bar = make(holder, "div", null, { className: "bar screen" });
    const rows = layers.map(l => ({ name: layerLabel(l), values: cycleValues(l), layer: l, note: "bound by " + (boundNames[l.bound_by] || l.bound_by) }));
    const orders = { order: () => 0, cycles: (a, b) => b.layer.cycles - a.layer.cycles, idle: (a, b) => b.values.idle - a.values.idle, stalls: (a, b) => b.layer.cycles - b.layer.compute_cycles - (a.layer.cycles - a.layer.compute_cycles), use: (a, b) => a.layer.utilization - b.layer.utilization };
    const chart = bars(holder, rows, parts, { write: v => short(v, 4) + " cycles", total: (row, total) => short(total) + " \u00b7 " + (row.layer.macs ? percent(row.layer.utilization, 2) : "no MACs") });
    chooser(bar, "bars in", [["cycles", "cycles"], ["percent", "percent of the layer"]], "cycles", value => { chart.state.percent = value === "percent"; chart.fill(); });
    chooser(bar, "sorted by", [["order", "order of the network"], ["cycles", "cycles"], ["stalls", "standing still"], ["idle", "idle PEs"], ["use", "lowest use of the PEs"]], "order", value => { chart.state.rows = rows.slice().sort(orders[value]); chart.fill(); });
    make(bar, "span", "Beside each bar: its cycles, and the share of the array's peak that it reaches.", { className: "note" });
}
/* ---- roofline, off chip and at the buffers' ports ---- */
const measured = roofLayers(stats);
if (measured.some(l => l.macs && l.cycles && l.pes)) {
    const holder = section("Roofline", "roofline", false), levels = roofLevels(stats, measured.filter(l => l.pes)), bar = make(holder, "div", null, { className: "bar screen" });
    make(holder, "p", grouped(levels.pes) + " MACs a cycle at " + levels.mhz + " MHz; " + levels.list.map(l => l.name + " " + writer("bytes_per_s")(l.bytes_per_s)).join(", ") + "." + (roofDots(levels, measured).some(d => d.layers.length > 1) ? " Where what a layer moves off chip needs more than its time, because some of it moves in a neighbour's (read ahead, or written later), both are one point: their MACs by their bytes and their time." : ""), { className: "note" });
    const plot = figure(holder, 360, f => drawRoofline(f, levels, measured));
    for (const level of levels.list) {
        const label = make(bar, "label"), box = make(label, "input", null, { type: "checkbox", checked: !level.off, onchange: () => { level.off = !box.checked; plot.draw(); } });
        box.style.accentColor = level.colour; make(label, "span", " " + level.name);
    }
    tipOf(plot.element, event => {
        const area = plot.element.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
        const near = plot.dots.map(d => [(d.x - x) ** 2 + (d.y - y) ** 2, d]).sort((a, b) => a[0] - b[0])[0];
        return near && near[0] < 200 ? near[1].tip : "";
    });
}
/* ---- tensors ---- */
const moved = (stats.tensors || []).filter(t => t.read_bytes + t.write_bytes || t.least_read_bytes + t.least_write_bytes);
if (moved.length) {
    const [rows, tensorParts] = tensorRows(moved);
    const holder = section("Traffic of the tensors", "tensors", false, tensorNote(moved, stats.summary));
    bars(holder, rows, tensorParts, { write: writer("bytes"), most: 15 });
}
/* ---- the plan ---- */
if (stats.schedule && stats.schedule.groups) drawPlan(section("Plan", "plan", true, planNote(stats.schedule)), stats, end);
/* ---- energy, area ---- */
const ofLayers = energyRows(stats), energyParts = unitParts(ofLayers), ofUnits = Object.entries(stats.energy.by_unit).filter(e => e[1].dynamic_pj + e[1].static_pj);
if (ofLayers.length) bars(section("Energy of the layers", "energy", false, "Not of any layer (memory rows, refreshes, time between layers): " + writer("energy_pj")(stats.energy.no_layer_pj) + "."), ofLayers, energyParts, { write: writer("energy_pj"), most: 25 });
if (ofUnits.length) {
    const holder = section("Energy of the units", "unit_energy", false), area = Object.entries(stats.area.by_unit).filter(e => e[1]).sort((a, b) => b[1] - a[1]), write = writer("total_um2");
    bars(holder, ofUnits.map(([name, of]) => ({ name, values: { dynamic: of.dynamic_pj, static: of.static_pj } })).sort((a, b) => b.values.dynamic + b.values.static - a.values.dynamic - a.values.static),
        [{ name: "dynamic", colour: "#c0932a" }, { name: "static", colour: "#8d7b55" }], { write: writer("energy_pj") });
    if (area.length) {
        make(holder, "h2", "Area of the units, " + stats.area.technology, { className: "next" });
        bars(holder, area.map(([name, um2]) => ({ name, values: { area: um2 } })), [{ name: "area", colour: "#5b8f6a" }], { write, total: (row, total) => write(total) + " \u00b7 " + percent(total / stats.area.total_um2, 2) });
    }
}
/* ---- layers as numbers ---- */
const columns = ["name", "op", "phase", "bound_by", "macs", "cycles", "compute_cycles", "utilization", "compute_utilization", ...parts.slice(2).map(p => "stall_cycles." + p.name), "energy_pj", "input_words", "weight_words", "output_words", "dram_read_bytes", "dram_write_bytes", "dram_burst_bytes", "dram_bus_bytes", "least_dram_bytes"];
const numbers = section("Layers as numbers", "numbers", true, "A click on a column's name sorts by it.");
sortable(make(numbers, "div", null, { id: "layers" }), columns.map(c => c.startsWith("stall") ? say(c).replace(/^cycles: /, "") : say(c)), layers,
    (l, i) => columns[i].startsWith("stall_cycles.") ? l.stall_cycles[columns[i].slice(13)] : l[columns[i]], { names: columns, text: (v, i) => typeof v === "number" ? (Number.isInteger(v) && !/_(pj|bytes)$|utilization$/.test(columns[i]) ? grouped(v) : writer(columns[i])(v)) : show(v) });
document.body.dataset.ready = String(Math.round(performance.now()));
