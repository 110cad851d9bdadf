/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a run over time: groups of layers processed tile by tile, and tensors that stay on chip. */
/* The lines of the drawing: {name, kind, from, to, tip}, times in ps. */
function planLines(stats) {
    const of = new Map(stats.layers.map(l => [l.name, l])), bytes = writer("bytes");
    const line = (name, kind, span, tip) => ({ name, kind, from: of.get(span.first).start_ps, to: of.get(span.last).end_ps, tip: span.first + " to " + span.last + "\n" + tip });
    return stats.schedule.groups.map(g => line(g.first + " to " + g.last, "group", g, planTiles(g) + ", halo " + g.halo + "\n" + bytes(g.slot_bytes) + " of the input buffer, " + bytes(g.resident_weight_bytes) + " of " + bytes(g.weight_bytes) + " of weights stay"))
        .concat(stats.schedule.residents.map(r => line(r.tensor, "tensor", r, bytes(r.bytes) + " in half " + r.half + " of the input buffer")));
}
const planTiles = g => g.tile_rows + " x " + g.tile_columns + " tiles of " + g.tile_h + " x " + g.tile_w;
function planNote(schedule) {
    const groups = schedule.groups.length, kept = schedule.residents.length;
    return "Schedule " + schedule.name + ": " + (groups ? groups + (groups === 1 ? " group goes" : " groups go") + " tile by tile" : "no layers are fused") + (kept ? ", " + kept + (kept === 1 ? " tensor stays" : " tensors stay") + " on chip whole" : "") + ". All other maps go through memory.";
}
function drawPlan(holder, stats, end) {
    const lines = planLines(stats), height = 16, colour = { group: colours[0], tensor: colours[1] };
    if (lines.length) {
        legend(holder, [[colour.group, "fused group"], [colour.tensor, "tensor that stays whole"]]);
        const plot = figure(holder, lines.length * height + 24, f => {
            const g = f.context, x = t => t / end * (f.width - 4) + 2;
            g.clearRect(0, 0, f.width, f.height);
            g.textBaseline = "middle";
            lines.forEach((l, i) => {
                const left = x(l.from), wide = Math.max(2, x(l.to) - left), y = i * height;
                g.fillStyle = colour[l.kind]; g.globalAlpha = .75; g.fillRect(left, y + 2, wide, height - 4); g.globalAlpha = 1;
                const width = g.measureText(l.name).width, right = left + wide + 5 + width < f.width;
                g.fillStyle = theme.ink; g.textAlign = right ? "left" : "right"; g.fillText(l.name, right ? left + wide + 5 : left - 5, y + height / 2);
            });
            g.fillStyle = theme.soft; g.textAlign = "left"; g.fillText("0", 2, f.height - 8);
            g.textAlign = "right"; g.fillText(time(end), f.width - 2, f.height - 8);
        });
        tipOf(plot.element, event => {
            const line = lines[Math.floor((event.clientY - plot.element.getBoundingClientRect().top) / height)];
            return line ? line.tip : "";
        });
    }
    if (!stats.schedule.groups.length) return;
    const bytes = writer("bytes"), columns = ["first", "last", "layers", "tiles", "halo", "slot_bytes", "weight_bytes", "resident_weight_bytes"];
    const names = ["first layer", "last layer", "layers", "tiles", "halo", "input buffer", "weights", "weights that stay"];
    sortable(make(holder, "div", null, { id: "plan" }), names, stats.schedule.groups, (g, i) => columns[i] === "tiles" ? planTiles(g) : g[columns[i]], { names: columns, text: (v, i) => /_bytes$/.test(columns[i]) ? bytes(v) : show(v) });
}
