/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a sweep: data = {title, objectives, hypervolume, fixed, derived, others, params, paths, metrics, networks, commands, lists, points}. A point is
   {key, status, error, seconds, network, command, page, params: [...], stats: [...], list, layers: [...]} in the order of params, paths, metrics.
   Points of different networks do different work: each network has panels of its own. */
document.title = data.title;
/* The order of points by their parameters. */
function order(a, b) {
    for (let i = 0; i < data.params.length; i++) {
        const x = a.params[i] ?? null, y = b.params[i] ?? null;
        if (x !== y) return inOrder(x, y) || 0;
    }
    return a.key < b.key ? -1 : 1;
}
data.points.sort((a, b) => (a.status !== "ok") - (b.status !== "ok") || order(a, b));
const good = data.points.filter(p => p.status === "ok"), failed = data.points.length - good.length;
const header = make(null, "header");
document.body.prepend(header);
make(header, "h1", data.title);
make(header, "div", data.points.length + " points" + (failed ? ", " + good.length + " of them ok, " + failed + " failed" : "") + (data.others ? "; " + data.others + " of another build of cnnvp are left out" : ""), { className: "note", id: "count" });
const varying = data.params.map((name, i) => i).filter(i => new Set(data.points.map(p => p.params[i])).size > 1);
/* "HASH NAME" */
const names = data.networks.map(text => ends(text.slice(text.indexOf(" ") + 1)));
const networkName = n => names.indexOf(names[n]) === names.lastIndexOf(names[n]) ? names[n] : names[n] + " " + data.networks[n].slice(0, 4);
const several = data.networks.length > 1, design = varying.filter(i => data.params[i] !== "network");
/* Derived parameters follow the others, so they cannot vary on their own. */
const isDerived = i => data.derived.includes(data.params[i]), chosenFreely = design.filter(i => !isDerived(i)), shortNamed = shortNames(design.map(i => data.params[i]));
/* Groups points by network, sorted by the network's name. */
function byNetwork(points) {
    const groups = new Map();
    for (const p of points) if (groups.has(p.network)) groups.get(p.network).push(p); else groups.set(p.network, [p]);
    return [...groups].sort((a, b) => networkName(a[0]) < networkName(b[0]) ? -1 : 1);
}
const objective = path => data.objectives.find(o => o.path === path);
const axisOf = at => ({ at, sign: objective(data.paths[at]) && objective(data.paths[at]).maximise ? -1 : 1 });
const preferred = data.objectives.map(o => data.paths.indexOf(o.path)).filter(i => i >= 0);
const costs = ["total.time_ps", "energy.total_pj"].map(path => Math.max(0, data.paths.indexOf(path)));
const firstPath = preferred[0] ?? costs[0], secondPath = preferred[1] ?? (costs[1] === firstPath ? costs[0] : costs[1]);
const goals = (preferred.length > 1 ? preferred : [firstPath, secondPath]).map(axisOf);
const written = (p, at) => p.stats && typeof p.stats[at] === "number" ? writer(data.paths[at])(p.stats[at]) : "";
/* A point's design in a few words. */
const describe = p => design.map((i, k) => shortNamed[k] + " " + ends(p.params[i] ?? "default")).join(", ");
const groups = byNetwork(good).map(([network, points]) => {
    const best = frontOf(points, goals);
    return { network, points, best: new Set(best), knee: knee(best, goals) };
});
/* ---- filters: chosen values and brushed ranges of axes ---- */
const limits = new Map(); /* maps a parameter's index to the only value that is shown */
const lines = { order: [], brushes: new Map() };
let plotX = firstPath, plotY = secondPath;
const laneSets = new Map(); /* the lanes of each network */
const isLooked = p => [...limits].every(([i, value]) => show(p.params[i]) === value) &&
    [...lines.brushes].every(([id, [low, high]]) => { const lane = laneSets.get(p.network).find(l => l.id === id), at = lane && lane.place(p); return at !== undefined && at >= low && at <= high; });
let looked = good;
const refreshers = [], refresh = () => { looked = good.filter(isLooked); refreshers.forEach(f => f()); };
const limitBar = make(header, "div", null, { className: "bar screen", id: "limits" });
for (const i of varying) {
    const values = [...new Set(data.points.map(p => p.params[i]))].sort(inOrder);
    if (values.length > 12) continue;
    const select = chooser(limitBar, data.params[i], [["all", "all"], ...values.map((v, k) => [k, ends(v ?? "default")])], "all", at => {
        if (at === "all") limits.delete(i); else limits.set(i, show(values[at]));
        refresh();
    });
    select.values = values; select.parameter = i;
}
if (limitBar.children.length || varying.length)
    make(limitBar, "button", "all points", { id: "all", onclick: () => { limits.clear(); lines.brushes.clear(); for (const s of limitBar.querySelectorAll("select")) s.selectedIndex = 0; refresh(); } });
