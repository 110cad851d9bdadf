/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a run: data = {stats, series}, stats.json and the .series trace. Times are picoseconds. */
const stats = data.stats, series = data.series, end = Math.max(series.end_ps, stats.total.time_ps, 1);
const layers = stats.layers, causes = layers.length ? Object.keys(layers[0].stall_cycles) : [];
const title = (stats.network && stats.network.name || stats.command) + " on " + (stats.platform.platform || "a platform");
document.title = title;
make(document.body, "h1", title);
make(document.body, "div", "cnnvp " + stats.cnnvp + " " + stats.command + ", seed " + stats.seed + ": " + time(stats.total.time_ps) + ", " +
    grouped(stats.total.accel_cycles) + " accelerator cycles, " + grouped(stats.total.macs) + " MACs" +
    (stats.partial ? "; the run did not come to its end" : ""), { className: "note", id: "totals" });
/* ---- headline: what limits the run, and what it costs ---- */
const summary = stats.summary, percent = share => (100 * share).toFixed(1) + " %";
if (summary && summary.bound_by) {
    const shares = Object.entries(summary.bound_shares).filter(([, share]) => share >= 0.0005).map(([name, share]) => name + " " + percent(share));
    const costs = stats.energy, square = stats.area, range = (low, high, write) => write(low, 3) + " to " + write(high, 3) + " by other sources";
    const energyOf = writer("energy.total_pj"), areaOf = writer("area.total_um2");
    const facts = [["bound by", summary.bound_by, shares.join(", ") + " of the cycles"],
        ["images a second", stats.total.images_per_s ? grouped(Math.round(stats.total.images_per_s)) : "", (stats.total.images || "no") + " images"],
        ["share of peak arithmetic", percent(summary.peak_share), ""],
        ["share of memory bandwidth", percent(summary.bandwidth_share), short(stats.memory.burst_bytes || 0) + "B in bursts for " +
            short(stats.memory.read_bytes + stats.memory.write_bytes) + "B asked for"],
        ["energy an image", summary.energy_per_image_pj ? energyOf(summary.energy_per_image_pj, 4) : "", summary.tops_per_watt.toPrecision(3) + " TOPS/W"],
        ["energy", energyOf(costs.total_pj, 4), percent(costs.static_pj / (costs.total_pj || 1)) + " static; " + range(costs.low_pj, costs.high_pj, energyOf) +
            (costs.unknown.length ? "; not known of " + costs.unknown.join(", ") : "")],
        ["area at " + square.technology, areaOf(square.total_um2, 4), range(square.low_um2, square.high_um2, areaOf) +
            (square.unknown.length ? "; not known of " + square.unknown.join(", ") : "")]];
    const table = make(document.body, "table", null, { id: "summary" });
    for (const fact of facts.filter(f => f[1])) { const row = make(table, "tr"); fact.forEach(text => make(row, "td", text, { className: "text" })); }
}
const configuration = make(document.body, "details", null, { id: "configuration" });
make(configuration, "summary", "Configuration");
for (const [name, unit] of Object.entries(stats.platform.units))
    make(configuration, "div", name + ": " + Object.entries(unit).filter(([key]) => key !== "connect").map(([key, value]) => key + " " + show(value)).join(", "), { className: "note" });
/* ---- timeline: layers, then tracks; wheel zooms, dragging moves, double click shows all ---- */
make(document.body, "h2", "Timeline");
make(document.body, "div", "Wheel: zoom. Drag: move. Double click: all of it.", { className: "note screen" });
const rows = layers.map((l, i) => ({ label: l.name + (l.phase === "forward" ? "" : " " + l.phase), layer: l, colour: colours[i % colours.length] }))
    .concat(series.streams.filter(s => s.kind === "track" && s.begin && s.begin.length).map(s => ({ label: s.unit + " " + s.name, track: s })));
