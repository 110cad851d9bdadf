/* SPDX-License-Identifier: Apache-2.0 */
/* The Pareto front of a sweep's points and its knee. Points are {stats: [...]}; an axis is {at: index in stats, sign: 1 if less is
   better, -1 if more is}. This file does not use the document. */
/* The points that no other one dominates in x and y, sorted by x. */
function front(points, x, y) {
    const list = points.filter(p => typeof p.stats[x.at] === "number" && typeof p.stats[y.at] === "number")
        .sort((a, b) => x.sign * (a.stats[x.at] - b.stats[x.at]) || y.sign * (a.stats[y.at] - b.stats[y.at]));
    const kept = [];
    let lowest = Infinity, at = NaN;
    for (const p of list) {
        const value = y.sign * p.stats[y.at];
        if (value < lowest) { lowest = value; at = p.stats[x.at]; kept.push(p); }
        else if (value === lowest && p.stats[x.at] === at) kept.push(p);
    }
    return kept;
}
/* The same for any number of axes. Points are sorted by their axes in order, so that no point dominates an earlier one. */
function frontOf(points, axes) {
    const list = points.filter(p => axes.every(a => typeof p.stats[a.at] === "number")).map(p => ({ p, v: axes.map(a => a.sign * p.stats[a.at]) })).sort((a, b) => { for (let i = 0; i < axes.length; i++) if (a.v[i] !== b.v[i]) return a.v[i] - b.v[i]; return 0; });
    const kept = [], betters = (a, b) => a.v.every((v, i) => v <= b.v[i]) && a.v.some((v, i) => v < b.v[i]);
    for (const one of list) if (!kept.some(other => betters(other, one))) kept.push(one);
    return kept.map(k => k.p);
}
/* The point of a front nearest to the ideal point. Each axis runs from its best (0) to its worst (1) value on the front, on a
   logarithmic scale if all values are positive. Undefined: the front has fewer than three points. */
function knee(points, axes) {
    if (points.length < 3) return undefined;
    const sides = axes.map(a => {
        const all = points.map(p => p.stats[a.at]), of = Math.min(...all) > 0 ? Math.log : v => v, values = all.map(v => a.sign * of(v)), [low, high] = [Math.min(...values), Math.max(...values)];
        return p => high > low ? (a.sign * of(p.stats[a.at]) - low) / (high - low) : 0;
    });
    const far = p => sides.reduce((sum, side) => sum + side(p) ** 2, 0);
    return points.reduce((best, p) => far(p) < far(best) ? p : best);
}
