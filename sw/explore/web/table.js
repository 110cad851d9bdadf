/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with sorting and filters, and stacked bars as rows of a table. */
/* A table with sortable columns. cell(row, column) is a value, and the option text(value, column) formats it; the cell's data-value has
   the exact value. options: filter(row), line(element, row), text. */
function sortable(parent, columns, rows, cell, options = {}) {
    const holder = make(parent, "div", null, { className: "scroll", tabIndex: 0 }), table = make(holder, "table"), head = make(make(table, "thead"), "tr");
    const body = make(table, "tbody");
    let order = -1, down = false, limit = 200;
    function fill() {
        const shown = options.filter ? rows.filter(options.filter) : rows.slice();
        if (order >= 0) shown.sort((a, b) => {
            const x = cell(a, order), y = cell(b, order), less = x === y ? 0 : x === undefined ? 1 : y === undefined ? -1 : inOrder(x, y);
            return down ? -less : less;
        });
        body.textContent = "";
        for (const row of shown.slice(0, limit)) {
            const line = make(body, "tr");
            columns.forEach((name, i) => {
                const v = cell(row, i), one = make(line, "td", v !== undefined && v !== null && options.text ? options.text(v, i) : show(v), { className: typeof v === "number" ? "" : "text" });
                if (v !== undefined && v !== null) one.dataset.value = v;
            });
            if (options.line) options.line(line, row);
        }
        if (shown.length > limit) {
            const more = make(make(body, "tr"), "td", null, { colSpan: columns.length, className: "text" });
            make(more, "button", "show more (" + (shown.length - limit) + ")", { onclick: () => { limit *= 5; fill(); } });
        }
        return shown;
    }
    const isText = i => {
        const row = rows.find(r => cell(r, i) !== undefined && cell(r, i) !== null);
        return row !== undefined && typeof cell(row, i) !== "number";
    };
    columns.forEach((name, i) => {
        const th = make(head, "th", null, { className: isText(i) ? "text" : "" });
        if (options.names) th.dataset.name = options.names[i];
        make(th, "button", name, { onclick: () => { down = order === i ? !down : false; order = i; [...head.children].forEach((h, k) => h.ariaSort = k === i ? (down ? "descending" : "ascending") : "none"); fill(); } });
    });
    fill();
    return { fill, head, table };
}
/* Stacked bars: rows {name, values: {part: number}, note}, parts {name, say, colour}. options: write(value), total(row), most: rows shown
   at first. With state.percent each bar has the full width. */
function bars(parent, rows, parts, options) {
    const holder = make(parent, "div"), used = parts.filter(part => rows.some(row => row.values[part.name])), sum = row => parts.reduce((s, p) => s + (row.values[p.name] || 0), 0);
    const state = { limit: options.most || 40, percent: false, rows };
    function fill() {
        const longest = Math.max(...state.rows.map(sum), 1e-300), table = make(null, "table", null, { className: "bars" });
        for (const row of state.rows.slice(0, state.limit)) {
            const line = make(table, "tr"), total = sum(row), whole = state.percent ? total || 1 : longest;
            make(make(line, "th", null, { scope: "row" }), "span", row.name, { title: row.name });
            const stack = make(make(line, "td", null, { className: "stack" }), "div");
            for (const part of used) {
                const value = row.values[part.name];
                if (!value) continue;
                const piece = make(stack, "span");
                piece.style.width = 100 * value / whole + "%"; piece.style.background = part.colour;
                tipOf(piece, () => row.name + "\n" + (part.say || part.name) + ": " + options.write(value) + (used.length > 1 ? ", " + percent(value / total) : "") + (row.note ? "\n" + row.note : ""));
            }
            make(line, "td", options.total ? options.total(row, total) : options.write(total), { className: "amount" });
        }
        holder.replaceChildren(table);
        if (state.rows.length > state.limit)
            make(holder, "button", "show all (" + state.rows.length + ")", { onclick: () => { state.limit = state.rows.length; fill(); } });
        if (used.length > 1) legend(holder, used.map(part => [part.colour, part.say || part.name]));
    }
    fill();
    return { state, fill };
}
/* For each name, one bar per series: series [{colour}], value(series, name), amount and tipText(series, name, value). */
function groupedBars(holder, names, series, value, amount, tipText) {
    const most = Math.max(...names.flatMap(n => series.map(s => value(s, n) || 0)), 1e-300), table = make(null, "table", null, { className: "bars grouped" });
    for (const name of names) series.forEach((s, k) => {
        const row = make(table, "tr", null, { className: k ? "" : "first" }), v = value(s, name) ?? undefined;
        if (!k) make(make(row, "th", null, { rowSpan: series.length, scope: "row" }), "span", name, { title: name });
        const piece = make(make(make(row, "td", null, { className: "stack" }), "div"), "span");
        piece.style.width = 100 * (v || 0) / most + "%"; piece.style.background = s.colour;
        tipOf(piece, () => tipText(s, name, v));
        const cell = make(row, "td", v === undefined ? "\u2013" : amount(s, name, v), { className: "amount" });
        if (v !== undefined) cell.dataset.value = v;
    });
    holder.replaceChildren(table);
}