const rowHeight = 17, timeline = canvas(document.body, wide, rows.length * rowHeight + 30), side = 170;
timeline.element.id = "timeline";
let from = 0, to = end;
const atX = t => side + (t - from) / (to - from) * (timeline.width - side - 8);
const atTime = x => from + (x - side) / (timeline.width - side - 8) * (to - from);
const layerName = tag => tag && layers[tag - 1] ? layers[tag - 1].name : "";
function firstAfter(list, length, t) {
    let low = 0, high = list.length;
    while (low < high) { const middle = (low + high) >> 1; if (list[middle] + length[middle] < t) low = middle + 1; else high = middle; }
    return low;
}
function drawTimeline() {
    const g = timeline.context;
    g.clearRect(0, 0, timeline.width, timeline.height); g.textBaseline = "middle";
    rows.forEach((row, i) => {
        const y = 4 + i * rowHeight;
        g.fillStyle = ink; g.textAlign = "right"; g.fillText(row.label, side - 6, y + 7);
        if (row.layer) {
            const x = Math.max(side, atX(row.layer.start_ps)), right = Math.min(timeline.width - 8, atX(row.layer.end_ps));
            g.fillStyle = row.colour; if (right > x) g.fillRect(x, y, Math.max(1, right - x), 13);
            return;
        }
        const s = row.track;
        let last = -1;
        for (let k = firstAfter(s.begin, s.length, from); k < s.begin.length && s.begin[k] <= to; k++) {
            const x = Math.max(side, atX(s.begin[k])), right = Math.min(timeline.width - 8, atX(s.begin[k] + s.length[k]));
            if (right - x < 1 && Math.floor(x) === last) continue; /* one line a pixel */
            last = Math.floor(x);
            g.fillStyle = colours[s.tag[k] ? (s.tag[k] - 1) % colours.length : 7]; g.fillRect(x, y, Math.max(1, right - x), 13);
            if (right - x > 60) { g.fillStyle = "#fff"; g.textAlign = "left"; g.fillText(series.names[s.text[k]], x + 3, y + 7, right - x - 6); }
        }
    });
    g.fillStyle = soft; g.textAlign = "center";
    for (const t of ticks(from, to, 8)) { const x = atX(t); g.fillText(time(Math.round(t)), x, timeline.height - 12); g.fillRect(x, timeline.height - 24, 1, 5); }
}
function atEvent(event) {
    const area = timeline.element.getBoundingClientRect(), x = event.clientX - area.left, row = rows[Math.floor((event.clientY - area.top - 4) / rowHeight)];
    return { x, row, t: atTime(x) };
}
let held = null;
timeline.element.onmousedown = event => { held = { x: event.clientX, from, to }; };
window.addEventListener("mouseup", () => { held = null; });
timeline.element.onmousemove = event => {
    if (held) {
        const shift = (held.x - event.clientX) / (timeline.width - side - 8) * (held.to - held.from), width = held.to - held.from;
        from = Math.min(Math.max(0, held.from + shift), end - width); to = from + width; drawTimeline(); return;
    }
    const { row, t } = atEvent(event);
    if (!row || t < from) { tip(event, ""); return; }
    if (row.layer) {
        const l = row.layer;
        tip(event, l.name + " (" + l.op + ")\n" + time(l.start_ps) + " to " + time(l.end_ps) + "\n" + l.cycles + " cycles, " + l.compute_cycles + " compute\nutilization " + show(l.utilization));
        return;
    }
    const s = row.track, slack = (to - from) / timeline.width, k = firstAfter(s.begin, s.length, t - slack);
    const hit = k < s.begin.length && s.begin[k] <= t + slack;
    tip(event, hit && row.label + "\n" + series.names[s.text[k]] + (layerName(s.tag[k]) ? ", layer " + layerName(s.tag[k]) : "") + "\n" + time(s.begin[k]) + ", " + time(s.length[k]) +
        (s.count[k] > 1 ? "\n" + s.count[k] + " spans, busy " + time(s.busy[k]) : ""));
};
timeline.element.onmouseleave = event => tip(event, "");
timeline.element.ondblclick = () => { from = 0; to = end; drawTimeline(); };
timeline.element.addEventListener("wheel", event => {
    const t = atEvent(event).t, factor = event.deltaY < 0 ? .7 : 1 / .7, width = Math.min(end, Math.max(1000, (to - from) * factor)), share = (t - from) / (to - from);
    from = Math.min(Math.max(0, t - share * width), end - width); to = from + width; event.preventDefault(); drawTimeline();
}, { passive: false });
/* ---- stacked bars ---- */
function bars(parent, list, parts, unit) {
    const c = canvas(parent, wide, list.length * 20 + 30), g = c.context, most = Math.max(1, ...list.map(l => parts.reduce((sum, p) => sum + l.values[p.name], 0)));
    const scale = (c.width - 260) / most, hits = [];
    list.forEach((l, i) => {
        let x = 180;
        g.fillStyle = ink; g.textAlign = "right"; g.textBaseline = "middle"; g.fillText(l.name, 172, i * 20 + 10);
        for (const part of parts) {
            const value = l.values[part.name], width = value * scale;
            if (!value) continue;
            g.fillStyle = part.colour; g.fillRect(x, i * 20 + 2, width, 15); hits.push([x, i, width, l.name + "\n" + part.name + ": " + show(value) + " " + unit]); x += width;
        }
        g.fillStyle = soft; g.textAlign = "left";
        const total = parts.reduce((sum, p) => sum + l.values[p.name], 0);
        g.fillText(unit === "pJ" ? scaled(total, 3, energies, " pJ") : short(total) + " " + unit, x + 5, i * 20 + 10);
    });
    if (parts.length > 1) legend(make(parent, "div", null, { className: "note" }), parts.map(part => [part.colour, part.name]));
    c.element.onmousemove = event => {
        const area = c.element.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
        const hit = hits.find(h => x >= h[0] && x < h[0] + h[2] && Math.floor(y / 20) === h[1]);
        tip(event, hit && hit[3]);
    };
    c.element.onmouseleave = event => tip(event, "");
}
if (layers.length) {
    make(document.body, "h2", "Cycles of the layers");
    const parts = [{ name: "compute", colour: "#2a9d4a" }].concat(causes.map((name, i) => ({ name, colour: ["#1f6fd1", "#8a4fc0", "#2aa3a8", "#c0932a", "#d1571f", "#c03a6b", "#7a7a7a", "#5b7a1f", "#b9bec7"][i % 9] })));
    bars(document.body, layers.map(l => ({ name: l.name, values: Object.assign({ compute: l.compute_cycles }, l.stall_cycles) })), parts, "cycles");
}
/* ---- units: cycles that they count, and how busy their tracks are ---- */
make(document.body, "h2", "Units");
const unitRows = [];
for (const [unit, counters] of Object.entries(stats.units)) {
    const counted = Object.entries(counters).filter(([name, value]) => typeof value === "number" && /_cycles$/.test(name) && value && !(name === "busy_cycles" && counters.compute_cycles !== undefined));
    if (counted.length) unitRows.push({ name: unit, values: Object.fromEntries(counted) });
}
const unitParts = [...new Set(unitRows.flatMap(r => Object.keys(r.values)))].map((name, i) => ({ name, colour: colours[i % colours.length] }));
for (const row of unitRows) for (const part of unitParts) row.values[part.name] = row.values[part.name] || 0;
if (unitRows.length) bars(document.body, unitRows, unitParts, "cycles");
sortable(document.body, ["unit", "track", "busy, us", "share of the run"], series.streams.filter(s => s.kind === "track" && s.busy).map(s => {
    const busy = s.busy.reduce((sum, v) => sum + v, 0);
    return [s.unit, s.name, round(busy / 1e6), Number((busy / end).toPrecision(4))];
}), (r, i) => r[i]);
/* ---- energy ---- */
const parts = [{ name: "dynamic", colour: "#c0932a" }, { name: "static", colour: "#8d7b55" }];
const energy = Object.entries(stats.energy.by_unit).filter(e => e[1].dynamic_pj + e[1].static_pj);
if (energy.length) {
    make(document.body, "h2", "Energy by unit");
    bars(document.body, energy.map(([name, of]) => ({ name, values: { dynamic: of.dynamic_pj, static: of.static_pj } })), parts, "pJ");
    make(document.body, "h2", "Energy by layer");
    bars(document.body, layers.filter(l => l.energy_pj).map(l => ({ name: l.name, values: { dynamic: l.energy_pj - l.static_pj, static: l.static_pj } })), parts, "pJ");
}
/* ---- area ---- */
const area = Object.entries(stats.area.by_unit).filter(e => e[1]);
if (area.length) {
    make(document.body, "h2", "Area by unit, " + stats.area.technology);
    bars(document.body, area.map(([name, um2]) => ({ name, values: { area: um2 } })), [{ name: "area", colour: "#5b8f6a" }], "um2");
}
/* ---- over time ---- */
/* [time in us, least, most] of a series: within a window with changes all that it has been, else the value that it keeps. From
   nothing at the start to the last value at the end. */
