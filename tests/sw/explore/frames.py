#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""frames.py BROWSER FRAME...: pages as one browser shows them, one after the other, each in a frame of its own, with scripts of
the test's after the page's. A FRAME is PAGE.html,WIDTH,light|dark,SCRIPT.js...; a script says data-layout or data-used, which must
begin with "works". (A browser's own window has no less than 500 pixels, and one colour scheme.) Writes the elements of each page in
its first frame into PAGE.dom. Fails where something is wrong, or said on the console."""
import html.parser
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TAIL = """(() => {
    const { layout, used } = document.body.dataset;
    document.getElementById("data").remove();
    parent.postMessage({ layout, used, elements: document.documentElement.outerHTML }, "*");
})();"""
HOST = """<!DOCTYPE html><html><head><meta name="color-scheme" content="light dark"></head><body><script>
const frames = FRAMES;
addEventListener("message", event => {
    const said = document.createElement("pre");
    said.textContent = JSON.stringify(event.data);
    document.body.appendChild(said);
    document.querySelector("iframe").remove();
    next();
});
function next() {
    if (!frames.length) return;
    const { page, width, scheme } = frames.shift(), frame = document.createElement("iframe");
    frame.style.cssText = "border:0;display:block;height:1000px;width:" + width + "px;color-scheme:" + scheme;
    frame.src = page;
    document.body.prepend(frame);
}
next();
</script></body></html>"""


class Said(html.parser.HTMLParser):
    """What every frame has sent, in order."""

    def __init__(self):
        super().__init__()
        self.texts, self.inside = [], False

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "pre"
        if self.inside:
            self.texts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, text):
        if self.inside:
            self.texts[-1] += text


def write_frame(number, page, scripts):
    name = f"frame{number}.html"
    with open(page) as file, open(name, "w") as frame:
        frame.write(file.read().replace("</body></html>", ""))
        for script in [open(os.path.join(HERE, script)).read() for script in scripts] + [TAIL]:
            frame.write(f"<script>{script}</script>")
        frame.write("</body></html>\n")
    return name


def check(what, said):
    page, width, scheme, *scripts = what
    wrong = []
    for script in scripts:
        verdict = said.get("layout" if script == "use_layout.js" else "used") or "nothing"
        if not verdict.startswith("works"):
            wrong.append(f"{page} {width} {scheme}: {script}: {verdict}")
    return wrong


def main():
    browser, *texts = sys.argv[1:]
    frames = [text.split(",") for text in texts]
    listed = [{"page": write_frame(i, frame[0], frame[3:]), "width": frame[1], "scheme": frame[2]} for i, frame in enumerate(frames)]
    with open("frames.html", "w") as host:
        host.write(HOST.replace("FRAMES", json.dumps(listed)))
    run = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=100000", "--hide-scrollbars",
                          f"--user-data-dir={os.getcwd()}/browser", "--enable-logging=stderr", "--window-size=1440,1000", "--dump-dom",
                          f"file://{os.getcwd()}/frames.html"], capture_output=True, text=True, timeout=300)
    wrong = [line for line in run.stderr.splitlines() if "CONSOLE" in line][:3]
    parser, seen = Said(), set()
    parser.feed(run.stdout)
    for what, text in zip(frames, parser.texts):
        said = json.loads(text)
        wrong += check(what, said)
        if what[0] not in seen:
            with open(what[0].replace(".html", ".dom"), "w") as file:
                file.write(said["elements"])
        seen.add(what[0])
    if len(parser.texts) != len(frames):
        wrong.append(f"{len(parser.texts)} of {len(frames)} pages came to their end: {run.stderr[-500:]}")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
