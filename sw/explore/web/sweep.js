/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a sweep: data = {title, objectives, hypervolume, params, paths, metrics, networks, lists, points}. A point is
   {key, status, error, seconds, network, params: [...], stats: [...], list, layers: [...]} in the order of params, paths, metrics.
   Points of different networks do different work: fronts, shares and colours are those of one network. */
document.title = data.title;
/* In order of their parameters, failed ones last. */
function order(a, b) {
    for (let i = 0; i < data.params.length; i++) {
        const x = a.params[i] ?? null, y = b.params[i] ?? null;
        if (x !== y) return typeof x === "number" && typeof y === "number" ? x - y : String(x) < String(y) ? -1 : 1;
    }
    return a.key < b.key ? -1 : 1;
}
data.points.sort((a, b) => (a.status !== "ok") - (b.status !== "ok") || order(a, b));
const good = data.points.filter(p => p.status === "ok");
make(document.body, "h1", data.title);
make(document.body, "div", data.points.length + " points, " + good.length + " ok, " + (data.points.length - good.length) + " failed",
    { className: "note", id: "count" });
const varying = data.params.map((name, i) => i).filter(i => new Set(data.points.map(p => p.params[i])).size > 1);
const chosen = new Set();
const objective = path => data.objectives.find(o => o.path === path);
function best(path) { const o = objective(path); return o && o.maximise ? -1 : 1; }
/* "HASH NAME" */
const names = data.networks.map(text => text.slice(text.indexOf(" ") + 1));
const networkName = n => names.indexOf(names[n]) === names.lastIndexOf(names[n]) ? names[n] : names[n] + " " + data.networks[n].slice(0, 4);
const networkColour = n => data.networks.length > 1 ? colours[n % colours.length] : colours[0];
/* The points of each network, in order of its name. */
function byNetwork(points) {
    const groups = new Map();
    for (const p of points) if (groups.has(p.network)) groups.get(p.network).push(p); else groups.set(p.network, [p]);
    return [...groups].sort((a, b) => networkName(a[0]) < networkName(b[0]) ? -1 : 1);
}
const preferred = data.objectives.map(o => data.paths.indexOf(o.path)).filter(i => i >= 0);
const firstPath = preferred[0] ?? Math.max(0, data.paths.indexOf("total.time_ps"));
const secondPath = preferred[1] ?? Math.max(0, data.paths.indexOf("energy.total_pj"));
function chooser(parent, label, index, changed) {
    const holder = make(parent, "label", label + " "), select = make(holder, "select");
    data.paths.forEach((path, i) => make(select, "option", path, { value: i, selected: i === index }));
    select.onchange = changed;
    return select;
}
function describe(p) {
    return varying.map(i => data.params[i] + " = " + show(p.params[i])).join("\n");
}
/* ---- which points the page is about: one value of a parameter, or all ---- */
const limits = new Map(); /* from a parameter's index to the one value that is looked at */
let looked = good;
const isLooked = p => [...limits].every(([i, value]) => show(p.params[i]) === value);
const limitBar = make(document.body, "div", null, { className: "bar", id: "limits" });
for (const i of varying) {
    const values = [...new Set(data.points.map(p => show(p.params[i])))];
    if (values.length > 12) continue;
    const numbers = data.points.every(p => typeof p.params[i] === "number");
    values.sort((a, b) => numbers ? a - b : a < b ? -1 : 1);
    const select = make(make(limitBar, "label", data.params[i] + " "), "select");
    for (const value of ["all", ...values]) make(select, "option", value);
    select.onchange = () => {
        if (select.selectedIndex) limits.set(i, select.value); else limits.delete(i);
        looked = good.filter(isLooked);
        drawPlot(); drawParallel(); drawSensitivity(); table.fill();
    };
}
if (!limitBar.children.length) limitBar.remove();
/* ---- plot of two objectives, with the front ---- */
make(document.body, "h2", "Objectives");
const plotBar = make(document.body, "div", null, { className: "bar" });
const redraw = () => { drawPlot(); drawParallel(); drawSensitivity(); };
const xSelect = chooser(plotBar, "x", firstPath, redraw), ySelect = chooser(plotBar, "y", secondPath, redraw);
make(plotBar, "span", "click a point to choose it for comparison", { className: "note" });
const frontKey = make(document.body, "div", null, { className: "note", id: "front" });
const plot = canvas(document.body, wide, 380);
let plotBox = null, plotX = 0, plotY = 0;
function front(points, xi, yi) {
    const sx = best(data.paths[xi]), sy = best(data.paths[yi]);
    const list = points.filter(p => p.stats[xi] !== null && p.stats[yi] !== null)
        .sort((a, b) => sx * (a.stats[xi] - b.stats[xi]) || sy * (a.stats[yi] - b.stats[yi]));
    const kept = [];
    let lowest = Infinity, at = NaN;
    for (const p of list) {
        const y = sy * p.stats[yi];
        if (y < lowest) { lowest = y; at = p.stats[xi]; kept.push(p); }
        else if (y === lowest && p.stats[xi] === at) kept.push(p);
    }
    return kept;
}
function drawPlot() {
    plotX = Number(xSelect.value); plotY = Number(ySelect.value);
    frontKey.textContent = "";
    if (!looked.length) {
        plot.context.clearRect(0, 0, plot.width, plot.height);
        plotBox = null;
        frontKey.textContent = "no points";
        return;
    }
    const xs = scale(data.paths[plotX], looked.map(p => p.stats[plotX]), writer(data.paths[plotX]));
    const ys = scale(data.paths[plotY], looked.map(p => p.stats[plotY]), writer(data.paths[plotY]));
    const g = plot.context, box = plotBox = frame(plot, xs, ys), entries = [];
    const dot = (p, radius) => { g.beginPath(); g.arc(box.x(p.stats[plotX]), box.y(p.stats[plotY]), radius, 0, 7); };
    axes(plot, box, xs, ys);
    for (const [network, points] of byNetwork(looked)) {
        const kept = front(points, plotX, plotY), colour = networkColour(network), mark = data.networks.length > 1 ? colour : colours[1];
        g.globalAlpha = .4; g.fillStyle = colour;
        for (const p of points) { dot(p, 3); g.fill(); }
        g.globalAlpha = 1; g.strokeStyle = g.fillStyle = mark; g.lineWidth = 1.5; g.beginPath();
        kept.forEach((p, i) => {
            const x = box.x(p.stats[plotX]), y = box.y(p.stats[plotY]);
            if (i) { g.lineTo(x, box.y(kept[i - 1].stats[plotY])); g.lineTo(x, y); } else g.moveTo(x, y);
        });
        g.stroke();
        for (const p of kept) { dot(p, 4); g.fill(); }
        entries.push([mark, (data.networks.length > 1 ? networkName(network) + ": " : "") +
            kept.length + " of " + points.length + " points on the front"]);
    }
    g.strokeStyle = ink;
    for (const p of chosen) if (isLooked(p)) { dot(p, 7); g.stroke(); }
    legend(frontKey, entries);
}
function nearest(event) {
    const area = plot.element.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
    let found = null, least = 144;
    for (const p of looked) {
        const d = (plotBox.x(p.stats[plotX]) - x) ** 2 + (plotBox.y(p.stats[plotY]) - y) ** 2;
        if (d < least) { least = d; found = p; }
    }
    return found;
}
plot.element.onmousemove = event => {
    const p = plotBox && nearest(event);
    tip(event, p && data.paths[plotX] + " = " + show(p.stats[plotX]) + "\n" + data.paths[plotY] + " = " + show(p.stats[plotY]) + "\n" + describe(p));
};
plot.element.onmouseleave = event => tip(event, "");
plot.element.onclick = event => { const p = plotBox && nearest(event); if (p) toggle(p); };
function toggle(p) { if (chosen.has(p)) chosen.delete(p); else chosen.add(p); drawPlot(); table.fill(); compare(); }
/* ---- parallel coordinates ---- */
const parallelHolder = make(document.body, "div");
function drawParallel() {
    parallelHolder.textContent = "";
    if (!varying.length || !looked.length) return;
    make(parallelHolder, "h2", "Parameters of the points, coloured by x of the plot above" +
        (data.networks.length > 1 ? ", within its network" : ""));
    const parallel = canvas(parallelHolder, wide, 260);
    const lanes = varying.map(i => ({ name: data.params[i], value: p => p.params[i] })).concat([plotX, plotY]
        .filter((v, i, a) => a.indexOf(v) === i).map(i => ({ name: data.paths[i], value: p => p.stats[i] })));
    for (const lane of lanes) {
        const values = [...new Set(looked.map(lane.value))];
        if (values.length > 1 && values.every(v => typeof v === "number")) {
            const [low, high] = range(values);
            lane.at = v => (v - low) / (high - low); lane.low = ends(low); lane.high = ends(high);
        } else {
            values.sort(inOrder);
            lane.at = v => values.length > 1 ? values.indexOf(v) / (values.length - 1) : .5; lane.low = ends(values[0]); lane.high = ends(values[values.length - 1]);
        }
    }
    const g = parallel.context, top = 26, bottom = 236, left = 60, step = (parallel.width - 120) / Math.max(1, lanes.length - 1);
    const spread = looked.length > 3000 ? Math.ceil(looked.length / 3000) : 1;
    const ranges = new Map(byNetwork(looked).map(([network, points]) => [network, range(points.map(p => p.stats[plotX]))]));
    g.lineWidth = .8;
    looked.forEach((p, n) => {
        if (n % spread) return;
        const [low, high] = ranges.get(p.network);
        g.strokeStyle = "hsla(" + Math.round(215 - 195 * (p.stats[plotX] - low) / (high - low)) + ",70%,45%,.35)"; g.beginPath();
        lanes.forEach((lane, i) => { const x = left + i * step, y = bottom - lane.at(lane.value(p)) * (bottom - top); if (i) g.lineTo(x, y); else g.moveTo(x, y); });
        g.stroke();
    });
    g.fillStyle = ink; g.strokeStyle = ink; g.textAlign = "center";
    lanes.forEach((lane, i) => {
        const x = left + i * step; g.beginPath(); g.moveTo(x, top); g.lineTo(x, bottom); g.stroke();
        g.textAlign = i ? i + 1 < lanes.length ? "center" : "right" : "left";
        const at = i ? i + 1 < lanes.length ? x : parallel.width - 8 : 8;
        g.fillText(lane.name, at, 10); g.fillText(lane.high, at, 22); g.fillText(lane.low, at, 248);
    });
}
/* ---- sensitivity: log y = mean + one effect for each value of each parameter, fitted to all points together ---- */
make(document.body, "h2", "Sensitivity");
make(document.body, "div", "How many times as much an objective is at a parameter's worst value as at its best, all other parameters alike: effects that multiply, " +
    "fitted to all points" + (data.networks.length > 1 ? " of the network" : "") + " together.", { className: "note" });
