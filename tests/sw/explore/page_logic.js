/* SPDX-License-Identifier: Apache-2.0 */
/* node page_logic.js WEB-FOLDER: what the pages calculate, without a browser. */
const assert = require("assert"), fs = require("fs"), vm = require("vm"), folder = process.argv[2];
globalThis.colours = [];
vm.runInThisContext(["format", "front", "effects", "parallel", "timeline", "roofline", "blocks", "facts"].map(name => fs.readFileSync(folder + "/" + name + ".js", "utf8")).join("\n"));

/* Units that a person reads. */
assert.strictEqual(writer("total.time_ps")(25634000), "25.63 us");
assert.strictEqual(writer("energy.total_pj")(31505670.445), "31.51 uJ");
assert.strictEqual(writer("layers.C1.energy_pj")(3), "3 pJ");
assert.strictEqual(writer("area.total_um2")(1628114), "1.628 mm2");
assert.strictEqual(writer("area.by_unit.dma")(417), "417 um2");
assert.strictEqual(writer("memory.read_bytes")(141628), "141.6 kB");
assert.strictEqual(writer("memory.peak_bytes_per_s")(19208000000), "19.21 GB/s");
assert.strictEqual(writer("summary.peak_share")(.2743), "27.43 %");
assert.strictEqual(writer("summary.critical_path.dram")(7571097), "7.571 us");
assert.strictEqual(writer("summary.gain_if_twice_as_fast.cpu")(1341000), "1.341 us");
assert.strictEqual(writer("summary.bound_shares.memory")(.303), "30.3 %");
assert.strictEqual(writer("total.macs")(416520), "416.5 k");
assert.strictEqual(say("total.time_ps"), "time");
assert.strictEqual(say("energy.by_unit.dram.static_pj"), "energy of dram, static");
assert.strictEqual(say("layers.C3.cycles"), "C3 cycles");
assert.strictEqual(say("units.dram.row_hits"), "dram row hits");
assert.strictEqual(grouped(1234567), "1\u202f234\u202f567");
assert.deepStrictEqual([withUnit(19200, "B/s"), withUnit(12, "B"), withUnit(301, "words"), withUnit(4080, "words"), withUnit(7, "")], ["19.2 kB/s", "12 B", "301 words", "4.08 k words", "7"]);
/* Sizes in order, numbers by value, text as text. */
assert.deepStrictEqual(["128KiB", "2MiB", "16KiB", "1024"].sort(inOrder), ["1024", "16KiB", "128KiB", "2MiB"]);
assert.deepStrictEqual([32, 4, 16].sort(inOrder), [4, 16, 32]);
assert.deepStrictEqual(["hbm2", "ddr4-2400"].sort(inOrder), ["ddr4-2400", "hbm2"]);
/* Ticks can be told apart, also where values hardly differ. */
for (const values of [[1, 1000], [15439000, 15439400], [3, 3], [.001, 5e9]]) {
    const one = scale("x", values, short), texts = tickTexts(one.ticks(one.low, one.high, 6), one);
    assert(texts.length >= 2 && texts.length <= 14 && new Set(texts).size === texts.length, String(texts));
}
/* So can the values of a parallel axis; parameters of two units that are called alike. */
const close = laneOf("s0", "time", p => p, [22500000, 22960000, 23040000], writer("total.time_ps"));
assert.deepStrictEqual(close.texts.map(t => t[1]), ["22.5 us", "22.96 us", "23.04 us"]);
assert.deepStrictEqual(shortNames(["input_buffer.size", "weight_buffer.size", "pe_array.rows", "cpu"]), ["input_buffer.size", "weight_buffer.size", "rows", "cpu"]);
/* Labels: none on another or on a point, all inside; with no room they are left out. */
const crowd = Array.from({ length: 40 }, (unused, i) => ({ x: 60 + i % 8 * 21, y: 60 + Math.floor(i / 8) * 17, width: 40 })), box = { left: 0, right: 300, top: 0, bottom: 200 };
const places = placeLabels(crowd, box), put = places.map((p, i) => p && { l: p.x, r: p.x + crowd[i].width, t: p.y - 6.5, b: p.y + 6.5 }).filter(Boolean);
assert(put.length > 3 && put.length < 40);
for (const a of put) {
    assert(a.l >= 0 && a.r <= 300 && a.t >= 0 && a.b <= 200);
    for (const b of put) assert(a === b || a.r <= b.l || b.r <= a.l || a.b <= b.t || b.b <= a.t);
}
/* Fronts against all pairs, in two and three axes, with ties and one that is maximised. */
let seed = 1;
const random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
const cloud = Array.from({ length: 300 }, () => ({ stats: [Math.floor(random() * 20), Math.floor(random() * 20), Math.floor(random() * 20)] }));
for (const axes of [[{ at: 0, sign: 1 }, { at: 1, sign: 1 }], [{ at: 0, sign: 1 }, { at: 1, sign: -1 }, { at: 2, sign: 1 }]]) {
    const value = (p, a) => a.sign * p.stats[a.at], betters = (p, q) => axes.every(a => value(p, a) <= value(q, a)) && axes.some(a => value(p, a) < value(q, a));
    const wanted = cloud.filter(p => !cloud.some(q => betters(q, p)));
    assert.deepStrictEqual(new Set(frontOf(cloud, axes)), new Set(wanted));
    if (axes.length === 2) assert.deepStrictEqual(new Set(front(cloud, ...axes)), new Set(wanted));
}
/* The knee of a curve with one. */
const curve = [[1, 100], [2, 90], [3, 10], [30, 9], [100, 8]].map(stats => ({ stats }));
assert.deepStrictEqual(knee(curve, [{ at: 0, sign: 1 }, { at: 1, sign: 1 }]).stats, [3, 10]);
assert.strictEqual(knee(curve.slice(0, 2), [{ at: 0, sign: 1 }, { at: 1, sign: 1 }]), undefined);
/* Effects that multiply are found where the means of an uneven sample mislead: 3 for the first parameter, 2 for the second. */
const uneven = [[0, 0], [0, 1], [0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 1]].map(([x, y]) => ({ params: [x, y, 5], stats: [7 * 3 ** x * 2 ** y] }));
const found = importance(uneven, 0, [0, 1, 2]);
assert.deepStrictEqual(found.lines.map(l => [l.i, l.least, l.most]), [[0, "0", "1"], [1, "0", "1"]]);
assert(Math.abs(found.lines[0].times - 3) < .01 && Math.abs(found.lines[1].times - 2) < .01 && found.explained > .999);
assert(found.lines.every(hasEffect));
assert.deepStrictEqual(importance(uneven.map(p => ({ params: [...p.params, 0], stats: [1] })), 0, [0, 1]).lines.map(hasEffect), [false, false]);
const together = importance([[0, 0, 1], [0, 1, 9], [1, 0, 9], [1, 1, 1]].map(([x, y, v]) => ({ params: [x, y], stats: [v] })), 0, [0, 1]);
assert(together.explained < .01, "parameters that act together only");
/* Steps of a counter; which layer is at work. */
assert.deepStrictEqual(steps({ window: [1, 4], min: [2, 0], max: [5, 3], last: [3, 0], mean: [2.5, 1] }, 10, 60), [[0, 10, 20, 40, 50, 60], [0, 0, 3, 0, 0, 0], [0, 5, 3, 3, 0, 0], [0, 2.5, 3, 1, 0, 0]]);
/* A run that was ended at 10: the span under way lasts until 18, and one is given for later. */
assert.strictEqual(busyShare({ begin: [1, 6, 12], length: [3, 12, 4], busy: [3, 12, 4] }, 10), .7);
/* Of three images and more the last but one: the one before is still that of a pipeline that fills. */
const images = { begin: [0, 5, 10, 15, 22, 25], length: [5, 5, 5, 5, 3, 4], tag: [1, 2, 1, 2, 1, 2] };
assert.deepStrictEqual(oneImage(images, 30), [10, 12]);
assert.deepStrictEqual(oneImage({ begin: [0, 5], length: [5, 5], tag: [1, 2] }, 30), [0, 30]);
/* Fused layers take turns within an image: of one image, then of three. */
const fused = { begin: [0, 1, 2, 3, 4, 5, 6], tag: [1, 2, 1, 2, 1, 2, 3] };
assert.deepStrictEqual(oneImage(fused, 7), [0, 7]);
assert.deepStrictEqual(oneImage({ begin: [0, 7, 14].flatMap(at => fused.begin.map(b => at + b)), tag: [0, 1, 2].flatMap(() => fused.tag) }, 21), [7, 7]);
/* Blocks: links that carried something; one that leads back changes no order; shares of ports, the DMA's narrower one too, and of the
   bus. */
