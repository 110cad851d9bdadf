#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""plot.py STUDY RESULT.csv PLOT.svg: draws the plot of a study, and prints its table."""
import csv
import math
import sys

COLOURS = ("#2a6fb0", "#c0562a", "#3c8c4a", "#8a4fa0", "#b0902a", "#4a4a4a")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 300, 64, 130, 34, 46


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def ticks(low, high):
    step = 10 ** math.floor(math.log10((high - low) or 1))
    while (high - low) / step < 4:
        step /= 2
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, int(high / step + 1e-9) + 1)]


def panel(x0, title, x_label, y_label, series):
    """Draws one chart. series is {name: [(x, label of x, y)]}; the x axis has one equally spaced place per value."""
    places = sorted({(x, label) for points in series.values() for x, label, _ in points})
    at = {x: x0 + LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / len(places) for i, (x, _) in enumerate(places)}
    values = [y for points in series.values() for _, _, y in points]
    low, high = min(0, min(values)), max(values) * 1.05
    put = lambda y: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (y - low) / (high - low)
    out = [f'<text x="{x0 + LEFT}" y="18" font-weight="bold">{escape(title)}</text>']
    for y in ticks(low, high):
        out.append(f'<path d="M{x0 + LEFT} {put(y):.1f}H{x0 + WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{x0 + LEFT - 6}" y="{put(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x, label in places:
        out.append(f'<text x="{at[x]:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(label)}</text>')
    out.append(f'<text x="{(2 * x0 + LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_label)}</text>')
    out.append(f'<text transform="translate({x0 + 14} {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
               f"{escape(y_label)}</text>")
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        line = " ".join(f"{at[x]:.1f},{put(y):.1f}" for x, _, y in sorted(points))
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{at[x]:.1f}" cy="{put(y):.1f}" r="2.5" fill="{colour}"/>' for x, _, y in points]
        out.append(f'<text x="{x0 + WIDTH - RIGHT + 8}" y="{TOP + 12 + 16 * i}" fill="{colour}">{escape(name)}</text>')
    return "".join(out)


def svg(panels):
    body = "\n".join(panel(i * WIDTH, *arguments) for i, arguments in enumerate(panels))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * len(panels)}" height="{HEIGHT}" '
            f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n')


def group(rows, name, x, label, y):
    series = {}
    for row in rows:
        series.setdefault(name(row), []).append((x(row), label(row), y(row)))
    return series


