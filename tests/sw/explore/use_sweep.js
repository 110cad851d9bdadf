/* SPDX-License-Identifier: Apache-2.0 */
/* Put after a sweep's page by a test: choosers, brushes, axes that move, fronts, points that are chosen, what is saved. Says data-used. */
(() => {
    const wrong = [], check = (right, what) => { if (!right) wrong.push(what); }, count = () => table.fill().length, all = data.points.length;
    /* One value of each parameter that has a chooser, then all again. */
    for (const select of document.querySelectorAll("#limits select")) {
        for (let k = 0; k < select.values.length; k++) {
            select.value = String(k); select.onchange();
            const points = data.points.filter(p => show(p.params[select.parameter]) === show(select.values[k]));
            check(points.length && points.length < all && count() === points.length, data.params[select.parameter] + " " + k + ": " + count());
            check(looked.length === points.filter(p => p.status === "ok").length, data.params[select.parameter] + " " + k + " plot");
        }
        select.value = "all"; select.onchange();
    }
    check(count() === all && looked.length === good.length, "not all again");
    /* A front of each network, which no point with that network betters. */
    const value = (p, axis) => axis.sign * p.stats[axis.at], betters = (a, b, axes) => axes.every(x => value(a, x) <= value(b, x)) && axes.some(x => value(a, x) < value(b, x));
    for (const group of groups) {
        for (const p of group.points) check(group.best.has(p) !== group.points.some(q => betters(q, p, goals)), "front of " + networkName(group.network));
        const two = [axisOf(plotX), axisOf(plotY)], edge = front(group.points, ...two);
        check(edge.length === group.points.filter(p => !group.points.some(q => betters(q, p, two))).length, "edge of " + networkName(group.network));
        check(group.best.size < 3 ? !group.knee : group.best.has(group.knee), "knee");
    }
    check(document.querySelectorAll("#tradeoff_section canvas").length === groups.length && groups.length === data.networks.length, "a panel a network");
    /* Brushes and axes that move, by pointer and by keys. */
    const canvasOf = () => document.querySelector("#parameters_section canvas");
    if (canvasOf()) {
        const drag = (lane, from, to) => {
            const element = canvasOf(), area = element.getBoundingClientRect(), list = lines.order, x = area.left + 46 + list.indexOf(lane) * (area.width - 92) / Math.max(1, list.length - 1);
            for (const [type, at] of [["pointerdown", from], ["pointermove", to], ["pointerup", to]])
                element.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: area.top + 236 - at * 228, bubbles: true, pointerId: 5 }));
        };
        const lane = lines.order[0], part = laneSets.get(groups[0].network).find(l => l.id === lane);
        drag(lane, .6, 1);
        const kept = good.filter(p => laneSets.get(p.network).find(l => l.id === lane).place(p) >= .6);
        check(kept.length && kept.length < good.length && looked.length === kept.length && table.fill().length === kept.length, "brush of " + part.name + ": " + looked.length + " of " + kept.length);
        drag(lane, .3, .3);
        check(looked.length === good.length && lines.brushes.size === 0, "a click lets go");
        document.querySelector('.heads [data-lane="' + lane + '"]').dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        check(lines.order[1] === lane && document.activeElement.dataset.lane === lane, "an axis moves by keys");
        drag(lane, .9, .95);
        document.getElementById("all").click();
        check(looked.length === good.length, "all points");
    }
    /* Defaults of the comparison; choosing and dropping. */
    check([...chosen].every(p => groups[0].best.has(p)), "a point that another betters is chosen at first");
    check(chosen.size >= 1 && (!groups[0].knee || chosen.has(groups[0].knee)) && goals.every(g => { const least = Math.min(...groups[0].points.map(p => value(p, g))); return [...chosen].some(p => value(p, g) === least); }), "chosen at first");
    const had = chosen.size, other = good.find(p => !chosen.has(p));
    if (other) {
        toggle(other);
        check(document.querySelectorAll("#comparison thead button").length === had + 1, "one more column");
        const shown = [...document.querySelectorAll("#layers tr")].length;
        check(shown === new Set([...chosen].flatMap(p => data.lists[p.list])).size * chosen.size, "bars of layers: " + shown);
        toggle(other);
        const line = () => document.querySelector('#points [data-key="' + other.key + '"]');
        if (line()) {
            line().dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
            check(chosen.has(other) && document.activeElement === line(), "Enter chooses a row and stays there");
            toggle(other);
        }
    }
    check([...document.querySelectorAll("#comparison .command")].every(c => /^[A-Z]: cnnvp (run|train|exec) .*--report /.test(c.textContent)), "commands: " + (document.querySelector("#comparison .command") || {}).textContent);
    /* What is saved. */
    const rows = tableCsv().trim().split("\n");
    check(rows.length === all + 1 && rows[0].includes(data.params[0]), "CSV: " + rows.length);
    const svg = new DOMParser().parseFromString(plots[0].svg(), "image/svg+xml");
    check(!svg.querySelector("parsererror") && svg.querySelectorAll("path").length > groups[0].points.length && svg.querySelectorAll("text").length > 6, "SVG: " + svg.querySelectorAll("path").length);
    document.body.dataset.used = wrong.length ? "fails: " + wrong.slice(0, 8).join("; ") : "works";
})();