const lookedNote = make(limitBar, "span", "", { className: "note", id: "looked" });
refreshers.push(() => { lookedNote.textContent = looked.length + " of " + good.length + " points"; });
/* ---- scatter plot of two statistics, with the front of all objectives ---- */
/* Without a successful point there is nothing to draw, so the section is not added to the document. */
const sectionOfGood = (...words) => good.length ? section(...words) : make(null, "section");
const tradeOff = sectionOfGood("Trade-off", "tradeoff", true), plotBar = make(tradeOff, "div", null, { className: "bar screen" });
const choices = data.paths.map((path, i) => [i, say(path)]);
const setAxes = () => { lines.order = []; lines.brushes.clear(); laneSets.clear(); makeLanes(); refresh(); };
chooser(plotBar, "across", choices, firstPath, v => { plotX = Number(v); setAxes(); }).id = "across";
chooser(plotBar, "up", choices, secondPath, v => { plotY = Number(v); setAxes(); }).id = "up";
make(plotBar, "button", "save SVG", { onclick: () => plots.forEach(f => saveFile(data.title + "." + networkName(f.group.network) + ".svg", "image/svg+xml", f.svg())) });
make(plotBar, "span", "A click on a point chooses it, a click on a chosen one drops it.", { className: "note" });
const goalNames = good.length ? goals.map(g => say(data.paths[g.at])).join(goals.length > 2 ? ", " : " and ") : "";
const frontLegend = legend(tradeOff, [[colours[0], "a point"], [colours[1], "on the front of " + goalNames], [colours[3], "knee: of the front the nearest to the best of all at once"]]);
frontLegend.id = "front";
/* An objective without an axis is shown as the size of the points: [radius(p), its description]. */
function sizes(points) {
    const third = goals.find(g => g.at !== plotX && g.at !== plotY);
    if (!third) return [() => 3, ""];
    const of = scale("", points.map(p => p.stats[third.at]), show), span = of.high - of.low;
    return [p => 2 + 4 * (of.at(p.stats[third.at]) - of.low) / span || 3, "the larger a point, the more " + say(data.paths[third.at])];
}
const sizeNote = make(frontLegend, "span", "", { className: "entry" });
refreshers.push(() => { sizeNote.textContent = sizes(good)[1]; });
const chosen = new Set(), letters = p => String.fromCharCode(65 + [...chosen].indexOf(p) % 26), plots = [];
function drawPlot(f) {
    const { group } = f, points = group.points.filter(isLooked), g = f.context;
    f.box = null;
    g.clearRect(0, 0, f.width, f.height);
    const shown = points.filter(p => typeof p.stats[plotX] === "number" && typeof p.stats[plotY] === "number");
    if (!shown.length) { g.fillStyle = theme.soft; g.textAlign = "center"; g.fillText("no points", f.width / 2, f.height / 2); return; }
    const [xs, ys] = [plotX, plotY].map(i => scale(say(data.paths[i]), shown.map(p => p.stats[i]), writer(data.paths[i])));
    const box = f.box = frame(f, xs, ys), x = p => box.x(p.stats[plotX]), y = p => box.y(p.stats[plotY]);
    const dot = (p, radius) => { g.beginPath(); g.arc(x(p), y(p), radius, 0, 7); };
    axes(g, f.width, f.height, box, xs, ys);
    g.fillStyle = theme.mark; g.globalAlpha = shown.length > 1000 ? .3 : .55;
    const [radius] = sizes(shown);
    for (const p of shown) { dot(p, radius(p)); g.fill(); }
    const edge = front(shown, axisOf(plotX), axisOf(plotY));
    g.globalAlpha = .6; g.strokeStyle = colours[1]; g.lineWidth = 1.5; g.beginPath();
    edge.forEach((p, i) => { if (i) g.lineTo(x(p), y(edge[i - 1])); g.lineTo(x(p), y(p)); });
    g.stroke();
    g.globalAlpha = 1; g.fillStyle = colours[1];
    for (const p of shown) if (group.best.has(p)) { dot(p, radius(p) + 1); g.fill(); }
    if (group.knee && shown.includes(group.knee)) { const p = group.knee; g.fillStyle = colours[3]; g.beginPath(); g.moveTo(x(p), y(p) - 8); g.lineTo(x(p) + 8, y(p)); g.lineTo(x(p), y(p) + 8); g.lineTo(x(p) - 8, y(p)); g.closePath(); g.fill(); }
    const marked = [...chosen].filter(p => shown.includes(p));
    g.strokeStyle = theme.ink; g.lineWidth = 1.5;
    for (const p of marked) { dot(p, 8); g.stroke(); }
    f.labels = labels(g, box, marked.map(p => ({ x: x(p), y: y(p), text: letters(p) + (p === group.knee ? ": knee" : ""), colour: theme.ink })), 11);
}
function nearest(f, event) {
    const area = f.element.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
    let found = null, least = 196;
    if (f.box) for (const p of f.group.points) {
        if (!isLooked(p) || typeof p.stats[plotX] !== "number" || typeof p.stats[plotY] !== "number") continue;
        const d = (f.box.x(p.stats[plotX]) - x) ** 2 + (f.box.y(p.stats[plotY]) - y) ** 2;
        if (d < least) { least = d; found = p; }
    }
    return found;
}
const plotHolder = make(tradeOff, "div", null, { className: "panels" });
for (const group of groups) {
    const holder = make(plotHolder, "div", null, { className: "panel" });
    if (several) make(holder, "h3", networkName(group.network));
    const goalsOf = p => goals.map(g => written(p, g.at)).join(", ");
    make(holder, "p", group.best.size + " of " + group.points.length + " points are on the front." + (group.knee ? " Its knee: " + describe(group.knee) + " (" + goalsOf(group.knee) + ")." : ""), { className: "note front" });
    const f = figure(holder, 340, one => { one.group = group; drawPlot(one); });
    tipOf(f.element, event => { const p = nearest(f, event); return p && [...new Set([plotX, plotY, ...goals.map(g => g.at)])].map(i => say(data.paths[i]) + ": " + written(p, i)).join("\n") + "\n" + design.map(i => data.params[i] + " = " + ends(p.params[i] ?? "default")).join("\n"); });
    f.element.addEventListener("click", event => { const p = nearest(f, event); if (p) toggle(p); });
    plots.push(f);
}
refreshers.push(() => plots.forEach(f => f.draw()));
function toggle(p) { if (chosen.has(p)) chosen.delete(p); else chosen.add(p); refresh(); compare(); }
/* ---- parallel coordinates ---- */
function makeLanes() {
    const stats = [...new Set([plotX, plotY, ...goals.map(g => g.at)])];
    for (const group of groups)
        laneSets.set(group.network, design.map(i => laneOf("p" + i, data.params[i], p => p.params[i], good)).concat(stats.map(i => laneOf("s" + i, say(data.paths[i]), p => p.stats[i], group.points, writer(data.paths[i])))));
    if (!lines.order.length) lines.order = groups.length ? laneSets.get(groups[0].network).map(l => l.id) : [];
}
makeLanes();
if (design.length && groups.length) {
    const holder = section("Parameters", "parameters", true, "A line is a point, blue where " + "what lies across above is lowest. Drag along an axis to keep a part of it (a click there lets go), drag a name, or use the arrow keys on it, to move its axis.");
    const panelsOf = make(holder, "div", null, { className: design.length > 5 ? "" : "panels" });
    const drawLines = () => {
        panelsOf.replaceChildren();
        for (const group of groups) {
            const one = make(panelsOf, "div", null, { className: "panel" }), [low, high] = range(group.points.map(p => p.stats[plotX]));
            if (several) make(one, "h3", networkName(group.network));
            parallel(one, laneSets.get(group.network), group.points, isLooked, p => (p.stats[plotX] - low) / (high - low), lines, refresh);
        }
    };
    refreshers.push(drawLines);
}
/* ---- what matters ---- */
const weight = sectionOfGood("What matters", "what_matters", false, "How many times as much an objective is at a parameter's worst value as at its best, all other parameters alike: effects that multiply, fitted to all points together.");
const sensitivityHolder = make(weight, "div", null, { id: "sensitivity" });
function drawSensitivity() {
    const rows = [], fits = [], none = [];
    for (const [network, points] of byNetwork(looked)) for (const path of new Set([plotX, plotY, ...goals.map(g => g.at)])) {
        const { lines: found, explained } = importance(points, path, chosenFreely), of = say(data.paths[path]) + (several ? " of " + networkName(network) : "");
        for (const line of found.filter(hasEffect)) rows.push([...(several ? [networkName(network)] : []), say(data.paths[path]), data.params[line.i], line.least, line.most, Number(line.times.toPrecision(4))]);
        if (found.some(hasEffect)) fits.push(of + " " + percent(explained, 3));
        if (!found.every(hasEffect)) none.push(found.filter(line => !hasEffect(line)).map(line => data.params[line.i]).join(", ") + " on " + of);
    }
    rows.sort((a, b) => b[b.length - 1] - a[a.length - 1]);
    sensitivityHolder.replaceChildren();
    sortable(sensitivityHolder, [...(several ? ["network"] : []), "of", "parameter", "lowest at", "highest at", "times as much"], rows, (r, i) => r[i]);
    if (fits.length) make(sensitivityHolder, "p", "These effects explain, of the spread of the logarithms: " + fits.join(", ") + ". Where that is far from 100 %, parameters act together.", { className: "note" });
    if (none.length) make(sensitivityHolder, "p", "No effect: " + none.join("; ") + ".", { className: "note", id: "no_effect" });
    if (chosenFreely.length < design.length) make(sensitivityHolder, "p", "Derived from others, so without an effect of their own: " + design.filter(isDerived).map(i => data.params[i]).join(", ") + ".", { className: "note", id: "derived" });
}
refreshers.push(drawSensitivity);
/* ---- hypervolume ---- */
if (data.hypervolume && data.hypervolume.length > 1)
    figure(section("Hypervolume over generations", "hypervolume", false), 260, f => {
        const list = data.hypervolume, xs = scale("generation", list.map(h => h.generation), v => String(Math.round(v))), ys = scale("hypervolume", list.map(h => h.hypervolume), short), box = frame(f, xs, ys), g = f.context;
        axes(g, f.width, f.height, box, xs, ys);
        g.strokeStyle = colours[0]; g.lineWidth = 2; g.beginPath();
        for (const h of list) g.lineTo(box.x(h.generation), box.y(h.hypervolume));
        g.stroke();
    });
