/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the pages of one run and of several: headline, layers, costs, configuration. */
const layerLabel = l => l.name + (l.phase === "forward" ? "" : " " + l.phase);
/* The number of accelerators that share the work. Each counts its own cycles, which run at the same time. */
const atOnce = stats => (stats.accelerators || []).filter(a => a.cycles > a.idle_cycles).length || 1;
/* The clock of an instance in MHz, that of the array if it follows another's: a what-if's speedup is the instance's own. */
const clockOf = (units, unit = {}) => ((units[unit.clock] || units.pe_array || {}).clock_mhz || 1000) * (unit.speedup || 1);
/* The critical path, with the instances of further accelerators added to the first one's that they are like. */
function joinedPath(summary) {
    const joined = {};
    for (const [name, ps] of Object.entries(summary.critical_path)) {
        const first = (summary.alike || {})[name] || name;
        joined[first] = (joined[first] || 0) + ps;
    }
    return joined;
}
const runTitle = stats => (stats.network && ends(stats.network.name) || stats.command) + " on " + (stats.platform.platform || "a platform");
const boundNames = { compute: "compute", mapping: "idle PEs", memory: "memory", port: "buffer ports", vector: "vector unit", core: "RISC-V core", instruction: "instructions", pipeline: "pipeline" };
const boundColours = { compute: "#2a9d4a", mapping: "#a9d8b3", memory: "#1f6fd1", port: "#5fa8d8", vector: "#8a4fc0", core: "#c0932a", instruction: "#c03a6b", pipeline: "#7a7a7a" };
const causeColours = ["#7a7a7a", "#a3a3a3", "#5b7a1f", "#8a4fc0", "#5fa8d8", "#8fc1e6", "#b9d7ee", "#1f6fd1", "#16479a", "#2aa3a8", "#c03a6b", "#c0932a"];
/* The parts of a layer's cycles: computing with busy PEs, computing with idle PEs, then each cause of a stall. */
function cycleParts(layers) {
    const causes = Object.keys((layers[0] || { stall_cycles: {} }).stall_cycles);
    return [{ name: "busy", say: "computing, PEs at work", colour: "#2a9d4a" }, { name: "idle", say: "computing, PEs idle", colour: "#a9d8b3" }]
        .concat(causes.map((name, i) => ({ name, say: causeNames[name] || name.replace(/_/g, " "), colour: causeColours[i % causeColours.length] })));
}
function cycleValues(l) {
    const busy = Math.round(l.compute_cycles * l.compute_utilization);
    return Object.assign({ busy, idle: l.compute_cycles - busy }, l.stall_cycles);
}
/* [name, value as text, note] of a run's headline. */
function headline(stats) {
    const summary = stats.summary || {}, costs = stats.energy, square = stats.area, energy = writer("energy.total_pj"), area = writer("area.total_um2"), bytes = writer("bytes");
    const factors = [costs.low_pj, costs.high_pj].map(pj => Number((pj / (costs.total_pj || 1)).toPrecision(2))).join(" to ");
    const between = (low, high, write) => write(low, 3) + " to " + write(high, 3) + " by other sources", unknown = list => list.length ? "; not known of " + list.join(", ") : "";
    const fetched = stats.memory.burst_bytes || 0, asked = stats.memory.read_bytes + stats.memory.write_bytes;
    return [["images a second", stats.total.images_per_s ? grouped(stats.total.images_per_s < 1000 ? Number(stats.total.images_per_s.toPrecision(4)) : Math.round(stats.total.images_per_s)) : "", (stats.total.images || "no") + (stats.total.images === 1 ? " image in " : " images in ") + scaled(stats.total.time_ps, 4, times, " ps")],
        ["share of peak arithmetic", summary.peak_share === undefined ? "" : percent(summary.peak_share), short(stats.total.macs) + " MACs in " + short(stats.total.accel_cycles, 4) + " cycles"],
        ["share of memory bandwidth", summary.bandwidth_share === undefined ? "" : percent(summary.bandwidth_share), bytes(fetched) + " in bursts for " + bytes(asked) + " asked for"],
        [summary.energy_per_image_pj ? "energy an image" : "energy", energy(summary.energy_per_image_pj || costs.total_pj), (summary.tops_per_watt || 0).toPrecision(3) + " TOPS/W; " + factors + " times as much by other sources" + unknown(costs.unknown)],
        ["mean power", scaled(costs.total_pj / (stats.total.time_ps || 1), 4, [[1, " W"], [1e-3, " mW"], [1e-6, " uW"]], " W"), percent(costs.static_pj / (costs.total_pj || 1)) + " static; " + energy(costs.total_pj) + " in all"],
        ["area at " + square.technology, area(square.total_um2), between(square.low_um2, square.high_um2, area) + unknown(square.unknown)]].filter(fact => fact[1]);
}
function addFact(parent, [name, value, note], properties) {
    const fact = make(parent, "div", null, Object.assign({ className: "fact" }, properties));
    make(fact, "span", name); make(fact, "b", value);
    if (note) make(fact, "i", note);
    return fact;
}
function addShares(parent, shares) {
    const known = Object.entries(shares).filter(([, share]) => share >= .0005).sort((a, b) => b[1] - a[1]), strip = make(parent, "div", null, { className: "shares" });
    for (const [name, share] of known) {
        const piece = make(strip, "span");
        piece.style.width = 100 * share + "%"; piece.style.background = boundColours[name] || "#888";
        tipOf(piece, () => boundNames[name] + ": " + percent(share) + " of the cycles");
    }
    return known.map(([name, share]) => boundNames[name] + " " + percent(share)).join(", ");
}
/* One sentence on the layers with the most cycles and the main part of each. */
function sentence(stats) {
    const layers = stats.layers.filter(l => l.cycles), all = layers.reduce((sum, l) => sum + l.cycles, 0);
    const first = layers.slice().sort((a, b) => b.cycles - a.cycles).slice(0, 3);
    const why = l => {
        const [name, cycles] = Object.entries(cycleValues(l)).sort((a, b) => b[1] - a[1])[0];
        return layerLabel(l) + " (" + percent(l.cycles / all, 2) + "; " + percent(cycles / l.cycles, 2) + " of it " + (cycleParts([l]).find(p => p.name === name) || { say: name }).say + ")";
    };
    return first.length ? "Most cycles: " + first.map(why).join(", ") + "." : "";
}
/* The settings of a run as a list of [unit.parameter, value]. */
function settings(stats) {
    const list = [["technology", stats.energy.technology], ["schedule", stats.schedule ? stats.schedule.name : "layer"], ["images", stats.total.images], ["seed", stats.seed], ...Object.entries(stats.options || {}).map(([name, value]) => ["--" + name.replaceAll("_", "-"), value])];
    for (const [key, value] of Object.entries(stats.platform.energy || {})) if (key !== "technology") list.push(["energy." + key, value]);
    for (const [name, unit] of Object.entries(stats.platform.units))
        for (const [key, value] of Object.entries(unit)) if (key !== "connect") list.push([name + "." + key, value]);
    return list;
}
/* The energy of layers by unit if the statistics have it, else split into dynamic and static energy. */
function energyRows(stats) {
    const list = stats.layers.filter(l => l.energy_pj), split = list.some(l => l.energy_by_unit);
    return list.map(l => ({ name: layerLabel(l), note: percent(l.static_pj / l.energy_pj) + " static", values: split ? l.energy_by_unit : { dynamic: l.energy_pj - l.static_pj, static: l.static_pj } }));
}
function unitParts(rows) {
    const names = [...new Set(rows.flatMap(r => Object.keys(r.values)))], size = name => rows.reduce((sum, r) => sum + (r.values[name] || 0), 0);
    return names.sort((a, b) => size(b) - size(a)).map((name, i) => ({ name, colour: colours[i % colours.length] }));
}
