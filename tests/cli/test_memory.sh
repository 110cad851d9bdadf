#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cnnvp memory: what it prints for a trace, and what it says of bad ones.
. "$SOURCE/tests/cli/lib.sh"

# 1024 sequential reads in hexadecimal, then the same in decimal with comments and blank lines.
i=0
while [ $i -lt 1024 ]; do
    printf 'R 0x%x\n' $((i * 64)) >>hex.txt
    printf '  r\t%d # burst\r\n\n' $((i * 64)) >>dec.txt
    i=$((i + 1))
done
expect 0 memory hex.txt --stats hex.json
says 'bursts             1024 (1024 reads, 0 writes)'
says 'row misses         8'
says 'row hits           1016'
cp out hex.out
expect 0 memory dec.txt
cmp -s out hex.out || fail "decimal and hexadecimal differ"
grep -q '"schema": *"cnnvp-stats/1"' hex.json || fail "no schema in the statistics"
grep -q '"row_hits": *1016' hex.json || fail "no row hits in the statistics"

# One read on its way pays the whole latency; another part has another clock.
expect 0 memory hex.txt --outstanding 1
says 'mean read latency  17.'
expect 0 memory hex.txt -s dram.preset=ddr3-1600 -s dram.page=closed -s dram.scheduler=fcfs
says 'row conflicts      0'
expect 0 memory hex.txt --trace bandwidth.vcd
[ -s bandwidth.vcd ] || fail "no trace"

bad() {
    printf "$1" >bad.txt
    refused 2 "cnnvp: bad.txt:$2" memory bad.txt --stats bad.json --trace bad.vcd
    absent bad.json bad.vcd
}
bad 'R 0\nX 64\n' '2:1: R or W is due, not "X"'
bad 'R\n' "1:2: a blank is due, not the line's end"
bad 'R 0x\n' "1:5: an address is due, decimal or 0x..., not the line's end"
bad 'W  -1\n' '1:4: an address is due, decimal or 0x..., not "-"'
bad 'R 0\n\n# x\n R 12 13\n' '4:7: nothing may follow the address but a # comment, not "1"'
bad 'R 0xfffffffffffffffff\n' '1:3: the address does not fit into 64 bits'
bad 'R 18446744073709551616' '1:3: the address does not fit into 64 bits'
bad '# nothing\n' ' has no bursts'
refused 2 'none.txt: cannot be read' memory none.txt
refused 2 'cannot be read' memory .
refused 2 'TRACE.txt is missing' memory
refused 2 'one trace is due' memory hex.txt dec.txt
refused 2 '--outstanding' memory hex.txt --outstanding 0
refused 2 't_ras is 3 clocks, less than t_rcd, which is 16' memory hex.txt -s dram.t_ras=3
refused 2 'it must be t_ras + t_rp' memory hex.txt -s dram.t_rc=60
refused 2 'ddr5' memory hex.txt -s dram.preset=ddr5

finish
