"use strict";
/* SPDX-License-Identifier: Apache-2.0 */
/* What both pages share: elements, numbers, canvases, tips. */
const data = JSON.parse(document.getElementById("data").textContent);
const colours = ["#1f6fd1", "#d1571f", "#2a9d4a", "#8a4fc0", "#c0932a", "#c03a6b", "#2aa3a8", "#7a7a7a", "#5b7a1f",
    "#a33", "#16344f", "#e39ac2", "#6fae9a", "#b3a08a"];
/* Colours of the page's style, light or dark, and the width that it has. */
const style = getComputedStyle(document.documentElement), styled = name => style.getPropertyValue(name).trim();
const ink = styled("--ink"), soft = styled("--soft"), line = styled("--line");
const wide = Math.max(320, Math.min(1600, document.documentElement.clientWidth - 40));
function make(parent, name, text, properties) {
    const element = document.createElement(name);
    if (text !== undefined && text !== null) element.textContent = text;
    Object.assign(element, properties || {});
    if (parent) parent.appendChild(element);
    return element;
}
function show(value) {
    if (value === undefined || value === null) return "";
    if (typeof value !== "number") return String(value);
    return String(value);
}
function round(value) { return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value; }
function scaled(value, digits, steps, unit) {
    for (const [step, name] of steps) if (Math.abs(value) >= step) return Number((value / step).toPrecision(digits)) + name;
    return Number(value.toPrecision(digits)) + (value ? unit : "");
}
const times = [[1e12, " s"], [1e9, " ms"], [1e6, " us"], [1e3, " ns"]];
const energies = [[1e12, " J"], [1e9, " mJ"], [1e6, " uJ"], [1e3, " nJ"]];
function grouped(value) { return String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f"); }
function short(value, digits = 3) { return scaled(value, digits, [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]], ""); }
/* How the numbers of a statistic are written on an axis, by the unit that its name ends with. */
function writer(path) {
    if (/_ps$/.test(path)) return (value, digits) => scaled(value, digits, times, " ps");
    if (/_pj(\.|$)/.test(path)) return (value, digits) => scaled(value, digits, energies, " pJ");
    if (/_um2$/.test(path) || /^area\.by_unit\./.test(path)) return (value, digits) => scaled(value, digits, [[1e6, " mm2"]], " um2");
    return short;
}
/* Numbers by value, sizes by their bytes, everything else as text. */
function inOrder(a, b) {
    const value = v => typeof v === "number" ? v : (([, n, unit]) => n * { "": 1, KiB: 1024, MiB: 1048576, GiB: 1073741824 }[unit])(/^(\d+)(KiB|MiB|GiB|)$/.exec(v) || [0, NaN, ""]);
    const x = value(a), y = value(b);
    return isNaN(x) || isNaN(y) ? (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0) : x - y;
}
/* An end of an axis: a file without its folder, a number that is not too long. */
function ends(value) {
    return typeof value === "number" ? String(round(value)) : show(value).replace(/^.*\//, "");
}
function time(ps) { return ps ? scaled(ps, 6, times, " ps") : "0 ps"; }
const tipElement = make(document.body, "div", "", { className: "tip" });
function tip(event, text) {
    tipElement.style.display = text ? "block" : "none";
    if (!text) return;
    tipElement.textContent = text;
    tipElement.style.left = Math.min(event.clientX + 14, innerWidth - tipElement.offsetWidth - 6) + "px";
    tipElement.style.top = Math.min(event.clientY + 14, innerHeight - tipElement.offsetHeight - 6) + "px";
}
function canvas(parent, most, height) {
    const width = Math.min(most, wide);
    const element = make(parent, "canvas"), ratio = window.devicePixelRatio || 1;
    element.width = width * ratio; element.height = height * ratio;
    element.style.width = width + "px"; element.style.height = height + "px";
    const context = element.getContext("2d");
    context.scale(ratio, ratio); context.font = "11px system-ui, sans-serif";
    return { element, context, width, height };
}
function range(values) {
    let low = Infinity, high = -Infinity;
    for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
    if (low === high) { low -= Math.abs(low) * .05 || 1; high += Math.abs(high) * .05 || 1; }
    return [low, high];
}
function ticks(low, high, count) {
    const raw = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw), list = [];
    for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) list.push(at);
    return list;
}
/* The same in powers of ten: low and high are logarithms. */
function logTicks(low, high) {
    const list = [], factors = high - low > 3 ? [1] : [1, 2, 5];
    for (let power = Math.floor(low); power <= high; power++)
        for (const factor of factors) list.push(power + Math.log10(factor));
    const within = list.filter(t => t >= low && t <= high);
    return within.length > 1 ? within : ticks(low, high, 4);
}
/* One side of a plot; one whose values are far apart has powers of ten. */
function scale(name, values, write, log = false) {
    const known = values.filter(v => typeof v === "number");
    const [least, most] = range(known), logarithmic = log || least > 0 && most > 50 * least;
    const at = v => logarithmic ? Math.log10(v) : v, [low, high] = range(known.map(at)), margin = (high - low) * .03;
    return { name, write, at, back: t => logarithmic ? Math.pow(10, t) : t, low: low - margin, high: high + margin,
        ticks: logarithmic ? logTicks : ticks };
}
/* Texts of ticks, with as many digits as tell them apart. */
function tickTexts(list, one) {
    for (let digits = 3; ; digits++) {
        const texts = list.map(t => one.write(one.back(t), digits));
        if (digits > 9 || new Set(texts).size === texts.length) return texts;
    }
}
function axes(c, box, xscale, yscale) {
    const g = c.context, xs = xscale.ticks(xscale.low, xscale.high, 7), ys = yscale.ticks(yscale.low, yscale.high, 6);
    const xtexts = tickTexts(xs, xscale), ytexts = tickTexts(ys, yscale);
    g.clearRect(0, 0, c.width, c.height); g.strokeStyle = line; g.fillStyle = soft; g.lineWidth = 1;
    g.textAlign = "center"; g.textBaseline = "top";
    xs.forEach((t, i) => {
        const x = box.left + (t - xscale.low) / (xscale.high - xscale.low) * (box.right - box.left);
        g.beginPath(); g.moveTo(x, box.top); g.lineTo(x, box.bottom); g.stroke(); g.fillText(xtexts[i], x, box.bottom + 4);
    });
    g.textAlign = "right"; g.textBaseline = "middle";
    ys.forEach((t, i) => {
        const y = box.bottom - (t - yscale.low) / (yscale.high - yscale.low) * (box.bottom - box.top);
        g.beginPath(); g.moveTo(box.left, y); g.lineTo(box.right, y); g.stroke(); g.fillText(ytexts[i], box.left - 4, y);
    });
    g.fillStyle = ink; g.textAlign = "center"; g.fillText(xscale.name, (box.left + box.right) / 2, c.height - 8);
    g.save(); g.translate(10, (box.top + box.bottom) / 2); g.rotate(-Math.PI / 2); g.fillText(yscale.name, 0, 0); g.restore();
}
/* Where a plot lies in its canvas, and where values are in it. */
function frame(c, xscale, yscale) {
    const box = { left: 76, right: c.width - 12, top: 8, bottom: c.height - 34 };
    box.x = v => box.left + (xscale.at(v) - xscale.low) / (xscale.high - xscale.low) * (box.right - box.left);
    box.y = v => box.bottom - (yscale.at(v) - yscale.low) / (yscale.high - yscale.low) * (box.bottom - box.top);
    return box;
}
function legend(parent, entries) {
    for (const [colour, text] of entries) {
        const one = make(parent, "span", null, { className: "entry" });
        make(one, "span", null, { className: "key" }).style.background = colour;
        make(one, "span", text);
    }
}
/* A table whose columns sort; cells is a function of row and column. */
function sortable(parent, columns, rows, cell, options) {
    const holder = make(parent, "div", null, { className: "scroll" }), table = make(holder, "table"), head = make(make(table, "thead"), "tr");
    const body = make(table, "tbody");
    let order = -1, down = false, limit = 200;
    function fill() {
        const shown = (options && options.filter ? rows.filter(options.filter) : rows.slice());
        if (order >= 0) shown.sort((a, b) => {
            const x = cell(a, order), y = cell(b, order), less = x === y ? 0 : x === undefined ? 1 : y === undefined ? -1 : x < y ? -1 : 1;
            return down ? -less : less;
        });
        body.textContent = "";
        for (const row of shown.slice(0, limit)) {
            const line = make(body, "tr");
            columns.forEach((name, i) => { const v = cell(row, i); make(line, "td", show(v), { className: typeof v === "number" ? "" : "text" }); });
            if (options && options.line) options.line(line, row);
        }
        if (shown.length > limit) {
            const line = make(body, "tr"), more = make(line, "td", null, { colSpan: columns.length, className: "text" });
            make(more, "button", "show more (" + (shown.length - limit) + ")", { onclick: () => { limit *= 5; fill(); } });
        }
        return shown.length;
    }
    const isText = i => {
        const row = rows.find(r => cell(r, i) !== undefined && cell(r, i) !== null);
        return row !== undefined && typeof cell(row, i) !== "number";
    };
    columns.forEach((name, i) => make(head, "th", name, { className: isText(i) ? "text" : "", onclick: () => { down = order === i ? !down : false; order = i; fill(); } }));
    fill();
    return { fill, head, table };
}