/* ---- chosen points ---- */
/* Of the first network that has the objectives. */
const leading = groups.find(g => g.best.size);
if (leading) {
    if (leading.knee) chosen.add(leading.knee);
    for (const goal of goals) chosen.add([...leading.best].reduce((best, p) => goal.sign * p.stats[goal.at] < goal.sign * best.stats[goal.at] ? p : best));
}
const comparison = make(sectionOfGood("Chosen points", "chosen", false, "At first the knee and the best of each objective" + (several && leading ? ", of " + networkName(leading.network) : "") + "."), "div", null, { id: "comparison" });
const quoted = word => /^[\w@%+=:,.\/-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
/* The command line that runs a point again and records its page. */
function commandOf(p) {
    const words = p.command === undefined ? (data.fixed || ["run"]).slice() : JSON.parse(data.commands[p.command]), option = name => "--" + name.replace(/_/g, "-");
    data.params.forEach((name, i) => {
        const value = p.params[i];
        if (value === undefined || value === null || value === false) return;
        if (name === "network" || name === "program") words.splice(1, 0, show(value));
        else if (name.includes(".")) words.push("-s", name + "=" + value);
        else words.push(value === true ? option(name) : option(name) + "=" + value);
    });
    return ["cnnvp", ...words, "--report", data.title + ".runs/" + p.key].map(quoted).join(" ");
}
let metric = Math.max(0, data.metrics.indexOf("cycles"));
function compare() {
    const list = [...chosen];
    comparison.replaceChildren();
    if (!list.length) { make(comparison, "div", "None are chosen.", { className: "note" }); return; }
    const rows = [...(several ? [["network", p => networkName(p.network)]] : []), ...design.map(i => [data.params[i], p => ends(p.params[i] ?? "default")]), ...[...new Set([...goals.map(g => g.at), plotX, plotY])].map(i => [say(data.paths[i]), p => written(p, i)])];
    const holder = make(make(comparison, "div", null, { className: "scroll", tabIndex: 0 }), "table"), head = make(make(holder, "thead"), "tr"), body = make(holder, "tbody");
    make(head, "th");
    for (const p of list) make(make(head, "th"), "button", letters(p) + (groups.some(g => g.knee === p) ? " (knee)" : "") + " \u00d7", { title: "drop it", onclick: () => toggle(p) });
    for (const [name, of] of rows) { const row = make(body, "tr"); make(row, "th", name, { className: "text", scope: "row" }); for (const p of list) make(row, "td", of(p)); }
    const pages = make(body, "tr");
    make(pages, "th", "page of the run", { className: "text", scope: "row" });
    for (const p of list) { const cell = make(pages, "td"); if (p.page) make(cell, "a", "open", { href: p.page }); else cell.textContent = "\u2013"; }
    const bar = make(comparison, "div", null, { className: "bar screen" }), chart = make(comparison, "div", null, { id: "layers" });
    chooser(bar, "of each layer", data.metrics.map((m, i) => [i, say(m)]), metric, v => { metric = Number(v); draw(); });
    function draw() {
        const layerNames = [...new Set(list.flatMap(p => data.lists[p.list]))], write = writer(data.metrics[metric]);
        const value = ({ p }, name) => { const at = data.lists[p.list].indexOf(name); return at < 0 ? undefined : p.layers[at * data.metrics.length + metric]; };
        groupedBars(chart, layerNames, list.map((p, k) => ({ p, colour: colours[k % colours.length] })), value, ({ p }, name, v) => letters(p) + " " + write(v), ({ p }, name, v) => name + ", " + letters(p) + ": " + describe(p) + "\n" + say(data.metrics[metric]) + ": " + write(v));
    }
    draw();
    const details = make(comparison, "details");
    make(details, "summary", "Run one again, and have its page");
    make(details, "p", "After one of these, `cnnvp report " + data.title + "` makes its page too and links it above.", { className: "note" });
    for (const p of list) make(details, "code", letters(p) + ": " + commandOf(p), { className: "command" });
}
/* ---- table ---- */
const tableSection = section("Points", "table", true), tableBar = make(tableSection, "div", null, { className: "bar screen" });
const shownPaths = [...new Set([...preferred, firstPath, secondPath])].filter(i => i < data.paths.length);
const allBox = make(make(tableBar, "label", "all statistics "), "input", null, { type: "checkbox", onchange: () => buildTable() });
make(tableBar, "button", "save CSV of the rows shown", { onclick: () => saveFile(data.title + ".csv", "text/csv", tableCsv()) });
make(tableBar, "span", "Filters below the names: text, or <, <=, >, >=, = and a number. A click on a row, or Enter, chooses it.", { className: "note" });
const tableHolder = make(tableSection, "div", null, { id: "points" });
let table = null, tableCsv = null;
function buildTable() {
    const paths = allBox.checked ? data.paths.map((p, i) => i) : shownPaths, first = failed ? ["status"] : [], last = failed ? ["seconds", "error"] : ["seconds"];
    const columns = [...first, ...data.params, ...paths.map(i => data.paths[i]), ...last], filters = columns.map(() => "");
    const cell = (p, i) => {
        const name = columns[i], at = i - first.length;
        if (name === "status" || name === "error") return p[name] ?? undefined;
        if (name === "seconds") return Number(p.seconds.toPrecision(4));
        return at < data.params.length ? p.params[at] ?? undefined : p.stats ? p.stats[paths[at - data.params.length]] ?? undefined : undefined;
    };
    const isPath = i => i >= first.length + data.params.length && i < columns.length - last.length;
    const passes = (value, text) => {
        const match = /^\s*(<=|>=|<|>|=)\s*(.+)$/.exec(text);
        if (!match) return String(value ?? "").includes(text);
        const limit = Number(match[2]);
        if (match[1] === "=") return String(value) === match[2].trim() || value === limit;
        return typeof value === "number" && (match[1] === "<" ? value < limit : match[1] === "<=" ? value <= limit : match[1] === ">" ? value > limit : value >= limit);
    };
    const isShown = p => (p.status !== "ok" ? [...limits].every(([i, v]) => show(p.params[i]) === v) && !lines.brushes.size : isLooked(p)) && filters.every((text, i) => !text || passes(cell(p, i), text));
    tableHolder.replaceChildren();
    table = sortable(tableHolder, columns.map((name, i) => isPath(i) ? say(name) : name), data.points, cell, {
        names: columns, filter: isShown, text: (v, i) => isPath(i) && typeof v === "number" ? writer(columns[i])(v) : typeof v === "string" && columns[i] === "network" ? ends(v) : show(v),
        line: (line, p) => {
            line.dataset.key = p.key;
            if (p.status !== "ok") { line.className = "failed"; return; }
            Object.assign(line, { className: chosen.has(p) ? "chosen" : "", tabIndex: 0, onclick: () => toggle(p) });
            line.onkeydown = event => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault(); toggle(p);
                const again = tableHolder.querySelector('[data-key="' + p.key + '"]');
                if (again) again.focus();
            };
        }
    });
    tableCsv = () => csv([columns, ...data.points.filter(isShown).map(p => columns.map((name, i) => cell(p, i)))]);
    columns.forEach((name, i) => make(table.head.children[i], "input", null, { type: "text", ariaLabel: "filter of " + name, oninput: e => { filters[i] = e.target.value; table.fill(); } }));
}
buildTable();
refreshers.push(() => table.fill());
refresh(); compare();
document.body.dataset.ready = String(Math.round(performance.now()));
