#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help, versions, wrong words and wrong options.
. "$SOURCE/tests/support/lib.sh"

expect 0 --version
says "cnnvp 0.1.0"
says "model ABI 3."
says "SystemC "
for command in run train exec models check compile memory asm disasm sweep diff report; do
    expect 0 --help
    says "  $command "
    expect 0 $command --help
    says "Usage: cnnvp $command "
    expect 0 $command -h
    says "Usage: cnnvp $command "
    expect 0 $command --version
    says "SystemC "
    refused 2 "unrecognized option '--no-such-option'" $command --no-such-option
    grep -qF "Try \`cnnvp $command --help'" err || fail "another help than that of $command: $(cat err)"
done

for list in "" help -h --help "help help"; do
    # shellcheck disable=SC2086 # nothing, or one word
    expect 0 $list
    says "  sweep "
    says "  report "
done
expect 0 help run
says "Usage: cnnvp run "
refused 2 "there is no command \"rnu\"; did you mean \"run\"?" rnu
refused 2 "there is no command \"simulate\"; there are run, train, exec" simulate
refused 2 "there is no command \"halp\"; did you mean \"help\"?" halp
refused 2 "there is no command \"swep\"; did you mean \"sweep\"?" help swep
refused 2 "NETWORK is missing" run
refused 2 "PROGRAM.elf or PROGRAM.bin is missing" exec
refused 2 "FILE.s is missing" asm
refused 2 "-o FILE.bin is missing" asm x.s
refused 2 "FILE.bin is missing" disasm
refused 2 "one network is expected, not also b.onnx" run a.onnx b.onnx
refused 2 "one platform is expected, not also b" check a b
refused 2 "one kind is expected, not also b" models a b

for time in 0 0s 5 s 1h -1s 1.s .5s 1e3s 20000000s 99999999999999999999ps "1 s" ""; do
    refused 2 "is not a time above 0" run x.onnx --max-time "$time"
done
for seed in -1 x 0x 18446744073709551616 1.5 ""; do
    refused 2 "--seed: " run x.onnx --seed "$seed"
done
refused 2 "--block: " run x.onnx --block 0
refused 2 "--block changes nothing without --schedule depth-first" run x.onnx --block 4
refused 2 "block-order" run x.onnx --block-order table
refused 2 "halo" run x.onnx --halo row
refused 2 "--images: " run x.onnx --images 0
refused 2 "--schedule: \"depth\" is not one of layer|depth-first|fused|auto" run x.onnx --schedule depth
refused 2 "is not one of layer|depth-first|fused|auto; did you mean \"depth-first\"?" run x.onnx --schedule depth-frist
refused 2 "--rounding: \"up\" is not one of truncate|nearest|stochastic" run x.onnx --rounding up

# Full disk, as far as a test can have one.
if [ -c /dev/full ]; then
    for call in models --version --help "run --help"; do
        # shellcheck disable=SC2086
        "$CNNVP" $call >/dev/full 2>err
        [ $? -eq 1 ] || fail "a full disk goes unnoticed: cnnvp $call"
        [ "$(grep -c "standard output cannot be written" err)" -eq 1 ] || fail "no word of the full disk: cnnvp $call"
    done
fi
finish
