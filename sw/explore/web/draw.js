/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for elements, figures that adapt to the window's width and colour scheme, axes, tooltips, and files to save. */
const data = JSON.parse(document.getElementById("data").textContent);
const colours = ["#1f6fd1", "#d1571f", "#2a9d4a", "#8a4fc0", "#c0932a", "#c03a6b", "#2aa3a8", "#7a7a7a", "#5b7a1f",
    "#a33", "#4a7ba6", "#e39ac2", "#6fae9a", "#b3a08a"];
function make(parent, name, text, properties) {
    const element = document.createElement(name);
    if (text !== undefined && text !== null) element.textContent = text;
    Object.assign(element, properties || {});
    if (parent) parent.appendChild(element);
    return element;
}
/* The place of a page's sections: side by side if there is room. A wide section takes the whole width. */
const panels = make(document.body, "main");
function section(name, id, wide, note) {
    const holder = make(panels, "section", null, { id: id + "_section", className: wide ? "wide" : "" });
    make(holder, "h2", name);
    if (note) make(holder, "p", note, { className: "note" });
    return holder;
}
/* The colours of the page's style in the current colour scheme. */
const theme = {};
function readTheme() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "soft", "line", "paper", "mark", "warm", "hover", "card"]) theme[name] = style.getPropertyValue("--" + name).trim();
}
readTheme();
/* ---- tooltips ---- */
const tipElement = make(document.body, "div", "", { className: "tip", role: "tooltip" });
function tip(event, text) {
    tipElement.style.display = text ? "block" : "none";
    if (!text) return;
    tipElement.textContent = text;
    tipElement.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - tipElement.offsetWidth - 6)) + "px";
    tipElement.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - tipElement.offsetHeight - 6)) + "px";
}
function tipOf(element, text) {
    element.onpointermove = element.onpointerdown = event => tip(event, text(event));
    element.onpointerleave = event => tip(event, "");
}
/* ---- figures ---- */
const figures = new Set();
/* A canvas as wide as its holder. draw is called with {context, width, height}, again whenever the width or colour scheme changes.
   With `least`, the minimum width, a narrow holder scrolls. */
