/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the platform as blocks, with the traffic of its links. */
/* The links with traffic: {from, to, bytes, read, written, commands, rate, most}. `most` is the highest rate of the link's target, 0 if
   unknown: for a buffer its port width in 16-bit words per cycle of its clock, or what the DMA moves through that port if this is
   less, for off-chip memory the peak rate of its bus. */
function blockLinks(stats) {
    const units = stats.platform.units, seconds = stats.total.time_ps * 1e-12;
    return stats.links.filter(l => l.read_bytes + l.write_bytes + l.transactions > 0).map(l => {
        const bytes = l.read_bytes + l.write_bytes, rate = bytes / seconds, to = stats.units[l.to] || {}, target = units[l.to] || {}, width = target.width_words, dma = units[l.from] || {};
        return { from: l.from, to: l.to, bytes, read: l.read_bytes, written: l.write_bytes, commands: l.transactions, rate, most: width ? 1e6 * Math.min(2 * width * clockOf(units, target), (dma.port_bytes || Infinity) * clockOf(units, dma)) : to.bus_bytes_per_s || 0 };
    });
}
/* The distance of each block from those without incoming links. A link that closes a cycle, as the DMA's completion signal, leads back. */
function blockColumns(links) {
    const column = new Map(), names = [...new Set(links.flatMap(l => [l.from, l.to]))], back = new Set();
    const state = new Map(); /* depth-first search; 1: being visited, 2: done */
    const visit = name => {
        if (state.has(name)) return;
        state.set(name, 1);
        for (const l of links.filter(l => l.from === name)) if (state.get(l.to) === 1) back.add(l); else visit(l.to);
        state.set(name, 2);
    };
    names.filter(name => !links.some(l => l.to === name)).forEach(visit);
    names.forEach(visit);
    const far = name => {
        if (!column.has(name)) column.set(name, Math.max(0, ...links.filter(l => l.to === name && !back.has(l)).map(l => far(l.from) + 1)));
        return column.get(name);
    };
    names.forEach(far);
    return { column, back };
}
function drawBlocks(holder, stats) {
    const links = blockLinks(stats), { column, back } = blockColumns(links), path = stats.summary.critical_path || {}, columns = [];
    for (const [name, at] of column) (columns[at] = columns[at] || []).push(name);
    const tall = Math.max(...columns.map(c => c.length)), rowHeight = 64, boxHeight = 36, fastest = Math.max(...links.map(l => l.rate), 1);
    const write = writer("bytes_per_s"), bytes = writer("bytes");
    const plot = figure(holder, tall * rowHeight + 8, f => {
        const g = f.context, wide = Math.min(150, f.width / columns.length * .55), gap = columns.length > 1 ? (f.width - wide - 4) / (columns.length - 1) : 0, box = new Map();
        g.clearRect(0, 0, f.width, f.height); g.textBaseline = "middle";
        columns.forEach((names, c) => names.forEach((name, i) => box.set(name, { x: 2 + c * gap, y: 4 + (i + .5) * tall / names.length * rowHeight - boxHeight / 2 })));
        f.lines = links.map(l => {
            const a = box.get(l.from), b = box.get(l.to), forth = b.x > a.x, same = b.x === a.x;
            return { l, x0: a.x + (forth || same ? wide : 0), y0: a.y + boxHeight / 2 + (back.has(l) ? 9 : 0), x1: b.x + (forth ? 0 : wide), y1: b.y + boxHeight / 2 + (back.has(l) ? 9 : 0) };
        });
        for (const { l, x0, y0, x1, y1 } of f.lines) {
            g.strokeStyle = !l.bytes ? theme.line : l.most && l.rate > .5 * l.most ? theme.warm : theme.mark;
            g.lineWidth = l.bytes ? 1.5 + 6 * l.rate / fastest : 1; g.globalAlpha = l.bytes ? .75 : 1;
            g.beginPath(); g.moveTo(x0, y0); g.lineTo(x1, y1); g.stroke();
        }
        g.globalAlpha = 1;
        labels(g, { left: 0, right: f.width, top: 0, bottom: f.height }, f.lines.filter(({ l }) => l.bytes).map(({ l, x0, y0, x1, y1 }) => ({ x: x0 + (x1 - x0) * .62, y: y0 + (y1 - y0) * .62, text: write(l.rate) + (l.most ? " \u00b7 " + percent(l.rate / l.most, 2) : "") })), 4);
        for (const [name, b] of box) {
            const part = (path[name] || 0) / stats.total.time_ps;
            g.fillStyle = theme.card; g.strokeStyle = theme.soft; g.lineWidth = 1;
            g.beginPath(); g.rect(b.x, b.y, wide, boxHeight); g.fill(); g.stroke();
            g.fillStyle = theme.warm; g.globalAlpha = .35; g.fillRect(b.x + 1, b.y + boxHeight - 6, (wide - 2) * part, 5); g.globalAlpha = 1;
            g.fillStyle = theme.ink; g.textAlign = "center"; g.fillText(name, b.x + wide / 2, b.y + boxHeight / 2 - (part >= .001 ? 5 : 0));
            if (part >= .001) { g.fillStyle = theme.soft; g.fillText(percent(part), b.x + wide / 2, b.y + boxHeight / 2 + 8); }
        }
    });
    tipOf(plot.element, event => {
        const area = plot.element.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
        const away = ({ x0, y0, x1, y1 }) => { const t = Math.max(0, Math.min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2 || 1))); return Math.hypot(x - x0 - t * (x1 - x0), y - y0 - t * (y1 - y0)); };
        const near = plot.lines.map(line => [away(line), line.l]).sort((a, b) => a[0] - b[0])[0];
        if (!near || near[0] > 8) return "";
        const l = near[1];
        return l.from + " to " + l.to + "\n" + (l.bytes ? bytes(l.read) + " read, " + bytes(l.written) + " written, " + write(l.rate) + " on average" + (l.most ? ", " + percent(l.rate / l.most) + " of " + write(l.most) : "") : "commands and completions") + "\n" + grouped(l.commands) + (l.commands === 1 ? " transaction" : " transactions");
    });
}
