# SPDX-License-Identifier: Apache-2.0
# Rules for a guest program in which your functions replace some of ours, for `include`. Set before: PROGRAM, the name
# of its ELF file without .elf; SOURCES, its C files. A function that they define replaces ours in calls from other
# files; the rest comes from libcnnvp_guest.a.
GUEST := $(dir $(lastword $(MAKEFILE_LIST)))
RISCV_CC ?= riscv64-unknown-elf-gcc
CFLAGS ?= -O2 -g -Wall -Wextra
GUEST_CFLAGS := -std=c11 -march=rv32imac -mabi=ilp32 -misa-spec=2.2 -ffreestanding -fno-tree-loop-distribute-patterns \
    -nostdlib -nostartfiles -I$(GUEST)

$(PROGRAM).elf: $(SOURCES) $(wildcard *.h $(GUEST)*.h $(GUEST)binary/*.h $(GUEST)*.a)
	$(RISCV_CC) $(GUEST_CFLAGS) $(CFLAGS) -T $(GUEST)link.ld -Wl,-z,muldefs $(SOURCES) \
	    -L$(GUEST) -lcnnvp_guest -lgcc -o $@

.PHONY: clean
clean:
	rm -f $(PROGRAM).elf
.DEFAULT_GOAL := $(PROGRAM).elf
