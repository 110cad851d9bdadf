/* SPDX-License-Identifier: Apache-2.0 */
/* Put after any page by a test: nothing is wider than the window, no text is cut off or lies on another, no third of the window stands
   empty, texts are told apart from what they lie on, everything that can be clicked can be reached by keys. Says data-layout. */
(() => {
    if (typeof timeline === "object") timeline.look(0, end); /* a unit may do nothing for an image */
    const wrong = [], width = document.documentElement.clientWidth, say = (what, element) => wrong.push(what + ": " + element.tagName + "." + element.className + " " + (element.textContent || "").slice(0, 30));
    if (document.documentElement.scrollWidth > width + 1) wrong.push("the page is " + document.documentElement.scrollWidth + " wide in a window of " + width);
    const scrolls = element => element.closest(".scroll, .figure, .tip, .shares");
    const shown = element => element.checkVisibility() && element.getClientRects().length && !element.closest(".tip, details:not([open]) > :not(summary)");
    /* Only what scrolls may be wider than what holds it. */
    for (const element of document.querySelectorAll("body *")) {
        if (!shown(element) || scrolls(element) || element.tagName === "OPTION") continue;
        const box = element.getBoundingClientRect();
        if (box.width && (box.right > width + 1 || box.left < -1)) say("outside at " + Math.round(box.left) + " to " + Math.round(box.right), element);
        if (/^(B|I|H1|H2|H3|P|BUTTON|LABEL|DT|DD|SMALL)$/.test(element.tagName) && element.scrollWidth > element.clientWidth + 1 && element.clientWidth && getComputedStyle(element).display !== "inline") say("cut off", element);
    }
    /* Texts: the boxes of all elements that hold nothing but text. */
    const boxes = [];
    for (const element of document.querySelectorAll("h1, h2, h3, p, b, i, dt, dd, button, label, .entry, td, th, summary, .head span, .head small")) {
        if (!shown(element) || element.querySelector("button, select, input, .stack, span, b") || !element.textContent.trim() || element.closest(".scroll, .heads")) continue;
        const range = document.createRange();
        range.selectNodeContents(element);
        for (const box of range.getClientRects()) if (box.width > 1 && box.height > 1) boxes.push({ element, box });
    }
    boxes.sort((a, b) => a.box.top - b.box.top);
    for (let i = 0; i < boxes.length; i++) for (let k = i + 1; k < boxes.length && boxes[k].box.top < boxes[i].box.bottom - 3; k++) {
        const [a, b] = [boxes[i], boxes[k]];
        if (a.element === b.element || a.element.contains(b.element) || b.element.contains(a.element)) continue;
        if (a.box.left < b.box.right - 2 && b.box.left < a.box.right - 2) say("overlaps " + b.element.textContent.slice(0, 20), a.element);
    }
    const seen = document.querySelectorAll("section, header");
    if (seen.length < 4 || boxes.length < 10) wrong.push("hardly anything is there: " + [seen.length, boxes.length]);
    /* The window's width is used: sections reach the right edge. */
    const right = Math.max(...[...document.querySelectorAll("section")].map(s => s.getBoundingClientRect().right));
    if (right < width * .94) wrong.push("the right " + Math.round(100 - 100 * right / width) + " % of the window is empty");
    for (const canvas of document.querySelectorAll("canvas"))
        if (canvas.clientWidth < .5 * canvas.closest(".figure").clientWidth) say("narrow", canvas);
    for (const f of figures) {
        /* Labels in figures: none on another, all inside. */
        const places = (f.labels || []).map((p, i) => p && { x: p.x, y: p.y, i }).filter(Boolean);
        for (const p of places) if (p.x < 0 || p.y < 0 || p.y > f.height) wrong.push("a label outside of its figure");
        for (const p of places) for (const q of places) if (p.i < q.i && Math.abs(p.y - q.y) < 10 && p.x === q.x) wrong.push("labels on each other");
        const g = f.element.getContext("2d"), pixels = g.getImageData(0, 0, f.element.width, f.element.height).data;
        let drawn = 0;
        for (let i = 3; i < pixels.length; i += f.height < 50 ? 4 : 4 * 37) drawn += pixels[i] > 0;
        if (f.element.offsetParent && !drawn) wrong.push("an empty figure, " + f.width + " wide");
    }
    /* Light text on dark ground or the other way round. */
    const light = text => { const [r, g, b] = text.match(/[\d.]+/g).map(Number); return (.299 * r + .587 * g + .114 * b) / 255; };
    const page = getComputedStyle(document.body);
    if (Math.abs(light(page.color) - light(page.backgroundColor)) < .5) wrong.push("text and ground are alike");
    if ((light(page.backgroundColor) < .5) !== matchMedia("(prefers-color-scheme: dark)").matches) wrong.push("the ground is not what the reader prefers");
    for (const element of document.querySelectorAll(".scroll, .timeline, select, button, input")) if (shown(element) && element.tabIndex < 0) say("no key reaches", element);
    if (!document.body.dataset.ready) wrong.push("the page's own script did not come to its end");
    document.body.dataset.layout = wrong.length ? "fails at " + width + ": " + wrong.length + ": " + wrong.slice(0, 6).join("; ") : "works at " + width;
})();
