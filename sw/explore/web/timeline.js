/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a run: layers, tracks of units and counters over one time axis. series is the run's .series trace, times in ps. Rows
   can be pinned above the others and searched; all rows zoom and pan together. */
/* The steps of a counter as [time, low, high, mean]: its range within each window that has changes, else the value that it keeps. It
   begins with 0 and ends with the last value. */
function steps(s, width, end) {
    const x = [0], low = [0], high = [0], means = [0];
    const put = (at, least, most, mean) => {
        if (at > x[x.length - 1]) { x.push(at); low.push(least); high.push(most); means.push(mean); } else { const last = x.length - 1; low[last] = least; high[last] = most; means[last] = mean; }
    };
    let kept = 0;
    s.window.forEach((w, i) => {
        put(w * width, Math.min(kept, s.min[i]), Math.max(kept, s.max[i]), s.mean[i]);
        kept = s.last[i];
        if (s.window[i + 1] !== w + 1 && (w + 1) * width < end) put((w + 1) * width, kept, kept, kept);
    });
    if (end > x[x.length - 1]) put(end, kept, kept, kept);
    return [x, low, high, means];
}
/* The index of the first span that ends at or after a time. */
function firstAfter(s, t) {
    let low = 0, high = s.begin.length;
    while (low < high) { const middle = (low + high) >> 1; if (s.begin[middle] + s.length[middle] < t) low = middle + 1; else high = middle; }
    return low;
}
/* The index of the step that is valid at a time. */
function stepAt(x, t) {
    let low = 0, high = x.length - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (x[middle] <= t) low = middle; else high = middle - 1; }
    return low;
}
/* Counters of the same kind and unit share a row. A counter in words is left out if the same one exists in bytes. */
function counterRows(streams) {
    const groups = new Map(), counted = streams.filter(s => s.window && s.kind !== "path" && s.max.some(v => v > 0));
    for (const s of counted) {
        if (/_words$/.test(s.name) && counted.some(o => o.unit === s.unit && o.name === s.name.replace(/_words$/, "_bytes"))) continue;
        const name = s.name.replace(/_/g, " "), isBuffer = /buffer/.test(s.unit), unit = s.of === "feature_bytes" ? "bytes" : s.of || "";
        const [group, label, of] = s.kind === "link" ? ["bandwidth of links", s.unit + " \u2192 " + s.name, "B/s"] : isBuffer ? ["buffers: " + name.replace(/ bytes$/, ""), s.unit, unit.replace(/^bytes$/, "B")] : /\/us$/.test(unit) ? [s.unit + ": events a microsecond", name, ""] : [s.unit + ": " + name, name, unit.replace(/^bytes/, "B")];
        if (!groups.has(group)) groups.set(group, { group, of, members: [] });
        groups.get(group).members.push({ label, stream: s });
    }
    return [...groups.values()];
}
/* The share of the time that a track is busy. What was under way at the end of a partial run counts up to there. */
function busyShare(s, end) {
    return s.busy.reduce((sum, v, k) => sum + Math.min(v, Math.max(0, end - s.begin[k])), 0) / end;
}
const wholeTrack = (series, name) => series.streams.find(s => s.kind === "whole" && s.name === name && s.begin);
/* Start and length of the last image but one, as a typical image, if there are at least three; else of the whole run. */
function oneImage(s, end) {
    if (!s) return [0, end];
    const begins = [], last = Math.max(...s.tag);
    let ended = true; /* the last layer has worked since the first one began; fused layers take turns until then */
    s.tag.forEach((tag, k) => { if (tag === 1 && ended) begins.push(s.begin[k]); ended = tag === last || ended && tag !== 1; });
    return begins.length < 3 ? [0, end] : [begins[begins.length - 2], begins[begins.length - 1] - begins[begins.length - 2]];
}
function drawTimeline(parent, series, layers, end) {
    const tracks = series.streams.filter(s => s.kind === "track" && s.begin && s.begin.length), view = { from: 0, to: end, search: "", find: null }, rows = [];
    const layerName = tag => tag && layers[tag - 1] ? layers[tag - 1].name + (layers[tag - 1].phase === "forward" ? "" : " " + layers[tag - 1].phase) : "";
    const tagColour = tag => tag ? colours[(tag - 1) % colours.length] : "#8b93a0";
    const bar = make(parent, "div", null, { className: "bar screen" });
    const holder = make(parent, "div", null, { className: "timeline", tabIndex: 0, id: "timeline", ariaLabel: "timeline: plus and minus zoom, arrows move, 0 shows all" });
    const held = make(holder, "div", null, { className: "held" }), pinned = make(held, "div"), rest = make(holder, "div");
    const cursor = make(holder, "div", null, { className: "cursor" }), picked = make(holder, "div", null, { className: "picked" });
    const span = () => view.to - view.from, plotted = () => axis.element.getBoundingClientRect();
    /* ---- drawing of rows ---- */
    const x = (f, t) => (t - view.from) / span() * f.width;
    function drawAxis(f) {
        const g = f.context, list = ticks(view.from, view.to, Math.max(2, f.width / 110));
        g.clearRect(0, 0, f.width, f.height); g.textBaseline = "middle"; g.strokeStyle = theme.line;
        g.fillStyle = theme.line; g.fillRect(0, 4, f.width, 6); g.fillStyle = theme.mark;
        g.fillRect(view.from / end * f.width, 2, Math.max(3, span() / end * f.width), 10);
        g.fillStyle = theme.soft;
        const texts = tickTexts(list, { write: (t, digits) => t ? scaled(t, digits, times, " ps") : "0", back: t => t });
        list.forEach((t, i) => {
            const at = x(f, t), half = g.measureText(texts[i]).width / 2;
            g.fillRect(at, 15, 1, 4); g.textAlign = "center"; g.fillText(texts[i], Math.min(Math.max(at, half), f.width - half), 26);
        });
    }
    function drawTrack(f, row) {
        const g = f.context, s = row.track;
        let last = -1;
        g.clearRect(0, 0, f.width, f.height); g.textBaseline = "middle"; g.textAlign = "left";
        for (let k = firstAfter(s, view.from); k < s.begin.length && s.begin[k] <= view.to; k++) {
            const left = Math.max(0, x(f, s.begin[k])), right = Math.min(f.width, x(f, s.begin[k] + s.length[k]));
            if (right - left < 1 && Math.floor(left) === last) continue; /* at most one line per pixel */
            last = Math.floor(left);
            g.globalAlpha = view.find && !view.find(row, k) ? .15 : 1;
            g.fillStyle = tagColour(s.tag[k]); g.fillRect(left, 2, Math.max(1, right - left - (right - left > 3)), f.height - 4);
            const text = s.text ? series.names[s.text[k]] : layerName(s.tag[k]);
            if (right - left > 24 && g.measureText(text).width < right - left - 6) { g.fillStyle = "#fff"; g.fillText(text, left + 3, f.height / 2); }
        }
        if (row.path) { /* the share of a window's time on the critical path */
            const [xs, , , mean] = row.path.steps;
            g.fillStyle = theme.warm;
            for (let k = stepAt(xs, view.from); k < xs.length && xs[k] <= view.to; k++) {
                const left = x(f, Math.max(xs[k], view.from)), right = x(f, Math.min(xs[k + 1] ?? view.to, view.to));
                if (mean[k] > 0) { g.globalAlpha = Math.max(.1, Math.min(1, mean[k] / 1e6)); g.fillRect(left, f.height - 4, Math.max(1, right - left), 4); }
            }
        }
        g.globalAlpha = 1;
    }
    function drawCounters(f, row) {
        const g = f.context, top = 4, bottom = f.height - 4, shown = row.members.filter(m => !m.off);
        g.clearRect(0, 0, f.width, f.height);
        row.high = Math.max(...shown.map(m => Math.max(...m.stream.max)), 1e-9);
        const y = v => bottom - v / row.high * (bottom - top);
        g.lineWidth = 1.2;
        for (const m of shown) {
            const [xs, low, high, mean] = m.steps;
            g.strokeStyle = g.fillStyle = m.colour; g.beginPath();
            let column = -1, least = 0, most = 0, sum = 0, time = 0; /* of one pixel column */
            for (let k = stepAt(xs, view.from); k < xs.length && xs[k] <= view.to; k++) {
                const left = x(f, Math.max(xs[k], view.from)), right = x(f, Math.min(xs[k + 1] ?? view.to, view.to));
                if (Math.floor(left) === column) { least = Math.min(least, low[k]); most = Math.max(most, high[k]); } else { column = Math.floor(left); least = low[k]; most = high[k]; sum = time = 0; }
                sum += mean[k] * (right - left); time += right - left;
                if (most > least) { g.globalAlpha = .35; g.fillRect(left, y(most), Math.max(1, right - left), y(least) - y(most)); g.globalAlpha = 1; }
                const level = y(time > 0 ? sum / time : mean[k]);
                g.lineTo(left, level); g.lineTo(right, level);
            }
            g.stroke();
        }
        row.top.textContent = " to " + withUnit(row.high, row.unit);
    }
    /* ---- rows ---- */
    function lane(parentOf, row, height, draw) {
        row.lane = make(parentOf, "div", null, { className: "lane" });
        row.head = make(row.lane, "div", null, { className: "head" });
        if (row.label) {
            const pin = make(row.head, "button", "\u25c7", { className: "pin", title: "pin above the others", ariaPressed: "false" });
            pin.onclick = () => {
                row.pinned = !row.pinned; pin.ariaPressed = String(row.pinned); pin.textContent = row.pinned ? "\u25c6" : "\u25c7";
                if (row.pinned) pinned.appendChild(row.lane); else rest.insertBefore(row.lane, (rows.slice(rows.indexOf(row) + 1).find(r => !r.pinned) || {}).lane || null);
            };
            make(row.head, "span", row.label);
            if (row.top) row.head.append(row.top);
        }
        row.figure = figure(row.lane, height, f => draw(f, row));
        row.figure.element.row = row;
        return row;
    }
    const axis = lane(held, { label: "" }, 34, drawAxis).figure;
    axis.element.id = "axis";
    held.prepend(axis.holder.parentElement);
    const paths = series.streams.filter(s => s.kind === "path" && s.window);
    for (const s of paths) s.steps = steps(s, series.window_ps, end);
    const addTrack = (label, track) => {
        const path = paths.find(s => s.unit === track.unit && !rows.some(r => r.path === s)), row = lane(rest, { label, track, path }, 20, drawTrack);
        rows.push(row); return row;
    };
    const ofLayers = series.streams.filter(s => s.kind === "whole" && s.name.startsWith("layers") && s.begin), phases = wholeTrack(series, "phases");
    if (phases && new Set(phases.text).size > 1) addTrack("phases", phases);
    for (const s of ofLayers) addTrack(s.name, Object.assign({}, s, { text: null }));
    for (const s of tracks) {
        const row = addTrack(s.unit === s.name ? s.unit : s.unit + " " + s.name, s);
        if (s.busy) make(row.head, "small", " " + percent(busyShare(s, end), 2));
    }
    for (const s of paths) if (!rows.some(r => r.path === s)) addTrack(s.unit, { unit: s.unit, begin: [], length: [] });
    for (const group of counterRows(series.streams)) {
        const row = { label: group.group, members: group.members, unit: group.of };
        row.members.forEach((m, i) => { m.colour = colours[i % colours.length]; m.steps = steps(m.stream, series.window_ps, end); });
        row.top = make(null, "small");
        rows.push(lane(rest, row, Math.max(64, 18 + 17 * row.members.length), drawCounters));
        for (const m of row.members) {
            const label = make(row.head, "label"), box = make(label, "input", null, { type: "checkbox", checked: true });
            box.style.accentColor = m.colour; make(label, "span", " " + m.label + " "); m.value = make(label, "small");
            box.onchange = () => { m.off = !box.checked; label.classList.toggle("off", m.off); row.figure.draw(); };
        }
    }
    /* ---- the range of time ---- */
    function redraw() { axis.draw(); for (const row of rows) if (!row.lane.hidden) row.figure.draw(); }
    function look(from, width) {
        width = Math.min(end, Math.max(1000, width)); view.from = Math.min(Math.max(0, from), end - width); view.to = view.from + width;
        redraw();
    }
    const zoom = (factor, t = (view.from + view.to) / 2) => look(t - (t - view.from) * factor, span() * factor);
    const timeAt = event => { const area = plotted(); return view.from + (event.clientX - area.left) / area.width * span(); };
    function search(text) {
        const word = text.trim().toLowerCase(), has = name => name.toLowerCase().includes(word);
        const named = new Set(word ? series.names.map((n, i) => has(n) ? i : -1) : []), tags = new Set(word ? layers.map((l, i) => has(layerName(i + 1)) ? i + 1 : -1) : []);
        const spanFits = (row, k) => has(row.label) || row.track.text && named.has(row.track.text[k]) || tags.has(row.track.tag[k]);
        const fits = row => has(row.label) || (row.track ? row.track.begin.some((b, k) => spanFits(row, k)) : row.members.some(m => has(m.label)));
        view.find = word ? spanFits : null;
        for (const row of rows) row.lane.hidden = word !== "" && !row.pinned && !fits(row);
        redraw();
    }
    const input = make(make(bar, "label", "search "), "input", null, { type: "search", placeholder: "layer, unit, work", id: "search", oninput: () => search(input.value) });
    for (const [text, title, act] of [["\u2212", "zoom out", () => zoom(2)], ["+", "zoom in", () => zoom(.5)], ["\u2190", "earlier", () => look(view.from - span() / 4, span())], ["\u2192", "later", () => look(view.from + span() / 4, span())], ["all", "the whole run", () => look(0, end)]])
        make(bar, "button", text, { title, ariaLabel: title, onclick: act });
    make(bar, "span", "Drag over a part to zoom into it; Ctrl and wheel zoom, Shift and wheel move, double click shows all. On a touch screen: one finger moves, two zoom. \u25c7 pins a row. The line below a unit\'s row is the critical path: that the run waited for this unit.", { className: "note" });
    /* ---- pointers, wheel, keys ---- */
    const fingers = new Map();
    let drag = null;
    const onPlot = event => event.target.tagName === "CANVAS";
    function showTip(event) {
        const row = event.target.row, t = timeAt(event), slack = span() / plotted().width;
        for (const r of rows) if (r.members && !r.lane.hidden) for (const m of r.members) m.value.textContent = withUnit(m.steps[3][stepAt(m.steps[0], t)], r.unit);
        if (!row || !row.track) { tip(event, row && row.members ? time(Math.round(t)) + row.members.filter(m => !m.off).map(m => "\n" + m.label + ": " + m.value.textContent).join("") : ""); return; }
        const s = row.track, k = firstAfter(s, t - slack), hit = k < s.begin.length && s.begin[k] <= t + slack, l = hit && layers[s.tag[k] - 1];
        const waited = row.path ? row.path.steps[3][stepAt(row.path.steps[0], t)] / 1e6 : 0, said = waited ? "\n" + percent(waited) + " of this time waited for it" : "";
        tip(event, !hit ? said && row.label + said : (s.text ? row.label + ": " + series.names[s.text[k]] + (l ? ", layer " + layerName(s.tag[k]) : "") : layerName(s.tag[k]) + (l ? " (" + l.op + ")\n" + grouped(l.cycles) + " cycles, " + percent(l.utilization) + " of the PEs at work, bound by " + l.bound_by : "")) +
            "\n" + time(s.begin[k]) + ", lasts " + time(s.length[k]) + (s.count[k] > 1 ? "\n" + s.count[k] + " pieces, busy " + time(s.busy[k]) : ""));
    }
    holder.addEventListener("pointerdown", event => {
        if (!onPlot(event)) return;
        fingers.set(event.pointerId, event.clientX);
        const touch = event.pointerType === "touch" || event.shiftKey || event.target === axis.element;
        drag = fingers.size > 1 ? null : { x: event.clientX, from: view.from, pan: touch, whole: event.target === axis.element && event.clientY - plotted().top < 14 };
        if (event.isTrusted) holder.setPointerCapture(event.pointerId);
    });
    holder.addEventListener("pointermove", event => {
        const area = plotted(), base = holder.getBoundingClientRect().left;
        if (fingers.size === 2 && fingers.has(event.pointerId)) {
            const [a, b] = [...fingers.values()], before = Math.abs(a - b) || 1;
            fingers.set(event.pointerId, event.clientX);
            const [c, d] = [...fingers.values()], middle = view.from + ((c + d) / 2 - area.left) / area.width * span();
            zoom(before / (Math.abs(c - d) || 1), middle);
            return;
        }
        if (drag && drag.whole) { look((event.clientX - area.left) / area.width * end - span() / 2, span()); return; }
        if (drag && drag.pan) { look(drag.from + (drag.x - event.clientX) / area.width * span(), span()); return; }
        if (drag) {
            const left = Math.max(area.left, Math.min(drag.x, event.clientX)), right = Math.min(area.right, Math.max(drag.x, event.clientX));
            Object.assign(picked.style, { display: "block", left: left - base + "px", width: Math.max(0, right - left) + "px" });
            return;
        }
        if (!onPlot(event)) { tip(event, ""); cursor.style.display = "none"; return; }
        Object.assign(cursor.style, { display: "block", left: event.clientX - base + "px" });
        showTip(event);
    });
    function release(event) {
        const done = drag, area = plotted();
        fingers.delete(event.pointerId); drag = null; picked.style.display = "none";
        if (!done || done.pan || event.type === "pointercancel" || Math.abs(event.clientX - done.x) < 6) return;
        const at = px => view.from + Math.min(1, Math.max(0, (px - area.left) / area.width)) * span(), a = at(Math.min(done.x, event.clientX)), b = at(Math.max(done.x, event.clientX));
        look(a, b - a);
    }
    holder.addEventListener("pointerup", release);
    holder.addEventListener("pointercancel", release);
    holder.addEventListener("pointerleave", event => { tip(event, ""); cursor.style.display = "none"; });
    holder.addEventListener("dblclick", event => { if (onPlot(event)) look(0, end); });
    holder.addEventListener("wheel", event => {
        if (event.ctrlKey || event.metaKey) { zoom(event.deltaY < 0 ? .7 : 1 / .7, timeAt(event)); event.preventDefault(); return; }
        const move = event.shiftKey ? event.deltaX || event.deltaY : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
        if (move) { look(view.from + Math.sign(move) * span() / 10, span()); event.preventDefault(); }
    }, { passive: false });
    holder.addEventListener("keydown", event => {
        if (event.target !== holder) return;
        const act = { "+": () => zoom(.5), "=": () => zoom(.5), "-": () => zoom(2), "0": () => look(0, end), Home: () => look(0, end), ArrowLeft: () => look(view.from - span() / 4, span()), ArrowRight: () => look(view.from + span() / 4, span()) }[event.key];
        if (act) { act(); event.preventDefault(); }
    });
    look(...oneImage(ofLayers[0], end));
    return { view, rows, look, zoom, search };
}
