#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Presets and platform files through `cnnvp check`. The rules of platform files are tested in tests/platform/test_config*.
. "$SOURCE/tests/support/lib.sh"

# The preset, and what the documents give for it.
expect 0 check nfu
for line in "rows: 8" "cols: 8" "queue_depth: 4096" "clock: pe_array" "at: 0x80000000" "size: 128KiB"; do
    says "$line"
done
grep -q '^# 0x80000000 .* dram ' out || fail "no memory map"
cp out resolved.yaml
expect 0 check window
for line in "input_para: 8" "output_para: 8" "fc_para: 16" "lanes: 16"; do
    says "$line"
done
expect 0 check
cmp -s out resolved.yaml || fail "nfu is not the default"
# What is printed is a platform file that means the same, from any folder.
mkdir elsewhere && cd elsewhere || exit 1
expect 0 check ../resolved.yaml
cmp -s out ../resolved.yaml || fail "the resolved configuration does not read back as it is"
cd .. || exit 1

# Every preset there is, is right.
for preset in "$SOURCE"/platform/presets/*.yaml; do
    expect 0 check "$(basename "$preset" .yaml)"
done
refused 2 'there is no preset "no-such" here; there are ' check no-such

printf 'base: nfu\nunits:\n  pe_array: {rows: 16}\n' >wide.yaml
expect 0 check wide.yaml -s pe_array.cols=32 --set input_buffer.size=32KiB
says "rows: 16"
says "cols: 32"
says "size: 32KiB"
printf 'base: nfu\nunits:\n  pe_array: {rosw: 16}\n' >wrong.yaml
refused 2 'cnnvp: wrong.yaml:3:14: pe_array: model nfu has no parameter "rosw"; did you mean "rows"?' check wrong.yaml
refused 2 'cnnvp: --set pe_array.rows=0: pe_array.rows: "0" is out of range: 1 to 64' check nfu -s pe_array.rows=0
refused 2 'is not of the form INSTANCE.PARAM=VALUE' check nfu -s pe_array
refused 2 'did you mean "pe_array"?' check nfu -s pe_aray.rows=8
# A share is of a unit that has a way to the memory: a buffer's user, the memory itself and the bus have none.
for unit in vector dram bus nobody; do
    refused 2 "dram.shares: $unit is no unit that asks this memory; these are: cpu, instruction, dma" check nfu -s dram.arbiter=weighted -s dram.shares=$unit=3
done
expect 0 check nfu -s dram.arbiter=priority -s dram.shares=dma=4,cpu=1
# What changes nothing beside the other parameters is said, but a file may have it for a switch that is off.
in_vain() {
    expect 0 check nfu "$@"
    grep -qF "cnnvp: warning: $vain" err || fail "no warning $vain: $(cat err)"
}
vain='--set dram.shares=dma=4: dram.shares: changes nothing; it has an effect only where arbiter=priority|weighted'
in_vain -s dram.shares=dma=4
vain='--set dram.arbiter=priority: dram.arbiter: priority changes nothing; it has an effect only where shares!='
in_vain -s dram.arbiter=priority
vain='--set dram.power_down_after=32: dram.power_down_after: changes nothing; it has an effect only where power_down!=off'
in_vain -s dram.arbiter=priority -s dram.power_down_after=32
# Refreshes of pseudo channels are staggered, too.
expect 0 check nfu -s dram.preset=hbm2 -s dram.refresh=staggered -s dram.size=1GiB
printf 'base: nfu\nunits:\n  dram: {power_down: power-down, power_down_after: 32}\n' >low.yaml
expect 0 check low.yaml -s dram.power_down=off
expect 0 check low.yaml -s dram.power_down_after=64
# One core: a second would be half there, by whatever name.
cat >twocpu.yaml <<'YAML'
base: nfu
units:
  second: {model: cpu, connect: {bus: bus, mem: dram}}
YAML
refused 2 "cnnvp: twocpu.yaml:3:3: second would run nothing: one program is loaded, and cpu runs it; a platform has one core" \
    check twocpu.yaml
refused 2 "second would run nothing" run lenet5 -p twocpu.yaml --timing-only
cat >device.yaml <<'YAML'
base: nfu
units:
  device: {model: external, at: 0x20000000}
YAML
refused 2 "cnnvp: device.yaml:3:3: device is no unit's memory: model external stands for the off-chip memory" check device.yaml
# Several memories of a program's own, links that lead through it, masters, interrupts alone; and what is none of them.
cat >ports.yaml <<'YAML'
base: nfu
memory: external
units:
  code: {model: external, size: 4GiB}
  instruction: {connect: {fetch: code}}
  noc: {model: external, role: link, connect: {inward: dram}}
  dma: {connect: {mem: noc}}
  master: {model: external, role: link, connect: {inward: bus}}
  button: {model: external, irq: 4}
YAML
expect 0 check ports.yaml
printf 'base: nfu\nunits:\n  master: {model: external, role: link}\n' >nowhere_on.yaml
refused 2 'nowhere_on.yaml:3:3: master: this link leads nowhere; give it `connect: {inward: bus}`' check nowhere_on.yaml
printf 'base: nfu\nunits:\n  noc: {model: external, connect: {inward: dram}}\n' >no_link.yaml
refused 2 'no_link.yaml:3:3: noc: its port inward is that of a link: write `role: link`' check no_link.yaml
# Commands, words and tiles through a link: what is printed says the same.
links() { # INWARD LINK-PARAMETERS UNIT PORT
    printf 'base: nfu\nunits:\n  noc: {model: external, role: link%s, connect: {inward: %s}}\n  %s: {connect: {%s: noc}}\n' "$2" "$1" "$3" "$4" >links.yaml
}
links pe_array "" instruction array
expect 0 check links.yaml
grep -qx '      array: noc' out || fail "the link is not shown"
cp out shown.yaml
expect 0 check shown.yaml
cmp -s out shown.yaml || fail "the link does not go round"
links instruction.done "" dma done
refused 2 'links.yaml:4:25: dma.connect.done: "noc" leads outside, but completions are moments' check links.yaml
links pe_array ", protocol: at" instruction array
refused 2 'links.yaml:4:34: instruction.connect.array: "noc" has protocol: at, but commands, words and tiles cross a link in one call' check links.yaml
links input_buffer "" instruction array
refused 2 'links.yaml:3:56: instruction.connect.array: "input_buffer" takes words of buffers' check links.yaml
links noc "" instruction array
refused 2 'links.yaml:3:56: instruction.connect.array: "noc" is a link behind a link' check links.yaml
links null "" instruction array
refused 2 'links.yaml:4:34: instruction.connect.array: "noc": this link leads nowhere' check links.yaml
refused 2 "nowhere.yaml: cannot be read: No such file or directory" check nowhere.yaml
[ -s out ] && fail "output in spite of an error"

# What is 0 in the DMA is as the memory needs; what is not, stays.
fits() { # PRESET OUTSTANDING PORT [OPTION...]
    preset=$1 bursts=$2 bytes=$3
    shift 3
    expect 0 check "$preset" "$@"
    sed -n '/^  dma:/,/^  [a-z]*:$/p' out | grep -qx "    outstanding: $bursts" || fail "$*: not $bursts bursts"
    sed -n '/^  dma:/,/^  [a-z]*:$/p' out | grep -qx "    port_bytes: $bytes" || fail "$*: not $bytes bytes"
}
fits nfu 16 32
fits nfu 16 16 -s dma.port_bytes=16
fits nfu 32 64 -s dram.preset=ddr5-4800
fits nfu 256 256 -s dram.preset=hbm2
printf 'base: nfu\nunits:\n  dma: {connect: {mem: bus}}\n' >through.yaml
fits through.yaml 256 256 -s dram.preset=hbm2
fits nfu 4 256 -s dram.preset=hbm2 -s dma.outstanding=4
fits nfu 32 32 -s dram.preset=hbm2 -s dram.channels=1
fits nfu 1024 1KiB -s dram.preset=hbm3
fits nfu 32 32 -s dram.preset=hbm3 -s dram.port_bytes=16
fits nfu 256 512 -s dram.preset=hbm2 -s pe_array.clock_mhz=600
fits trainer 16 128
printf 'base: nfu\nmemory: external\n' >outside.yaml
fits outside.yaml 16 32

# A parameter of every accelerator at once.
dual=$SOURCE/scripts/examples/accelerators/dual.yaml
expect 0 check "$dual" -s accelerators.pe_array.rows=16 -s accelerators.input_buffer.size=16KiB
[ "$(grep -cx '    rows: 16' out)" = 2 ] || fail "not the rows of both arrays"
[ "$(grep -cx '    size: 16KiB' out)" = 2 ] || fail "not the size of both buffers"
refused 2 'pe_array_2.rows is 16, and pe_array.rows is 8' check "$dual" -s accelerators.pe_array.rows=16 -s pe_array.rows=8
expect 0 check nfu -s accelerators.pe_array.rows=16
says "rows: 16"
refused 2 'cnnvp: --set pe_array_2.rows=0: pe_array_2.rows: "0" is out of range' check "$dual" -s accelerators.pe_array.rows=0 \
    -s pe_array.rows=8
refused 2 'cnnvp: --set "dram_2.channels=2": the platform has no such instance' check "$dual" -s accelerators.dram.channels=2
refused 2 'is not of the form INSTANCE.PARAM=VALUE' check "$dual" -s accelerators.rows=1
refused 2 'is not of the form INSTANCE.PARAM=VALUE' check "$dual" -s accelerators.pe_array
printf 'base: nfu\nunits: {instruction: null}\n' >unled.yaml
refused 2 'the platform has no such instance' check unled.yaml -s accelerators.pe_array.rows=1

# What units say of their own parameters, and what networks need, is found too, with its place.
printf 'base: nfu\nunits:\n  dram: {drain_low: 90}\n' >wrong.yaml
refused 2 'cnnvp: wrong.yaml:3:21: dram.drain_low: drain_low is 90 percent; it must be less than drain_high' check wrong.yaml
printf 'base: nfu\nunits:\n  pe_array: {connect: {input: dram.mem}}\n' >wrong.yaml
refused 2 'cnnvp: wrong.yaml:3:31: pe_array.connect.input: "dram.mem" takes plain reads and writes, but this port sends words' \
    check wrong.yaml
printf 'base: nfu\nunits:\n  pe_array: {connect: {input: output_buffer}}\n' >wrong.yaml
refused 2 'cnnvp: wrong.yaml:3:31: pe_array.connect.input: leads to output_buffer.port; networks need input_buffer there' \
    check wrong.yaml
printf 'base: trainer\nunits:\n  relu: {connect: {next: relu}}\n' >wrong.yaml
refused 2 'cnnvp: wrong.yaml:3:26: relu.connect.next: tiles would go round in a circle: relu -> relu' check wrong.yaml
refused 2 'cnnvp: --set dma.word_bytes=2: dma.word_bytes: is 2; networks on the training engine need 1' \
    check trainer -s dma.word_bytes=2
refused 2 'cnnvp: --set dma.word_bytes=1: dma.word_bytes: is 1; networks need 2' check nfu -s dma.word_bytes=1
[ -s out ] && fail "output in spite of an error"
# A platform without what networks need is one for other programs; a third-party memory need not be there.
printf 'base: nfu\nunits:\n  instruction: null\n  dma: null\n  plic: null\n  uart: {irq: null}\n' >bare.yaml
expect 0 check bare.yaml
says "# networks cannot run on it: the platform has no"
for unit in vector dma; do
    printf 'base: nfu\nunits:\n  instruction: {connect: {%s: null}}\n  %s: null\n' $unit $unit >bare.yaml
    expect 0 check bare.yaml
    says ": instruction.$unit: the platform has no instance $unit, which networks need there"
    refused 2 "cnnvp: bare.yaml:3:" run "$SOURCE/scripts/networks/lenet5.onnx" -p bare.yaml
done
printf 'base: nfu\nmemory: external\n' >outside.yaml
expect 0 check outside.yaml

# The header says what the memory map says, for C and for an assembler, and compiles for each preset.
for preset in nfu window trainer; do
    expect 0 check $preset --header map.h
    echo '#include "map.h"
int check[INSTRUCTION_BASE == 0x10010000 && INSTRUCTION_IRQ == 1 && DRAM_BASE == 0x80000000 ? 1 : -1];' >map.c
    "$RISCV_GCC" -std=c99 -Wall -Wextra -pedantic -Werror -c map.c -o map.o || fail "the header of $preset"
done
grep -q '^#define INSTRUCTION_CTRL_ENABLE_MASK 0x1 ' map.h || fail "no fields: $(grep CTRL map.h)"
refused 2 "map.c is a folder" check nfu --header "$(rm map.c && mkdir map.c && echo map.c)"
refused 2 "wide.yaml is also the file of --platform" check wide.yaml --header wide.yaml

# A copy of presets elsewhere comes first.
mkdir mine
printf 'base: %s/wide.yaml\n' "$PWD" >mine/broad.yaml
CNNVP_PRESETS=$PWD/mine
export CNNVP_PRESETS
expect 0 check broad
says "rows: 16"
# An instance that null takes away, and one that needs it: the file is at fault, not its base.
printf 'base: nfu\nunits:\n  dma: null\n' >taken.yaml
refused 2 "taken.yaml:3:8: dma: null takes it away, but instruction.connect.dma names it" check taken.yaml

# Units that nothing drives, and units that networks' software does not drive.
lenet=$SOURCE/scripts/networks/lenet5.onnx
printf 'base: nfu\nunits:\n  spare: {model: buffer}\n' >spare.yaml
refused 2 'cnnvp: spare.yaml:3:3: spare: no other instance'"'"'s port leads to it' check spare.yaml
printf 'base: nfu\nunits:\n  spare: {model: buffer, idle: true}\n' >idle.yaml
expect 0 check idle.yaml
says "    idle: true"
expect 0 run "$lenet" -p idle.yaml --timing-only -q
cat >second.yaml <<'END'
base: nfu
units:
  second:
    {model: instruction, at: 0x10030000, irq: 5, connect: {array: array, vector: vector, dma: dma, fetch: dram}}
  array: {model: nfu, connect: {input: input_buffer, weight: weight_buffer, output: output_buffer}}
END
expect 0 check second.yaml # other programs may use it
says "networks cannot run on it: second.yaml:3:3: second: the software that runs networks does not use it, nor array"
refused 2 'cnnvp: second.yaml:3:3: second: the software that runs networks does not use it, nor array; connect it' \
    run "$lenet" -p second.yaml --timing-only
sed 's/{model: instruction/{idle: true, model: instruction/' second.yaml >second_idle.yaml
expect 0 run "$lenet" -p second_idle.yaml --timing-only -q

# Costs: tables that are incomplete, negative, no numbers, of another form, and technologies that are unknown.
bad_table() { # message, the file's lines
    printf 'base: nfu\nenergy: own.yaml\n' >costs.yaml
    printf "$2" >own.yaml
    refused 2 "$1" check costs.yaml
}
bad_table 'own.yaml:1:1: entries: int8_mul is missing; `base: horowitz`' 'table: mine\n'
bad_table 'own.yaml:2:10: entries: int8_mul is missing' 'table: mine\nentries: {int8_add: 1}\n'
bad_table 'own.yaml:2:10: entries: a list where a map is expected' 'base: horowitz\nentries: [1]\n'
bad_table 'own.yaml:1:1: unknown key "version"; an energy table has table, base' 'version: 2\nbase: horowitz\n'
bad_table 'own.yaml: is empty; it has keys such as table, base, entries' ''
bad_table 'own.yaml:1:1: a list where a map is expected, with keys such as table, base, entries' '[1, 2]\n'
bad_table 'own.yaml:1:7: energy: there is no table "horowitz2"' 'base: horowitz2\n'
for number in -1 nan .nan inf 1e5 1000000001 0x10 "'"; do
    bad_table 'own.yaml:2:' "base: horowitz\nentries: {int8_add: $number}\n"
done
for setting in dram_byte=-5 dram_byte=nan dram_byte= dram_bite=1 technology=65 technology=-45nm table=none.yaml; do
    refused 2 "set energy.$setting: " check nfu -s energy.$setting
done
printf 'base: nfu\ntechnology: 7nm\n' >node.yaml
refused 2 'node.yaml:2:13: technology: "7nm" is none; did you mean "45nm"?' check node.yaml

# A network: which of its operators run where. S000's units for pools and fully connected layers have columns of their own;
# functions that are part of a convolution have no layer.
squeezed() { tr -s ' ' <out >squeezed; }
row() { grep -qx "$1" squeezed || fail "no row \"$1\": $(cat squeezed)"; }
expect 0 check "$lenet"
squeezed
row 'operator nodes pe_array'
row 'Conv 2 2'
row 'Relu 4 -'
row 'Gemm 3 3'
says '7 layers, 416520 MACs an image.'
cp out by_file
expect 0 check nfu lenet5
cmp -s out by_file || fail "lenet5 by its name has another table"
expect 0 check lenet5 -p window
squeezed
row 'operator nodes vector pooling pe_array fully_connected'
row 'Conv 2 1 - 1 -'
row 'MaxPool 2 - 2 - -'
row 'Gemm 3 - - - 3'
expect 0 check mixed
squeezed
row 'operator nodes pe_array vector'
expect 0 check lenet5 -p trainer
# What cannot run is all named, and the first of it refused; what comes before it can be checked.
LC_ALL=C sed 's/MaxPool/NoSuchA/; s/Flatten/NoSuchB/' "$lenet" >unknown.onnx
refused 2 '(NoSuchA): this operator is not supported' check unknown.onnx
squeezed
row 'NoSuchA [12] not supported'
row 'NoSuchB 1 not supported'
row 'Conv 2'
refused 2 'weight_buffer' check lenet5 -s weight_buffer.size=64
refused 2 'one network is expected, not also vgg16_cifar' check lenet5 vgg16_cifar
refused 2 'shape, --from and --until are of a network' check --until x
refused 2 'header is of a platform' check lenet5 --header x.h
finish