const sensitivityHolder = make(document.body, "div", null, { id: "sensitivity" });
/* Values of a parameter, numbers of which there are many in five classes of as many points each. */
function classes(points, i) {
    const values = [...new Set(points.map(p => p.params[i]))].sort(inOrder);
    if (values.length <= 8 || !values.every(v => typeof v === "number"))
        return { of: p => values.indexOf(p.params[i]), names: values.map(show) };
    const sorted = points.map(p => p.params[i]).sort((a, b) => a - b), first = [...new Set([0, 1, 2, 3, 4].map(k => sorted[Math.floor(k * sorted.length / 5)]))];
    const at = v => { let k = first.length - 1; while (first[k] > v) k--; return k; };
    return { of: p => at(p.params[i]), names: first.map((low, k) => show(low) + (k + 1 < first.length ? " up to " + show(first[k + 1]) : " and above")) };
}
function effects(points, path) {
    const used = points.filter(p => p.stats[path] > 0);
    const parts = varying.map(i => ({ i, ...classes(used, i) })).filter(part => part.names.length > 1);
    const rest = used.map(p => Math.log(p.stats[path])), mean = rest.reduce((a, b) => a + b, 0) / rest.length;
    for (const part of parts) { part.at = used.map(part.of); part.effect = part.names.map(() => 0); }
    rest.forEach((value, n) => { rest[n] = value - mean; });
    for (let round = 0; round < 40; round++) for (const part of parts) {
        const sum = part.names.map(() => 0), count = part.names.map(() => 0);
        rest.forEach((value, n) => { sum[part.at[n]] += value; count[part.at[n]]++; });
        const change = sum.map((value, k) => count[k] ? value / count[k] : 0);
        part.effect = part.effect.map((value, k) => value + change[k]);
        rest.forEach((value, n) => { rest[n] = value - change[part.at[n]]; });
    }
    return parts;
}
function drawSensitivity() {
    const sensitivity = [], several = data.networks.length > 1;
    for (const path of new Set([plotX, plotY])) for (const [network, points] of byNetwork(looked)) for (const part of effects(points, path)) {
        const least = part.effect.indexOf(Math.min(...part.effect)), most = part.effect.indexOf(Math.max(...part.effect));
        const times = Math.exp(part.effect[most] - part.effect[least]);
        sensitivity.push({ times: times > 1 + 1e-9 ? times : 1, /* less is what sums in another order differ by */
            cells: [data.paths[path], ...(several ? [networkName(network)] : []), data.params[part.i], part.names[least], part.names[most]] });
    }
    sensitivity.sort((a, b) => b.times - a.times);
    sensitivityHolder.textContent = "";
    const columns = ["objective", ...(several ? ["network"] : []), "parameter", "lowest at", "highest at", "times as much"];
    sortable(sensitivityHolder, columns, sensitivity, (r, i) => i + 1 < columns.length ? r.cells[i] : Number(r.times.toPrecision(4)));
}
/* ---- hypervolume ---- */
if (data.hypervolume && data.hypervolume.length > 1) {
    make(document.body, "h2", "Hypervolume over generations");
    new uPlot({ width: wide, height: 220, scales: { x: { time: false } }, axes: [{ label: "generation", incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], size: 40, labelSize: 14 }, {}], series: [{ label: "generation" }, { label: "hypervolume", stroke: colours[0], width: 2 }] },
        [data.hypervolume.map(h => h.generation), data.hypervolume.map(h => h.hypervolume)], document.body);
}
/* ---- table ---- */
make(document.body, "h2", "Points");
const tableBar = make(document.body, "div", null, { className: "bar" });
make(tableBar, "span", "Filters below the names: text, or <, <=, >, >=, = and a number. Click a row to choose it.", { className: "note" });
const shownPaths = [...new Set([...preferred, firstPath, secondPath])];
const allBox = make(make(tableBar, "label", "all statistics "), "input", null, { type: "checkbox", onchange: () => buildTable() });
const tableHolder = make(document.body, "div", null, { id: "points" });
let table = null;
function buildTable() {
    const paths = allBox.checked ? data.paths.map((p, i) => i) : shownPaths;
    const columns = ["status", ...data.params, ...paths.map(i => data.paths[i]), "seconds", "error"], filters = columns.map(() => "");
    const cell = (p, i) => {
        if (i === 0) return p.status;
        if (i <= data.params.length) return p.params[i - 1] ?? undefined;
        i -= 1 + data.params.length;
        if (i < paths.length) return p.stats ? p.stats[paths[i]] ?? undefined : undefined;
        return i === paths.length ? Number(p.seconds.toPrecision(4)) : p.error ?? undefined;
    };
    const passes = (value, text) => {
        const match = /^\s*(<=|>=|<|>|=)\s*(.+)$/.exec(text);
        if (!match) return String(value ?? "").includes(text);
        const limit = Number(match[2]);
        if (match[1] === "=") return String(value) === match[2].trim() || value === limit;
        return typeof value === "number" && (match[1] === "<" ? value < limit : match[1] === "<=" ? value <= limit : match[1] === ">" ? value > limit : value >= limit);
    };
    tableHolder.textContent = "";
    table = sortable(tableHolder, columns, data.points, cell, {
        filter: p => isLooked(p) && filters.every((text, i) => !text || passes(cell(p, i), text)),
        line: (line, p) => { line.dataset.key = p.key; if (p.status !== "ok") line.className = "failed"; else { if (chosen.has(p)) line.className = "chosen"; line.onclick = () => toggle(p); } }
    });
    columns.forEach((name, i) => make(make(table.head.children[i], "div"), "input", null,
        { type: "text", onclick: e => e.stopPropagation(), oninput: e => { filters[i] = e.target.value; table.fill(); } }));
}
/* ---- comparison ---- */
make(document.body, "h2", "Chosen points, layer by layer");
const comparison = make(document.body, "div", null, { id: "comparison" });
function compare() {
    comparison.textContent = "";
    const list = [...chosen];
    if (!list.length) { make(comparison, "div", "None are chosen.", { className: "note" }); return; }
    const bar = make(comparison, "div", null, { className: "bar" }), select = make(make(bar, "label", "metric "), "select");
    data.metrics.forEach((m, i) => make(select, "option", m, { value: i }));
    const holder = make(comparison, "div");
    select.onchange = () => {
        const names = [...new Set(list.flatMap(p => data.lists[p.list]))], metric = Number(select.value);
        holder.textContent = "";
        sortable(holder, ["layer", ...list.map(describe)], names, (name, i) => {
            if (i === 0) return name;
            const p = list[i - 1], at = data.lists[p.list].indexOf(name);
            return at < 0 ? undefined : p.layers[at * data.metrics.length + metric];
        });
    };
    select.onchange();
}
buildTable(); drawPlot(); drawParallel(); drawSensitivity(); compare();
document.body.dataset.ready = String(Math.round(performance.now()));
