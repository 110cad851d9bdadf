/* SPDX-License-Identifier: Apache-2.0 */
/* How much a statistic depends on each parameter: log y = mean + one effect per value of each parameter, fitted to all points
   together, so that an uneven sample, such as that of a search, does not mislead. This file does not use the document. */
/* The classes of a parameter: its values, or five ranges with equal numbers of points if it has many numbers as values. */
function classes(points, i) {
    const values = [...new Set(points.map(p => p.params[i]))].sort(inOrder);
    if (values.length <= 8 || !values.every(v => typeof v === "number"))
        return { of: p => values.indexOf(p.params[i]), names: values.map(ends) };
    const sorted = points.map(p => p.params[i]).sort((a, b) => a - b), first = [...new Set([0, 1, 2, 3, 4].map(k => sorted[Math.floor(k * sorted.length / 5)]))];
    const at = v => { let k = first.length - 1; while (first[k] > v) k--; return k; };
    return { of: p => at(p.params[i]), names: first.map((low, k) => ends(low) + (k + 1 < first.length ? " up to " + ends(first[k + 1]) : " and above")) };
}
/* [{i, names, effect}] for each parameter that varies among the points. */
function effects(points, path, parameters) {
    const used = points.filter(p => p.stats[path] > 0);
    const parts = parameters.map(i => ({ i, ...classes(used, i) })).filter(part => part.names.length > 1);
    const rest = used.map(p => Math.log(p.stats[path])), mean = rest.reduce((a, b) => a + b, 0) / rest.length;
    for (const part of parts) { part.at = used.map(part.of); part.effect = part.names.map(() => 0); }
    rest.forEach((value, n) => { rest[n] = value - mean; });
    const whole = rest.reduce((sum, v) => sum + v * v, 0);
    for (let round = 0; round < 40; round++) for (const part of parts) {
        const sum = part.names.map(() => 0), count = part.names.map(() => 0);
        rest.forEach((value, n) => { sum[part.at[n]] += value; count[part.at[n]]++; });
        const change = sum.map((value, k) => count[k] ? value / count[k] : 0);
        part.effect = part.effect.map((value, k) => value + change[k]);
        rest.forEach((value, n) => { rest[n] = value - change[part.at[n]]; });
    }
    parts.explained = whole > 0 ? 1 - rest.reduce((sum, v) => sum + v * v, 0) / whole : 1;
    return parts;
}
/* A factor that would be shown as 1 is no effect. */
function hasEffect(line) { return Number(line.times.toPrecision(4)) !== 1; }
/* The effects as lines: the values with the lowest and highest effect, and the factor between them; largest factor first. */
function importance(points, path, parameters) {
    const parts = effects(points, path, parameters);
    const lines = parts.map(part => {
        const least = part.effect.indexOf(Math.min(...part.effect)), most = part.effect.indexOf(Math.max(...part.effect)), times = Math.exp(part.effect[most] - part.effect[least]);
        return { i: part.i, least: part.names[least], most: part.names[most], times: times > 1 + 1e-9 ? times : 1 }; /* smaller factors are rounding errors */
    });
    lines.sort((a, b) => b.times - a.times);
    return { lines, explained: parts.explained };
}