const carried = { from: "dma", to: "dram", read_bytes: 600, write_bytes: 400, transactions: 3 }, run = {
    total: { time_ps: 1e6 }, platform: { units: { pe_array: { clock_mhz: 500 }, dma: { port_bytes: 6, clock: "pe_array" }, input_buffer: { width_words: 4 }, pe_array_2: { clock_mhz: 250 }, input_buffer_2: { width_words: 4, clock: "pe_array_2" } } }, units: { dram: { bus_bytes_per_s: 4e9 } },
    links: [{ from: "instruction", to: "dma", read_bytes: 0, write_bytes: 0, transactions: 3 }, { from: "dma", to: "instruction", read_bytes: 0, write_bytes: 0, transactions: 3 }, carried,
        { from: "dma", to: "input_buffer", read_bytes: 0, write_bytes: 1000, transactions: 1 }, { from: "dma", to: "input_buffer_2", read_bytes: 0, write_bytes: 1000, transactions: 1 }, { from: "bus", to: "uart", read_bytes: 0, write_bytes: 0, transactions: 0 }]
};
const links = blockLinks(run), order = blockColumns(links);
assert.deepStrictEqual(links.map(l => [l.to, l.rate, l.most]), [["dma", 0, 0], ["instruction", 0, 0], ["dram", 1e9, 4e9], ["input_buffer", 1e9, 3e9], ["input_buffer_2", 1e9, 2e9]]);
assert.deepStrictEqual([...order.column].sort(), [["dma", 1], ["dram", 2], ["input_buffer", 2], ["input_buffer_2", 2], ["instruction", 0]]);
assert.deepStrictEqual([...order.back].map(l => l.from), ["dma"]);
/* What a run waited for: alike units of several accelerators together. */
assert.deepStrictEqual(joinedPath({ critical_path: { pe_array: 1, dram: 3, pe_array_2: 2 }, alike: { pe_array_2: "pe_array" } }), { pe_array: 3, dram: 3 });
assert.deepStrictEqual(joinedPath({ critical_path: { pe_array_2: 2 } }), { pe_array_2: 2 });
/* The roofline, by a byte a cycle: what moves more than its own time can joins the one before, the first the next; B has no MACs. */
const roof = { bytes_per_s: 1e9, shared: true, bytes: l => l.bytes }, level = (name, start_ps, macs, cycles, bytes) => ({ name, start_ps, macs, cycles, bytes, phase: "forward" });
const shown = list => roofGroups(roof, 1000, list).map(g => [g.layers.map(l => l.name).join("+"), g.macs, g.cycles, g.bytes]);
assert.deepStrictEqual(shown([level("F6", 3, 9, 40, 150), level("C1", 1, 8, 20, 30), level("F5", 2, 7, 200, 80)]), [["C1+F5+F6", 24, 260, 260]]);
assert.deepStrictEqual(shown([level("A", 1, 8, 100, 30), level("F5", 2, 7, 200, 80), level("F6", 3, 9, 40, 150), level("B", 4, 0, 5, 1)]), [["A", 8, 100, 30], ["F5+F6", 16, 240, 230]]);
assert.deepStrictEqual(shown([level("A", 1, 8, 10, 30), level("F5", 2, 7, 200, 80)]), [["A+F5", 15, 210, 110]]);
/* Two accelerators that share the images, and one without work: each counts its own cycles, which run at the same time. */
const two = { accelerators: [{ cycles: 100, idle_cycles: 10 }, { cycles: 90, idle_cycles: 0 }, { cycles: 7, idle_cycles: 7 }], layers: [{ name: "C1", phase: "forward", pes: 64, macs: 1920, cycles: 60, input_words: 10 }],
    platform: { units: { pe_array: { clock_mhz: 500 }, dma: { port_bytes: 6, clock: "pe_array" }, input_buffer: { width_words: 4 } } }, units: {}, memory: { peak_bytes_per_s: 0 } };
