/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel coordinates: one line per point. Dragging along an axis keeps only the points in that range, and a click clears it. Dragging
   an axis' name (or arrow keys on it) moves the axis. A lane is {id, name, place(p): 0 to 1 or undefined, texts: [[place, text]]}. */
function laneOf(id, name, value, points, write) {
    const known = points.map(value).filter(v => v !== undefined && v !== null), values = [...new Set(known)].sort(inOrder);
    if (values.length > 12 && values.every(v => typeof v === "number")) {
        const one = scale(name, values, write || (v => String(v))), all = one.high - one.low, list = one.ticks(one.low, one.high, 5), texts = tickTexts(list, one);
        return { id, name, place: p => typeof value(p) === "number" ? (one.at(value(p)) - one.low) / all : undefined, texts: list.map((t, i) => [(t - one.low) / all, texts[i]]) };
    }
    const places = new Map(values.map((v, i) => [v, values.length > 1 ? .03 + .94 * i / (values.length - 1) : .5]));
    const texts = write && values.every(v => typeof v === "number") ? tickTexts(values, { write, back: v => v }) : values.map(ends);
    return { id, name, place: p => places.get(value(p) ?? undefined), texts: values.map((v, i) => [places.get(v), texts[i]]) };
}
/* state: {order: [id], brushes: Map from id to [low, high]}; changed() is called after a change of either. shade(p) is 0 (best) to 1. */
function parallel(parent, lanes, points, isLooked, shade, state, changed) {
    const scroller = make(parent, "div", null, { className: "figure" }), inner = make(scroller, "div"), heads = make(inner, "div", null, { className: "heads" });
    const sorted = () => state.order.map(id => lanes.find(l => l.id === id)).filter(Boolean), least = 92 * lanes.length;
    inner.style.minWidth = least + "px";
    const left = 46, top = 8, bottom = 236, step = f => (f.width - 2 * left) / Math.max(1, lanes.length - 1), y = at => bottom - at * (bottom - top);
    const plot = figure(inner, 246, f => {
        const g = f.context, list = sorted(), x = i => left + i * step(f);
        g.clearRect(0, 0, f.width, f.height); g.lineWidth = .9;
        const kept = points.filter(isLooked), others = points.length > kept.length ? points : [];
        for (const [some, faint] of [[others, true], [kept, false]]) {
            const spread = Math.ceil(some.length / 3000) || 1;
            g.globalAlpha = faint ? .08 : kept.length > 300 ? .35 : .6;
            some.forEach((p, n) => {
                if (n % spread) return;
                g.strokeStyle = faint ? theme.soft : "hsl(" + Math.round(215 - 195 * shade(p)) + ",70%,50%)";
                g.beginPath();
                list.forEach((lane, i) => { const at = lane.place(p); if (at !== undefined) g.lineTo(x(i), y(at)); });
                g.stroke();
            });
        }
        g.globalAlpha = 1; g.textBaseline = "middle"; g.lineWidth = 1;
        list.forEach((lane, i) => {
            const brush = state.brushes.get(lane.id);
            g.strokeStyle = theme.ink; g.beginPath(); g.moveTo(x(i), top); g.lineTo(x(i), bottom); g.stroke();
            if (brush) { g.fillStyle = theme.mark; g.globalAlpha = .35; g.fillRect(x(i) - 7, y(brush[1]), 14, y(brush[0]) - y(brush[1])); g.globalAlpha = 1; }
            const side = i + 1 < list.length ? 1 : -1;
            g.textAlign = side > 0 ? "left" : "right";
            for (const [at, text] of lane.texts) {
                const width = g.measureText(text).width;
                g.globalAlpha = .75; g.fillStyle = theme.paper; g.fillRect(side > 0 ? x(i) + 3 : x(i) - 4 - width, y(at) - 6, width + 2, 12);
                g.globalAlpha = 1; g.fillStyle = theme.ink; g.fillText(text, x(i) + 4 * side, y(at));
            }
        });
        heads.replaceChildren();
        list.forEach((lane, i) => {
            const head = make(heads, "button", lane.name.replace(/([._])/g, "$1\u200b"), { title: lane.name + ": drag, or arrow keys, to move its axis" });
            head.style.width = "max-content"; head.style.maxWidth = Math.min(130, step(f) - 6) + "px";
            const half = head.offsetWidth / 2; /* centred above its axis, within the figure */
            head.style.left = Math.min(Math.max(x(i), half), f.width - half) + "px";
            head.dataset.lane = lane.id;
        });
    }, least);
    plot.element.style.touchAction = "pan-x";
    function moveLane(id, to) {
        const order = state.order.filter(one => one !== id);
        order.splice(Math.max(0, Math.min(order.length, to)), 0, id);
        state.order = order;
        changed();
        const again = document.querySelector('.heads [data-lane="' + id + '"]');
        if (again) again.focus();
    }
    const indexAt = event => Math.round((event.clientX - plot.element.getBoundingClientRect().left - left) / step(plot));
    heads.addEventListener("keydown", event => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key], id = event.target.dataset.lane;
        if (by) { moveLane(id, state.order.indexOf(id) + by); event.preventDefault(); }
        if (event.key === "Delete" || event.key === "Backspace") { state.brushes.delete(id); changed(); }
    });
    heads.addEventListener("pointerdown", event => {
        const id = event.target.dataset.lane;
        if (!id) return;
        held = { id };
        if (event.isTrusted) event.target.setPointerCapture(event.pointerId);
    });
    heads.addEventListener("pointerup", event => {
        const { id } = held || {}, to = indexAt(event);
        held = null;
        if (id && to !== state.order.indexOf(id)) moveLane(id, to);
    });
    let held = null;
    const at = event => Math.min(1, Math.max(0, (bottom - (event.clientY - plot.element.getBoundingClientRect().top)) / (bottom - top)));
    plot.element.addEventListener("pointerdown", event => {
        const lane = sorted()[indexAt(event)];
        if (!lane) return;
        held = { lane, from: at(event) };
        if (event.isTrusted) plot.element.setPointerCapture(event.pointerId);
    });
    plot.element.addEventListener("pointermove", event => {
        if (!held || !held.lane) return;
        const to = at(event);
        state.brushes.set(held.lane.id, [Math.min(held.from, to), Math.max(held.from, to)]);
        plot.draw();
    });
    plot.element.addEventListener("pointerup", event => {
        if (!held || !held.lane) return;
        if (Math.abs(at(event) - held.from) < .02) state.brushes.delete(held.lane.id);
        held = null;
        changed();
    });
    return plot;
}