function steps(s) {
    const x = [0], low = [0], high = [0], width = series.window_ps / 1e6;
    const put = (at, least, most) => { if (at > x[x.length - 1]) { x.push(at); low.push(least); high.push(most); } else { low[low.length - 1] = least; high[high.length - 1] = most; } };
    let kept = 0;
    s.window.forEach((w, i) => {
        put(w * width, Math.min(kept, s.min[i]), Math.max(kept, s.max[i]));
        kept = s.last[i];
        if (s.window[i + 1] !== w + 1 && (w + 1) * width < end / 1e6) put((w + 1) * width, kept, kept);
    });
    put(end / 1e6, kept, kept);
    return [x, low, high];
}
/* What is measured alike lies in one chart; a click on a name shows or hides it. */
function over(name, list) {
    const groups = new Map();
    for (const s of list) groups.set(s.group, (groups.get(s.group) || []).concat(s));
    if (list.length) make(document.body, "h2", name);
    for (const [group, members] of groups) {
        const tables = members.map(s => { const [x, , high] = steps(s); return [x, high]; });
        new uPlot({
            width: wide, height: 190, title: group, cursor: { sync: { key: "run" } }, scales: { x: { time: false, range: (u, a, b) => [a, b] } },
            axes: [{ label: "time, us", size: 40, labelSize: 14, stroke: ink, grid: { stroke: line } }, { size: 70, stroke: ink, grid: { stroke: line }, values: (u, v) => v.map(one => short(one)) }],
            series: [{ label: "time, us" }].concat(members.map((s, i) => ({
                label: s.label, stroke: colours[i % colours.length], points: { show: false }, spanGaps: true, paths: uPlot.paths.stepped({ align: 1 }),
                value: (u, v) => v == null ? "--" : short(v)
            })))
        }, uPlot.join(tables), make(document.body, "div"));
    }
}
const counted = series.streams.filter(s => s.window && s.max.some(v => v > 0));
over("Bandwidth of links", counted.filter(s => s.kind === "link").map(s => Object.assign({}, s, { label: s.unit + " \u2192 " + s.name, group: "bytes/s" })));
const isBuffer = s => /buffer/.test(s.unit);
const shown = s => Object.assign({}, s, isBuffer(s) ? { label: s.unit, group: s.name.replace(/_/g, " ") } : { label: s.unit + " " + s.name.replace(/_/g, " "), group: s.of || "count" });
over("Buffers", counted.filter(s => s.kind === "counter" && isBuffer(s)).map(shown));
over("Counters", counted.filter(s => s.kind === "counter" && !isBuffer(s)).map(shown));
/* ---- roofline ---- */
const measured = layers.filter(l => l.macs && l.cycles);
if (measured.length) {
    const pes = Math.max(...measured.map(l => l.pes));
    const array = stats.platform.units.pe_array || {}, mhz = array.clock_mhz || 1000, peak = pes * mhz * 1e6;
    const part = Object.values(stats.units).find(u => u.bus_bytes_per_s);
    const bandwidth = part ? part.bus_bytes_per_s : stats.memory.peak_bytes_per_s || stats.memory.mean_bytes_per_s;
    make(document.body, "h2", "Roofline");
    make(document.body, "div", pes + " MACs a cycle at " + mhz + " MHz; the slope is " + (part ? "what the off-chip memory's part carries at most, " : "the highest bandwidth of the off-chip memory that was seen, ") + short(bandwidth) + " bytes/s.", { className: "note" });
    const bytes = l => Math.max(1, l.dram_read_bytes + l.dram_write_bytes), seconds = l => l.cycles / (mhz * 1e6);
    const points = measured.map(l => ({ l, x: l.macs / bytes(l), y: l.macs / seconds(l) }));
    const x = scale("MACs for each byte off chip", points.map(p => p.x).concat(bandwidth ? [peak / bandwidth] : []), short, true);
    const y = scale("MACs/s", points.map(p => p.y).concat([peak]), short, true);
    x.low -= .3; x.high += .3; y.low -= .2; y.high += .2;
    const c = canvas(document.body, 900, 340), box = frame(c, x, y), g = c.context;
    axes(c, box, x, y);
    g.strokeStyle = ink; g.lineWidth = 1.5; g.beginPath();
    for (let i = 0; i <= 200; i++) {
        const intensity = x.back(x.low + (x.high - x.low) * i / 200);
        const bound = Math.max(Math.min(peak, intensity * (bandwidth || peak)), y.back(y.low));
        if (i) g.lineTo(box.x(intensity), box.y(bound)); else g.moveTo(box.x(intensity), box.y(bound));
    }
    g.stroke(); g.textAlign = "left"; g.textBaseline = "middle";
    points.forEach((p, i) => {
        g.fillStyle = colours[i % colours.length]; g.beginPath(); g.arc(box.x(p.x), box.y(p.y), 5, 0, 7); g.fill();
        g.fillText(p.l.name, box.x(p.x) + 8, box.y(p.y));
    });
}
/* ---- layers as numbers ---- */
make(document.body, "h2", "Layers");
const columns = ["name", "op", "phase", "macs", "cycles", "compute_cycles", ...causes.map(c => "stall " + c), "utilization", "compute_utilization", "energy_pj", "input_words", "weight_words", "output_words", "dram_read_bytes", "dram_write_bytes"];
make(document.body, "div", null, { id: "layers" });
sortable(document.getElementById("layers"), columns, layers, (l, i) => columns[i].startsWith("stall ") ? l.stall_cycles[columns[i].slice(6)] : l[columns[i]]);
drawTimeline();
document.body.dataset.ready = String(Math.round(performance.now()));
