#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What memory parts deliver, each beside its peak.
. "$SOURCE/tests/support/lib.sh"

# Each part beside its peak: none delivers more; bank groups lowest, reads come nearer to it than one bank after another.
expect 0 memory --stream
cp out all
grep -c '^[a-z].* %.*%' all | grep -qx 8 || fail "not eight parts: $(cat all)"
awk 'NR > 1 { for (i = 4; i <= NF; i += 3) if ($i > 100 || $i < 5) exit 1 }' all || fail "more than the peak: $(cat all)"
expect 0 memory --stream -s dram.mapping=row-bank-column
awk 'NR == FNR { was[$1] = $3; next } $1 == "ddr4-3200" && was[$1] < 1.3 * $3 { exit 1 }' all out ||
    fail "bank groups change nothing: $(cat out)"
# Every part comes to 90 % of its peak, HBM but for a half, and strides of 4 KiB on DDR4 and DDR5 nearly, where a row has several of them.
awk 'NR > 1 && $4 < (/^hbm/ ? 89 : 90) || /^ddr[45]/ && $13 < 85 { exit 1 }' all || fail "below its peak: $(cat all)"
# hbm3 refreshes for 350 ns in each of the 3.9 us that are measured.
expect 0 memory --stream -s dram.preset=hbm3 -s dram.refresh=ideal
awk 'NR == FNR { was[$1] = $3; next } FNR == 2 && was[$1] > $3 * (1 - 350 / 3900) { exit 1 }' all out ||
    fail "refreshes are left out: $(cat out)"
# A part that is set, wherever, is the only one.
expect 0 memory --stream -s dram.preset=hbm2
{ head -n 1 all && grep '^hbm2 ' all; } | cmp -s - out || fail "not hbm2 alone: $(cat out)"
printf 'platform: mine\nbase: nfu\nunits: {dram: {preset: ddr4-2400}}\n' >mine.yaml
expect 0 memory --stream -p mine.yaml
{ head -n 1 all && grep '^ddr4-2400 ' all; } | cmp -s - out || fail "not ddr4-2400 alone: $(cat out)"
# Twice as fast, a part delivers twice as much.
expect 0 memory --stream -s dram.preset=hbm2 -s dram.speedup=2
awk 'NR == FNR { was[$1] = $2 * 2; next } /^hbm2/ && (was[$1] != $2 || $4 > 100) { exit 1 }' all out ||
    fail "a part with speedup: $(cat out)"
refused 2 'width_bits is 32; a channel of hbm2 has 128 bits' memory --stream -s dram.preset=hbm2 -s dram.width_bits=32
# Half the bits carry half as much; others than those of whole devices are refused, hbm2 is left out.
expect 0 memory --stream -s dram.width_bits=32
awk 'NR == FNR { was[$1] = $2; next } /^ddr[34]/ && ($2 - was[$1] / 2) ^ 2 > 0.0001 { exit 1 } FNR > 1 && $4 < 85 { exit 1 }' all out ||
    fail "of 32 bits: $(cat out)"
grep -q hbm2 out && fail "hbm2 of 32 bits"
for bits in 48 4 128; do
    refused 2 "width_bits is $bits; a channel of ddr4-2400 has 64 bits of 8 a device" check nfu -s dram.width_bits=$bits
done
# A pseudo channel's bits are none of a channel's: files that counted so hear the right numbers.
refused 2 'width_bits is 64; a channel of hbm2 has 128 bits, in 2 pseudo channels: what were 16 channels of 64 bits are channels=8 and width_bits=0' \
    check nfu -s dram.preset=hbm2 -s dram.channels=16 -s dram.width_bits=64
refused 2 'what were 2 channels of 32 bits are channels=1 and' check nfu -s dram.preset=hbm3 -s dram.channels=2 -s dram.width_bits=32
refused 2 'pseudo_channels is 2; a channel of ddr4-2400 has 1' check nfu -s dram.pseudo_channels=2
expect 0 check nfu -s dram.preset=hbm2 -s dram.channels=16 -s dram.width_bits=64 -s dram.pseudo_channels=1
refused 2 'width_bits is 16; a channel of hbm3 has 64 bits of 32' check nfu -s dram.preset=hbm3 -s dram.width_bits=16
refused 2 '1073741824 bytes are more than the 536870912 of its channels and ranks' check nfu -s dram.preset=hbm3 \
    -s dram.channels=1 -s dram.size=1GiB
# Capacity is that of the devices, as far as there are addresses: to 4 GiB, or to the next window.
while read -r size settings; do
    # shellcheck disable=SC2086 # a list of words
    expect 0 check nfu $settings
    grep -A3 '^  dram:' out | grep -q "size: $size\$" || fail "$settings: $(grep -A3 '^  dram:' out)"
done <<SIZES
2GiB
1GiB -s dram.preset=lpddr4-3200
512MiB -s dram.preset=hbm3 -s dram.channels=1
64MiB -s dram.size=64MiB
SIZES
printf 'base: nfu\nunits: {uart: {at: 0xa0000000}}\n' >above.yaml
expect 0 check above.yaml
says '# 0x80000000  0x9fffffff   536870912  -     dram'
refused 2 'ranks is 3; it must be 1, 2 or 4' check nfu -s dram.ranks=3
refused 2 'ranks is 4; a channel has at most 64 banks, and a rank of this part 32' check nfu -s dram.preset=ddr5-4800 \
    -s dram.ranks=4
expect 0 memory --stream --outstanding 1
awk 'NR == FNR { was[$1] = $3; next } FNR > 1 && $3 > was[$1] / 2 { exit 1 }' all out || fail "one at a time: $(cat out)"
finish
