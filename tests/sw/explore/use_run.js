/* SPDX-License-Identifier: Apache-2.0 */
/* Put after a run's page by a test: what is drawn over time agrees with the statistics; zooming, moving, searching and pinning do what
   they say; bars have every cycle. Says data-used. */
(() => {
    const wrong = [], { view, rows } = timeline, holder = document.getElementById("timeline"), check = (right, what) => { if (!right) wrong.push(what); };
    /* What is drawn of links has their bytes, and of memory's counters their statistics, but for what a window of theirs has
       after the end; it is exact wherever nothing changes. */
    let links = 0, kept = 0;
    for (const s of series.streams.filter(s => s.window)) {
        const width = series.window_ps, [x, low, high, mean] = steps(s, width, end), link = stats.links.find(l => s.kind === "link" && l.from === s.unit && l.to === s.name);
        let least = 0, most = 0, drawn = 0;
        for (let i = 0; i + 1 < x.length; i++) {
            check(x[i] < x[i + 1] && low[i] <= high[i], s.unit + " " + s.name + ": point " + i);
            if (x[i + 1] - x[i] > 1.001 * width) { check(low[i] === high[i], s.unit + " " + s.name + " at " + x[i]); kept++; }
            check(low[i] <= mean[i] * 1.000001 && mean[i] <= high[i] * 1.000001, s.unit + " " + s.name + ": mean at " + x[i]);
            drawn += mean[i] * (x[i + 1] - x[i]) / 1e12; least += low[i] * (x[i + 1] - x[i]) / 1e12; most += high[i] * (x[i + 1] - x[i]) / 1e12;
        }
        if (!link) continue;
        const bytes = link.read_bytes + link.write_bytes;
        check(least <= bytes * 1.000001 && most >= bytes * .999999, s.unit + " to " + s.name + ": " + [least, bytes, most]);
        check(Math.abs(drawn / bytes - 1) < .02, s.unit + " to " + s.name + ": " + [drawn, bytes]);
        links++;
    }
    check(links && kept, "no links, or none that rests");
    /* No point of the roofline lies above its roof, and each has MACs of layers, none twice. */
    const roofs = roofLevels(stats, layers.filter(l => l.pes)), dots = roofDots(roofs, layers);
    for (const d of dots) check(d.rate <= 1.000001 * Math.min(roofs.pes * roofs.mhz * 1e6, d.intensity * d.level.bytes_per_s), d.label + " is above the roof of " + d.level.name);
    for (const level of roofs.list) { const shown = dots.filter(d => d.level === level).flatMap(d => d.layers); check(shown.length && new Set(shown).size === shown.length, "points of " + level.name); }
    /* Every cycle is in one part of a bar. */
    for (const l of layers) check(Object.values(cycleValues(l)).reduce((a, b) => a + b, 0) === l.cycles, "cycles of " + l.name);
    const shownCycles = [...document.querySelectorAll("#cycles_section .stack")].length;
    check(shownCycles === layers.length, shownCycles + " bars for " + layers.length + " layers");
    /* The core works but for its sleep, and each block has links. */
    const core = series.streams.find(s => s.unit === "cpu" && s.name === "work"), awake = stats.units.cpu.cycles - stats.units.cpu.wfi_cycles;
    check(Math.abs(core.busy.reduce((a, b) => a + b, 0) / (awake * 1e6 / stats.platform.units.cpu.clock_mhz) - 1) < .01, "work of the core");
    check(document.querySelector("#blocks_section canvas").height > 60, "blocks");
    /* One image at first; one range of time for tracks and counters. */
    check(String([view.from, view.to - view.from]) === String(oneImage(wholeTrack(series, "layers"), end)), "first view");
    timeline.look(0, end);
    /* The path lies over the rows of the units, once each; what is drawn of it is its part of the time. */
    for (const [unit, ps] of Object.entries(stats.summary.critical_path).filter(([, ps]) => ps)) {
        const of = rows.filter(r => r.path && r.path.unit === unit), [x, , , mean] = of.length ? of[0].path.steps : [[]];
        const drawn = x.reduce((sum, from, i) => sum + (i + 1 < x.length ? mean[i] * (x[i + 1] - from) / 1e6 : 0), 0);
        check(of.length === 1 && Math.abs(drawn - ps) < series.window_ps + 1e-3 * ps, unit + ": " + [of.length, drawn, ps]);
    }
    const waited = rows.find(r => r.path && r.path.unit === stats.summary.bound_by), withPath = waited.figure.element.toDataURL(), path = waited.path;
    waited.path = null; waited.figure.draw();
    check(waited.figure.element.toDataURL() !== withPath, "the path is not drawn");
    waited.path = path; waited.figure.draw();
    const axisElement = document.getElementById("axis"), area = axisElement.getBoundingClientRect(), y = rows[0].figure.element.getBoundingClientRect().top + 5;
    const send = (target, kind, type, more) => target.dispatchEvent(new kind(type, Object.assign({ bubbles: true, cancelable: true, clientY: y, pointerId: 7 }, more)));
    const at = share => area.left + share * area.width, mouse = (type, share, more) => send(rows[0].figure.element, PointerEvent, type, Object.assign({ clientX: at(share), pointerType: "mouse" }, more));
    const before = rows.map(r => r.figure.element.toDataURL());
    check(!send(rows[0].figure.element, WheelEvent, "wheel", { deltaY: -1, ctrlKey: true, clientX: at(.5) }) && Math.abs(view.to - view.from - .7 * end) < 2, "Ctrl and wheel");
    check(rows.filter((r, i) => r.figure.element.toDataURL() !== before[i]).length > rows.length / 2, "rows do not zoom together");
    const zoomed = [view.from, view.to];
    check(send(rows[0].figure.element, WheelEvent, "wheel", { deltaY: 1, clientX: at(.5) }) && view.from === zoomed[0], "the wheel alone belongs to the page");
    send(rows[0].figure.element, MouseEvent, "dblclick", {});
    check(view.from === 0 && view.to === end, "double click");
    mouse("pointerdown", .25); mouse("pointermove", .5); mouse("pointerup", .5);
    check(Math.abs(view.from - .25 * end) < .01 * end && Math.abs(view.to - .5 * end) < .01 * end, "drag to zoom: " + [view.from / end, view.to / end]);
    send(holder, KeyboardEvent, "keydown", { key: "ArrowRight" });
    check(view.from > .3 * end, "arrow key");
    send(holder, KeyboardEvent, "keydown", { key: "-" });
    check(view.to - view.from > .4 * end, "minus key");
    const moved = view.from;
    mouse("pointerdown", .5, { pointerType: "touch" }); mouse("pointermove", .6, { pointerType: "touch" }); mouse("pointerup", .6, { pointerType: "touch" });
    check(view.from < moved, "a finger moves");
    const finger = (id, type, share) => mouse(type, share, { pointerType: "touch", pointerId: id }), width = view.to - view.from;
    finger(1, "pointerdown", .4); finger(2, "pointerdown", .6); finger(2, "pointermove", .8); finger(1, "pointerup", .4); finger(2, "pointerup", .8);
    check(view.to - view.from < .6 * width, "two fingers zoom");
    send(holder, KeyboardEvent, "keydown", { key: "0" });
    check(view.from === 0 && view.to === end, "0 shows all");
    /* Searched and pinned rows. */
    const input = document.getElementById("search"), visible = () => rows.filter(r => r.lane.checkVisibility()).length;
    const look = text => { input.value = text; input.dispatchEvent(new Event("input")); };
    look("no such thing");
    check(visible() === 0, "search that finds nothing");
    look(layers[0].name);
    const found = visible();
    check(found > 0 && found < rows.length, "search for a layer: " + found + " of " + rows.length);
    const last = rows[rows.length - 1];
    look("");
    check(visible() === rows.length, "no search");
    last.head.querySelector(".pin").click();
    look("no such thing");
    check(visible() === 1 && last.lane.closest(".held"), "a pinned row stays");
    look("");
    last.head.querySelector(".pin").click();
    check(!last.lane.closest(".held") && last.lane === last.lane.parentElement.lastElementChild, "a row let go returns");
    /* Two hundred zooms and hovers. */
    let tips = 0;
    for (let i = 0; i < 200; i++) {
        const row = rows[i % Math.min(6, rows.length)].figure.element, x = at(.02 + i * 37 % 95 / 100);
        send(row, WheelEvent, "wheel", { deltaY: i % 20 < 10 ? -1 : 1, ctrlKey: true, clientX: x });
        send(row, PointerEvent, "pointermove", { clientX: x, pointerType: "mouse" });
        tips += tipElement.style.display === "block" && tipElement.textContent.length > 0;
    }
    check(tips > 20, tips + " tips of 200");
    /* Modes of the bars. */
    const selects = document.querySelectorAll("#cycles_section select"), choose = (select, value) => { select.value = value; select.onchange(); };
    choose(selects[0], "percent");
    const full = [...document.querySelectorAll("#cycles_section .stack div")].map(d => [...d.children].reduce((sum, s) => sum + parseFloat(s.style.width), 0));
    check(full.every((v, i) => Math.abs(v - 100) < .1 || !layers[i].cycles), "bars in percent: " + full);
    choose(selects[1], "cycles");
    const first = document.querySelector("#cycles_section th").textContent;
    check(layers.filter(l => layerLabel(l) === first).some(l => l.cycles === Math.max(...layers.map(o => o.cycles))), "sorted by cycles: " + first);
    document.body.dataset.used = wrong.length ? "fails: " + wrong.slice(0, 8).join("; ") : "works";
})();
