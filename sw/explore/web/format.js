"use strict";
/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers, units, names and scales. Nothing here uses a document, so it is tested without a browser. */
function show(value) { return value === undefined || value === null ? "" : String(value); }
function scaled(value, digits, steps, unit) {
    for (const [step, name] of steps) if (Math.abs(value) >= step) return Number((value / step).toPrecision(digits)) + name;
    return Number(value.toPrecision(digits)) + (value ? unit : "");
}
const times = [[1e12, " s"], [1e9, " ms"], [1e6, " us"], [1e3, " ns"]];
const energies = [[1e12, " J"], [1e9, " mJ"], [1e6, " uJ"], [1e3, " nJ"]];
const counts = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];
function grouped(value) { return String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f"); }
function short(value, digits = 3) { return scaled(value, digits, counts, ""); }
/* A number with a unit. A prefix is attached only to bytes: "19.2 GB/s", "301 words". */
function withUnit(value, unit, digits = 3) {
    const text = short(value, digits);
    return unit ? text + (/^B/.test(unit) && / [TGMk]$/.test(text) ? "" : " ") + unit : text;
}
function percent(share, digits = 3) { return Number((100 * share).toPrecision(digits)) + " %"; }
function time(ps) { return ps ? scaled(ps, 6, times, " ps") : "0 ps"; }
/* The function that formats the numbers of a statistic, chosen by the unit at the end of its name. */
function writer(path) {
    const last = path.replace(/^.*\./, "");
    if (/(_pj|^energy)(\.|$)/.test(path) && !/total_um2/.test(path)) return (value, digits = 4) => scaled(value, digits, energies, " pJ");
    if (/_ps$|\.critical_path\.|\.gain_if_twice_as_fast\./.test(path)) return (value, digits = 4) => scaled(value, digits, times, " ps");
    if (/_um2$/.test(last) || /^area\.by_unit\./.test(path)) return (value, digits = 4) => Math.abs(value) >= 1e4 ? Number((value / 1e6).toPrecision(digits)) + " mm2" : scaled(value, digits, [], " um2");
    if (/bytes_per_s$/.test(last)) return (value, digits = 4) => withUnit(value, "B/s", digits);
    if (/bytes$/.test(last)) return (value, digits = 4) => withUnit(value, "B", digits);
    if (/utilization$|_share$|\.bound_shares\./.test(path)) return (value, digits = 4) => percent(value, digits);
    return (value, digits = 4) => short(value, digits);
}
/* Readable names of statistics. */
const spoken = {
    "total.time_ps": "time", "total.images_per_s": "images a second", "total.accel_cycles": "accelerator cycles", "total.idle_cycles": "cycles of no layer",
    "total.macs": "MACs", "total.images": "images", "total.guest_instructions": "instructions of the RISC-V core", "total.accel_instructions": "accelerator instructions",
    "energy.total_pj": "energy", "energy.dynamic_pj": "dynamic energy", "energy.static_pj": "static energy", "area.total_um2": "area",
    "energy.low_pj": "energy, lowest of the sources", "energy.high_pj": "energy, highest of the sources", "energy.no_layer_pj": "energy of no layer",
    "area.low_um2": "area, lowest of the sources", "area.high_um2": "area, highest of the sources",
    "summary.peak_share": "share of peak arithmetic", "summary.bandwidth_share": "share of memory bandwidth", "summary.energy_per_image_pj": "energy an image",
    "summary.tops_per_watt": "TOPS/W", "memory.read_bytes": "read off chip", "memory.write_bytes": "written off chip", "memory.burst_bytes": "moved in bursts",
    "memory.mean_read_latency_ps": "mean read latency", "storage.peak_feature_bytes": "most feature bytes on chip", "storage.peak_feature_words": "most feature words on chip",
    "macs": "MACs", "pes": "PEs", "cycles": "cycles", "compute_cycles": "computing cycles", "utilization": "PEs at work", "compute_utilization": "PEs at work while computing",
    "energy_pj": "energy", "static_pj": "static energy", "start_ps": "begin", "end_ps": "end", "input_words": "input words", "weight_words": "weight words", "output_words": "output words",
    "dram_read_bytes": "read off chip", "dram_write_bytes": "written off chip", "dram_burst_bytes": "moved in bursts", "dram_bus_bytes": "crossed the memory's bus"
};
/* Causes of stalls of the PE array; `cnnvp models stats` explains them. */
const causeNames = {
    bias: "bias steps", fill: "pipeline fill", writeout: "write-out", vector: "vector unit", input_port: "input buffer's port", weight_port: "weight buffer's port",
    output_port: "output buffer's port", input: "waits for inputs", weight: "waits for weights", output: "waits for room", instruction: "waits for instructions", host: "waits for the core"
};
function say(path) {
    if (spoken[path]) return spoken[path];
    const stall = /^stall_cycles\.(\w+)$/.exec(path), unit = /^(energy|area)\.by_unit\.(\w+)(?:\.(\w+?)_pj)?$/.exec(path), share = /^summary\.bound_shares\.(\w+)$/.exec(path);
    if (stall) return "cycles: " + (causeNames[stall[1]] || stall[1].replace(/_/g, " "));
    if (unit) return unit[1] + " of " + unit[2] + (unit[3] ? ", " + unit[3] : "");
    if (share) return "share bound by " + share[1];
    return path.replace(/^(units|total|layers|program)\./, "").replace(/_(ps|pj|um2)$/, "").replace(/[._]/g, " ").trim();
}
/* The value to sort by: numbers as they are, sizes in bytes. NaN: sort as text. */
function sizeOf(value) {
    if (typeof value === "number") return value;
    const [, n, unit] = /^(\d+)(KiB|MiB|GiB|)$/.exec(value) || [0, NaN, ""];
    return n * { "": 1, KiB: 1024, MiB: 1048576, GiB: 1073741824 }[unit];
}
function inOrder(a, b) {
    const x = sizeOf(a), y = sizeOf(b);
    return isNaN(x) || isNaN(y) ? (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0) : x - y;
}
/* A short form of a parameter's value: file names without their folder, numbers with at most six digits. */
function ends(value) {
    return typeof value === "number" ? String(Number.isInteger(value) ? value : Number(value.toPrecision(6))) : show(value).replace(/^.*\//, "").replace(/\.onnx$/, "");
}
/* Names of parameters without their unit if they stay unique. */
function shortNames(names) {
    const last = names.map(name => name.replace(/^.*\./, ""));
    return names.map((name, i) => last.indexOf(last[i]) === last.lastIndexOf(last[i]) ? last[i] : name);
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
    for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) list.push(Math.abs(at) < step * 1e-9 ? 0 : at);
    return list;
}
/* Ticks of a logarithmic scale; low and high are logarithms. */
function logTicks(low, high, count) {
    const list = [], factors = high - low > 3 ? [1] : [1, 2, 5];
    for (let power = Math.floor(low); power <= high; power++)
        for (const factor of factors) list.push(power + Math.log10(factor));
    const within = list.filter(t => t >= low && t <= high), sparse = Math.max(1, Math.ceil(within.length / Math.max(2, count)));
    return within.length > 1 ? within.filter((t, i) => i % sparse === 0) : ticks(low, high, Math.max(2, Math.min(4, count)));
}
/* The scale of one axis of a plot; it is logarithmic if its values are far apart. */
function scale(name, values, write, log = false) {
    const known = values.filter(v => typeof v === "number");
    const [least, most] = range(known), logarithmic = log || least > 0 && most > 50 * least;
    const at = v => logarithmic ? Math.log10(v) : v, [low, high] = range(known.map(at)), margin = (high - low) * .04;
    return { name, write, at, back: t => logarithmic ? Math.pow(10, t) : t, low: low - margin, high: high + margin,
        ticks: logarithmic ? logTicks : ticks };
}
/* Texts of ticks, with enough digits to make them distinct. */
function tickTexts(list, one) {
    for (let digits = 3; ; digits++) {
        const texts = list.map(t => one.write(one.back(t), digits));
        if (digits > 9 || new Set(texts).size === texts.length) return texts;
    }
}
/* Places labels beside their points so that none covers another label or point or leaves the frame; null: no room, so it is left out.
   wanted: [{x, y, width}] in order of importance; the frame is {left, right, top, bottom}. */
function placeLabels(wanted, frame, height = 13, away = 8) {
    const taken = wanted.map(p => ({ left: p.x - 5, right: p.x + 5, top: p.y - 5, bottom: p.y + 5, of: p }));
    const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return wanted.map(p => {
        for (const far of [away, 2 * away, 3.5 * away]) for (const [dx, dy] of [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 1], [-1, -1], [-1, 1]]) {
            const left = p.x + dx * far - (dx < 0 ? p.width : dx ? 0 : p.width / 2), top = p.y + dy * far * 1.2 - height / 2;
            const box = { left, right: left + p.width, top, bottom: top + height, of: p };
            if (box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom) continue;
            if (taken.some(other => other.of !== p && meets(box, other))) continue;
            taken.push(box);
            return { x: left, y: top + height / 2 };
        }
        return null;
    });
}
/* Rows of cells as CSV. */
function csv(rows) {
    return rows.map(row => row.map(cell => /[",\n]/.test(show(cell)) ? '"' + show(cell).replace(/"/g, '""') + '"' : show(cell)).join(",") + "\n").join("");
}