const both = roofLevels(two, roofLayers(two));
assert.deepStrictEqual([both.pes, both.mhz, both.list.map(l => l.bytes_per_s)], [128, 500, [8e9]]);
assert.deepStrictEqual(roofDots(both, roofLayers(two)).map(d => d.rate), [3.2e10]); /* 1920 MACs in 30 cycles of 2 ns */
/* What if the array, or the buffer, were twice as fast: cycles are of the faster clock, and the port of another unit stays as it is. */
const faster = (unit, speedup) => roofLevels(Object.assign({}, two, { platform: { units: { pe_array: { clock_mhz: 500 }, dma: { port_bytes: 6, clock: "pe_array" }, input_buffer: { width_words: 4 }, [unit]: Object.assign({ speedup }, two.platform.units[unit]) } } }), roofLayers(two));
assert.deepStrictEqual([faster("pe_array", 2), faster("input_buffer", 2)].map(roofs => [roofs.mhz, roofs.list[0].bytes_per_s, roofDots(roofs, roofLayers(two))[0].rate]), [[1000, 8e9, 6.4e10], [500, 1.6e10, 3.2e10]]);
/* What was set: the entries of the energy table, too. */
assert.deepStrictEqual(settings({ energy: { technology: "28nm" }, total: { images: 2 }, seed: 0, schedule: { name: "fused" }, platform: { energy: { table: "horowitz", technology: "28nm", dram_byte: 100 }, units: { dma: { connect: {}, requests: 8 } } } }),
    [["technology", "28nm"], ["schedule", "fused"], ["images", 2], ["seed", 0], ["energy.table", "horowitz"], ["energy.dram_byte", 100], ["dma.requests", 8]]);
