/* SPDX-License-Identifier: Apache-2.0 */
/* Rooflines for off-chip memory and the buffers' ports, and the off-chip traffic of tensors. */
/* The layers; of several accelerators with all of their PEs, and in cycles that they share. */
function roofLayers(stats) {
    const n = atOnce(stats);
    return stats.layers.map(l => Object.assign({}, l, { pes: n * l.pes, cycles: l.cycles / n }));
}
/* The roofs: {pes, mhz, list: [{name, colour, bytes_per_s, bytes(layer)}]}. A buffer's port carries width_words 16-bit words per
   cycle of its clock. */
function roofLevels(stats, layers) {
    const units = stats.platform.units, mhz = clockOf(units, units.pe_array), pes = Math.max(...layers.map(l => l.pes));
    const part = Object.values(stats.units).find(u => u.bus_bytes_per_s);
    const list = [{ name: part ? "off chip" : "off chip, as seen", colour: colours[0], bytes_per_s: part ? part.bus_bytes_per_s : stats.memory.peak_bytes_per_s, shared: true, bytes: l => l.dram_bus_bytes ?? l.dram_read_bytes + l.dram_write_bytes }];
    for (const [side, colour] of [["input", colours[1]], ["weight", colours[3]], ["output", colours[6]]]) {
        const buffer = units[side + "_buffer"];
        if (buffer && buffer.width_words) list.push({ name: side + " buffer", colour, bytes_per_s: 2 * buffer.width_words * clockOf(units, buffer) * 1e6 * atOnce(stats), bytes: l => 2 * l[side + "_words"], off: side === "output" });
    }
    return { pes, mhz, list: list.filter(level => level.bytes_per_s && layers.some(level.bytes)) };
}
/* Layers by start time, grouped as {layers, macs, cycles, bytes}. If a layer's bytes do not fit into its own time, part of them moved
   during another layer. It then joins the previous layers, or the first group the next ones, until the bytes fit. */
function roofGroups(level, mhz, layers) {
    const groups = [], over = g => g.bytes * mhz * 1e6 > g.cycles * level.bytes_per_s;
    const join = (a, b) => ({ layers: a.layers.concat(b.layers), macs: a.macs + b.macs, cycles: a.cycles + b.cycles, bytes: a.bytes + b.bytes });
    for (const l of level.shared ? layers.slice().sort((a, b) => a.start_ps - b.start_ps) : layers) {
        let group = { layers: [l], macs: l.macs, cycles: l.cycles, bytes: level.bytes(l) };
        while (level.shared && over(group) && groups.length) group = join(groups.pop(), group);
        groups.push(group);
    }
    while (level.shared && groups.length > 1 && over(groups[0])) groups.splice(0, 2, join(groups[0], groups[1]));
    return groups.filter(g => g.macs && g.cycles && g.bytes);
}
/* The points of the plot: {level, layers, label, cycles, intensity, rate}. */
function roofDots(levels, layers) {
    return levels.list.flatMap(level => roofGroups(level, levels.mhz, layers).map(g => ({
        level, layers: g.layers, cycles: g.cycles, intensity: g.macs / g.bytes, rate: g.macs * levels.mhz * 1e6 / g.cycles,
        label: layerLabel(g.layers[0]) + (g.layers.length > 1 ? " to " + layerLabel(g.layers[g.layers.length - 1]) : "")
    })));
}
function drawRoofline(f, levels, layers) {
    const peak = levels.pes * levels.mhz * 1e6, shown = levels.list.filter(l => !l.off), dots = roofDots({ mhz: levels.mhz, list: shown }, layers);
    f.dots = dots;
    f.context.clearRect(0, 0, f.width, f.height);
    if (!dots.length) return;
    const x = scale("MACs a byte", dots.map(d => d.intensity).concat(shown.map(l => peak / l.bytes_per_s)), short, true), y = scale("MACs a second", dots.map(d => d.rate).concat([peak]), short, true);
    x.low -= .2; x.high += .3; y.low -= .1; y.high += .15;
    const g = f.context, box = frame(f, x, y);
    axes(g, f.width, f.height, box, x, y);
    for (const level of shown) {
        g.strokeStyle = level.colour; g.lineWidth = 1.5; g.beginPath();
        const knee = peak / level.bytes_per_s, lowest = Math.max(x.back(x.low), y.back(y.low) / level.bytes_per_s);
        g.moveTo(box.x(lowest), box.y(Math.min(peak, lowest * level.bytes_per_s))); g.lineTo(box.x(Math.max(lowest, knee)), box.y(peak)); g.lineTo(box.right, box.y(peak)); g.stroke();
    }
    for (const d of dots) {
        d.x = box.x(d.intensity); d.y = box.y(d.rate);
        d.tip = d.label + ", " + d.level.name + "\n" + short(d.intensity) + " MACs a byte, " + short(d.rate) + " MACs/s\n" + percent(d.rate / Math.min(peak, d.intensity * d.level.bytes_per_s)) + " of what the roof allows";
        g.fillStyle = d.level.colour; g.globalAlpha = .85; g.beginPath(); g.arc(d.x, d.y, 4, 0, 7); g.fill(); g.globalAlpha = 1;
    }
    const named = dots.filter(d => d.level === shown[0]).sort((a, b) => b.cycles - a.cycles);
    f.labels = labels(g, box, named.map(d => ({ x: d.x, y: d.y, text: d.label, colour: theme.ink })).concat(dots.filter(d => d.level !== shown[0]).map(d => ({ x: d.x, y: d.y, text: "" })))).slice(0, named.length);
}
/* What crosses the off-chip port, against what must; a training has no bounds. */
function tensorNote(tensors, summary = {}) {
    const bytes = writer("bytes"), whole = tensors.reduce((sum, t) => sum + t.read_bytes + t.write_bytes, 0), least = tensors.reduce((sum, t) => sum + t.least_read_bytes + t.least_write_bytes, 0);
    return bytes(whole) + " cross the off-chip port" + (least ? ", " + bytes(least) + " must at least: " + (whole / least).toPrecision(3) + " times as much." : ".") +
        (summary.least_dram_bytes ? " Layer by layer at least " + bytes(summary.layers_least_dram_bytes) + ", by any schedule " + bytes(summary.least_dram_bytes) + "." : "");
}
/* Bars with the off-chip traffic of each tensor: the minimum, repeated transfers, and the excess of whole bursts. What belongs to no
   tensor has no minimum. */
function tensorRows(tensors) {
    const parts = [{ name: "least", say: "at least", colour: "#2a9d4a" }, { name: "again", say: "moved again", colour: "#d1571f" }, { name: "other", say: "of no tensor", colour: "#7a7a7a" }, { name: "over", say: "fetched beyond by whole bursts", colour: "#c03a6b" }];
    const rows = tensors.map(t => {
        const moved = t.read_bytes + t.write_bytes, least = Math.min(moved, t.least_read_bytes + t.least_write_bytes), rest = t.kind === "other" ? "other" : "again";
        return { name: (t.name + " " + t.kind).trim(), values: { least, [rest]: moved - least, over: Math.max(0, (t.burst_bytes || moved) - moved) }, note: writer("bytes")(t.read_bytes) + " read, " + writer("bytes")(t.write_bytes) + " written" };
    });
    const size = r => parts.reduce((sum, part) => sum + (r.values[part.name] || 0), 0);
    return [rows.sort((a, b) => size(b) - size(a)), parts];
}
