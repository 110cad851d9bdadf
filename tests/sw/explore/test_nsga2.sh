#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The search of cnnvp sweep that breeds: its seed decides, it continues, it finds better points, and networks do not crowd each other out.
. "$SOURCE/tests/support/lib.sh"
network=$SOURCE/scripts/networks/lenet5.onnx

cat >nsga2.yaml <<END
network: $network
options: {timing_only: true}
parameters:
  pe_array.rows: {from: 1, to: 64, step: 1}
  pe_array.cols: {log2: [4, 16]}
  dram.preset: [ddr3-1600, ddr4-2400]
objectives: [total.time_ps, energy.total_pj, area.total_um2]
search: {nsga2: {population: 8, generations: 4}}
END
expect 0 sweep nsga2.yaml -o n1.sqlite -j 2 --seed 3 --export n1.csv
expect 0 sweep nsga2.yaml -o n1.sqlite -j 2 --seed 3 --export n2.csv
cmp -s n1.csv n2.csv || fail "nsga2 is not resumed to the same points"
expect 0 sweep nsga2.yaml -o n2.sqlite -j 1 --seed 3 --export n3.csv
cmp -s n1.csv n3.csv || fail "nsga2 depends on the number of workers"
sqlite3 n1.sqlite "select value from sweep where name = 'hypervolume'" | grep -q '"generation":4' || fail "hypervolume"
volumes=$(sqlite3 n1.sqlite "select value from sweep where name = 'hypervolume'" | grep -o '"hypervolume":[0-9.]*' | cut -d: -f2)
[ "$(echo "$volumes" | sort -n)" = "$volumes" ] || fail "the hypervolume shrinks: $volumes"

# A later sweep into the same database has no generations.
printf 'network: %s\noptions: {timing_only: true}\nparameters: {pe_array.rows: [4, 8]}\n' "$network" >grid.yaml
expect 0 sweep grid.yaml -o n2.sqlite -q
[ "$(sqlite3 n2.sqlite "select value from sweep where name = 'hypervolume'")" = "[]" ] || fail "hypervolume of an earlier search"

# Constraints that allow one combination of six million: no child breaks them.
cat >tight.yaml <<END
network: $network
options: {timing_only: true}
parameters:
  pe_array.rows: {from: 8, to: 64, step: 1}
  pe_array.cols: {from: 8, to: 64, step: 1}
  cpu.clock_mhz: {from: 1000, to: 3000, step: 1}
constraints: ["pe_array.rows + pe_array.cols == 16 and cpu.clock_mhz == 1000"]
objectives: [total.time_ps, area.total_um2]
search: {nsga2: {population: 8, generations: 2}}
END
expect 0 sweep tight.yaml -o tight.sqlite -q
[ "$(sqlite3 tight.sqlite "select count(*) from points")" = 1 ] || fail "points that the constraints do not allow"

# The small network is better in all.
small=$ZOO/elements/add_full.onnx
sed -e "s#^network:.*#network: [$network, $small]#" -e 's/generations: 4/generations: 8/' nsga2.yaml >networks.yaml
expect 0 sweep networks.yaml -o crowd.sqlite -j 2 -q --seed 4
large=$(sqlite3 crowd.sqlite "select count(*) from points where json_extract(params, '\$.network') = '$network'")
[ "$large" -ge 24 ] && [ "$large" -le 40 ] || fail "$large of 64 points of nsga2 are the large network's"
finish