/* The headline's images a second: four digits of the few that a large network has. */
const perSecond = images_per_s => headline({ total: { images_per_s, images: 1, macs: 1, accel_cycles: 1, time_ps: 1e12 / images_per_s }, energy: { total_pj: 1, low_pj: 1, high_pj: 1, static_pj: 0, unknown: [] },
    area: { total_um2: 1, low_um2: 1, high_um2: 1, technology: "45nm", unknown: [] }, memory: { burst_bytes: 0, read_bytes: 0, write_bytes: 0 } })[0][1];
assert.deepStrictEqual([.4, 1.4949, 81826.4].map(perSecond), ["0.4", "1.495", "81\u202f826"]);
/* Traffic of tensors: nothing says of what belongs to none, as all of a training does, that it moved again. */
const weights = { name: "C1", kind: "weights", least_read_bytes: 100, least_write_bytes: 0, read_bytes: 300, write_bytes: 0, burst_bytes: 320 }, other = { name: "", kind: "other", least_read_bytes: 0, least_write_bytes: 0, read_bytes: 2000, write_bytes: 500, burst_bytes: 2560 };
assert.deepStrictEqual(tensorRows([weights, other])[0].map(r => [r.name, r.values]), [["other", { least: 0, other: 2500, over: 60 }], ["C1 weights", { least: 100, again: 200, over: 20 }]]);
assert.strictEqual(tensorNote([other], { least_dram_bytes: 0 }), "2.5 kB cross the off-chip port.");
assert.strictEqual(tensorNote([weights], { least_dram_bytes: 90, layers_least_dram_bytes: 100 }), "300 B cross the off-chip port, 100 B must at least: 3.00 times as much. Layer by layer at least 100 B, by any schedule 90 B.");
/* CSV that a spreadsheet reads. */
assert.strictEqual(csv([["a", "b,c"], [1, 'say "x"'], [undefined, null]]), 'a,"b,c"\n1,"say ""x"""\n,\n');
console.log("all passed");