def table(head, rows):
    print("| " + " | ".join(str(cell) for cell in head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def area(row):
    return f"{float(row['area.total_um2']) / 1e6:.2f}"


def array_shape(rows):
    """LeNet-5 is shown with and without the core's time: small arrays hide that time, and large ones wait for the core."""
    shapes = lambda row: f"{row['pe_array.rows']}x{row['pe_array.cols']}"
    pes = lambda row: int(row["pe_array.rows"]) * int(row["pe_array.cols"])
    ratio = lambda row: math.log2(int(row["pe_array.cols"]) / int(row["pe_array.rows"]))
    us = lambda row: f"{float(row['total.time_ps']) / 1e6:.2f} us" if "lenet5" in row["network"] else f"{float(row['total.time_ps']) / 1e9:.2f} ms"
    energy = lambda row: f"{float(row['energy.total_pj']) / 1e6:.1f} uJ" if "lenet5" in row["network"] else f"{float(row['energy.total_pj']) / 1e9:.1f} mJ"
    panels, best = [], []
    for network, timing, title in (("lenet5", "on", "LeNet-5"), ("lenet5", "off", "LeNet-5, software takes no time"), ("vgg16", "on", "VGG16")):
        mine = [row for row in rows if network in row["network"] and row["cpu.timing"] == timing]
        panels.append((title, "columns / rows", "time of an image, ms",
                       group(sorted(mine, key=pes), lambda row: f"{pes(row)} PEs", ratio,
                             lambda row: ("1/" if ratio(row) < 0 else "") + f"{2 ** abs(ratio(row)):g}", lambda row: float(row["total.time_ps"]) / 1e9)))
        for count in sorted({pes(row) for row in mine}):
            same = sorted((row for row in mine if pes(row) == count), key=lambda row: float(row["total.time_ps"]))
            best.append((title, count, *(f"{shapes(row)}: {us(row)}" + (f", {energy(row)}" if timing == "on" else "") for row in (same[0], same[-1])),
                         f"{area(same[0])} mm2" if timing == "on" else ""))
    table(("network", "PEs", "fastest shape", "slowest shape", "area"), best)
    return panels


def buffers(rows):
    kib = lambda row: int(row["input_buffer.size"].replace("KiB", "")) if "K" in row["input_buffer.size"] else int(
        row["input_buffer.size"]) // 1024
    mode = lambda row: {"layer": "layer by layer", "depth-first": "depth first"}[row["schedule"]]
    good = [row for row in rows if row["status"] == "ok"]
    chart = lambda memory, value: group([row for row in good if row["dram.preset"] == memory], mode, kib,
                                        lambda row: str(kib(row)), lambda row: float(row[value[0]]) / value[1])
    panels = [("time with the slowest memory", "input buffer, KiB", "ms an image",
               chart("ddr3-1600", ("total.time_ps", 1e9))),
              ("maps that leave the chip", "input buffer, KiB", "kB written off chip",
               chart("ddr3-1600", ("memory.write_bytes", 1e3))),
              ("energy", "input buffer, KiB", "mJ an image", chart("ddr3-1600", ("energy.total_pj", 1e9)))]
    ms = lambda row: f"{float(row['total.time_ps']) / 1e9:.3f}"
    mj = lambda row: f"{float(row['energy.total_pj']) / 1e9:.3f}"
    memories = [memory for memory in ("hbm2", "ddr3-1600") if any(row["dram.preset"] == memory for row in good)]
    lines = []
    for first in sorted((row for row in good if row["dram.preset"] == "ddr4-2400"), key=lambda row: (mode(row) == "depth first", kib(row))):
        of = lambda memory: next(row for row in good if row["dram.preset"] == memory and (mode(row), kib(row)) == (mode(first), kib(first)))
        others = [of(memory) for memory in memories]
        lines.append((mode(first), f"{kib(first)} KiB", f"{area(first)} mm2", int(first["memory.write_bytes"]) // 1000,
                      ms(first), mj(first), *(cell for row in others for cell in (ms(row), mj(row)))))
    table(["schedule", "input buffer", "area", "kB written",
           *(f"{unit}, {memory}" for memory in ("ddr4-2400", *memories) for unit in ("ms", "mJ"))], lines)
    return panels


def mantissa(rows):
    bits = lambda row: int(row["pe_array.mantissa_bits"])
    percent = lambda row: 100 * float(row["values.training.eval_accuracy"])
    loss = lambda row: float(row["values.training.loss"] or "inf")
    panels = [("accuracy on images not learned", "bits of a mantissa", "%",
               group(rows, lambda row: row["rounding"], bits, lambda row: str(bits(row)), percent)),
              ("loss on the images learned", "bits of a mantissa", "cross-entropy, cut at 3",
               group(rows, lambda row: row["rounding"], bits, lambda row: str(bits(row)),
                     lambda row: min(loss(row), 3.0)))]
    widths = sorted({bits(row) for row in rows})
    of = lambda rounding, say: [say(row) for width in widths for row in rows if row["rounding"] == rounding and bits(row) == width]
    table(["rounding", *(f"{width} bits" for width in widths)],
          [(rounding, *of(rounding, lambda row: f"{percent(row):.2f} %")) for rounding in ("truncate", "nearest", "stochastic")] +
          [("energy of the training", *of("nearest", lambda row: f"{float(row['energy.total_pj']) / 1e9:.1f} mJ")),
           ("area", *of("nearest", lambda row: f"{area(row)} mm2"))])
    return panels


study, source, target = sys.argv[1:]
with open(source, newline="") as stream:
    made = {"array_shape": array_shape, "buffers": buffers, "mantissa": mantissa}[study](list(csv.DictReader(stream)))
with open(target, "w") as stream:
    stream.write(svg(made))