function figure(parent, height, draw, least = 0) {
    const holder = make(parent, "div", null, { className: "figure" }), element = make(holder, "canvas"), f = { holder, element, width: 0, height, draw: null };
    const paint = (context, width) => { context.font = "11px system-ui, sans-serif"; f.context = context; f.width = width; draw(f); };
    f.draw = () => {
        const width = Math.max(least, holder.clientWidth), ratio = window.devicePixelRatio || 1;
        if (!width) return;
        element.width = Math.round(width * ratio); element.height = Math.round(f.height * ratio);
        element.style.width = width + "px"; element.style.height = f.height + "px";
        const context = element.getContext("2d");
        context.scale(ratio, ratio);
        paint(context, width);
    };
    f.svg = () => { const context = new SvgContext(f.width, f.height, element.getContext("2d")); paint(context, f.width); const text = context.text(); f.draw(); return text; };
    for (const one of figures) if (!one.element.isConnected) figures.delete(one);
    figures.add(f);
    new ResizeObserver(() => { if (Math.max(least, holder.clientWidth) !== f.width) f.draw(); }).observe(holder);
    f.draw();
    return f;
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); for (const f of figures) f.draw(); });
/* Offers the calls of a canvas context that figures use, and makes an SVG text of them. */
class SvgContext {
    constructor(width, height, measure) { Object.assign(this, { width, height, measure, parts: [], path: "", turn: "", globalAlpha: 1, lineWidth: 1, dash: "" }); }
    style(kind) { return kind + '="' + this[kind + "Style"] + '"' + (this.globalAlpha < 1 ? ' opacity="' + this.globalAlpha + '"' : "") + this.turn; }
    at(x, y) { return x.toFixed(2) + " " + y.toFixed(2); }
    beginPath() { this.path = ""; }
    moveTo(x, y) { this.path += "M" + this.at(x, y); }
    lineTo(x, y) { this.path += "L" + this.at(x, y); }
    closePath() { this.path += "Z"; }
    rect(x, y, w, h) { this.path += "M" + this.at(x, y) + "h" + w.toFixed(2) + "v" + h.toFixed(2) + "h" + (-w).toFixed(2) + "Z"; }
    arc(x, y, r) { this.path += "M" + this.at(x - r, y) + "a" + [r, r, 0, 1, 0, 2 * r, 0].join(" ") + "a" + [r, r, 0, 1, 0, -2 * r, 0].join(" "); }
    stroke() { this.parts.push('<path d="' + this.path + '" fill="none" stroke-width="' + this.lineWidth + '"' + this.dash + " " + this.style("stroke") + "/>"); }
    fill() { this.parts.push('<path d="' + this.path + '" ' + this.style("fill") + "/>"); }
    fillRect(x, y, w, h) { this.path = ""; this.rect(x, y, w, h); this.fill(); }
    clearRect() {}
    setLineDash(list) { this.dash = list.length ? ' stroke-dasharray="' + list.join(" ") + '"' : ""; }
    measureText(text) { return this.measure.measureText(text); }
    save() {}
    restore() { this.turn = ""; this.origin = null; }
    translate(x, y) { this.origin = this.at(x, y); }
    rotate(angle) { this.turn = ' transform="translate(' + this.origin + ") rotate(" + angle * 180 / Math.PI + ')"'; }
    fillText(text, x, y) {
        const anchor = { left: "start", right: "end", center: "middle" }[this.textAlign] || "start", down = { top: 9, middle: 4 }[this.textBaseline] || 0;
        const escaped = String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
        this.parts.push('<text x="' + x.toFixed(2) + '" y="' + (y + down).toFixed(2) + '" text-anchor="' + anchor + '" ' + this.style("fill") + ">" + escaped + "</text>");
    }
    text() {
        return '<svg xmlns="http://www.w3.org/2000/svg" width="' + this.width + '" height="' + this.height + '" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="' +
            theme.paper + '"/>' + this.parts.join("\n") + "</svg>\n";
    }
}
function saveFile(name, type, text) {
    const link = make(null, "a", null, { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
/* ---- plots ---- */
function axes(g, width, height, box, xscale, yscale) {
    const xs = xscale.ticks(xscale.low, xscale.high, Math.max(2, (box.right - box.left) / 90)), ys = yscale.ticks(yscale.low, yscale.high, Math.max(2, (box.bottom - box.top) / 50));
    const xtexts = tickTexts(xs, xscale), ytexts = tickTexts(ys, yscale);
    g.clearRect(0, 0, width, height); g.strokeStyle = theme.line; g.fillStyle = theme.soft; g.lineWidth = 1;
    g.textBaseline = "top";
    xs.forEach((t, i) => {
        const x = box.left + (t - xscale.low) / (xscale.high - xscale.low) * (box.right - box.left), half = g.measureText(xtexts[i]).width / 2;
        g.beginPath(); g.moveTo(x, box.top); g.lineTo(x, box.bottom); g.stroke();
        g.textAlign = x + half > width ? "right" : "center"; g.fillText(xtexts[i], Math.min(x, x + half > width ? width : x), box.bottom + 4);
    });
    g.textAlign = "right"; g.textBaseline = "middle";
    ys.forEach((t, i) => {
        const y = box.bottom - (t - yscale.low) / (yscale.high - yscale.low) * (box.bottom - box.top);
        g.beginPath(); g.moveTo(box.left, y); g.lineTo(box.right, y); g.stroke(); g.fillText(ytexts[i], box.left - 5, y);
    });
    g.fillStyle = theme.ink; g.textAlign = "center"; g.fillText(xscale.name, (box.left + box.right) / 2, height - 8);
    g.save(); g.translate(9, (box.top + box.bottom) / 2); g.rotate(-Math.PI / 2); g.fillText(yscale.name, 0, 0); g.restore();
}
/* The rectangle of a plot in its figure, and the mapping from values to pixels. */
function frame(f, xscale, yscale) {
    const box = { left: 78, right: f.width - 14, top: 8, bottom: f.height - 36 };
    box.x = v => box.left + (xscale.at(v) - xscale.low) / (xscale.high - xscale.low) * (box.right - box.left);
    box.y = v => box.bottom - (yscale.at(v) - yscale.low) / (yscale.high - yscale.low) * (box.bottom - box.top);
    return box;
}
/* Draws labels beside points: [{x, y, text, colour}]. */
function labels(g, box, wanted, away = 8) {
    const places = placeLabels(wanted.map(p => ({ x: p.x, y: p.y, width: g.measureText(p.text).width })), box, 13, away);
    g.textAlign = "left"; g.textBaseline = "middle";
    places.forEach((place, i) => { if (place) { g.fillStyle = wanted[i].colour || theme.ink; g.fillText(wanted[i].text, place.x, place.y); } });
    return places;
}
function legend(parent, entries) {
    const holder = make(parent, "div", null, { className: "legend" });
    for (const [colour, text] of entries) {
        const one = make(holder, "span", null, { className: "entry" });
        make(one, "span", null, { className: "key" }).style.background = colour;
        make(one, "span", text);
    }
    return holder;
}
function chooser(parent, label, choices, chosen, changed) {
    const select = make(make(parent, "label", label + " "), "select");
    for (const [value, text] of choices) make(select, "option", text, { value, selected: String(value) === String(chosen) });
    select.onchange = () => changed(select.value);
    return select;
}
