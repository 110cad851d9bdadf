# SPDX-License-Identifier: Apache-2.0
# Rules for a program with the kit, for `include`. Say before: PROGRAM, the name of its ELF file without .elf; SOURCES,
# its C files; PLATFORM, the preset or platform file that it is for. CNNVP is the program that runs it.
KIT := $(dir $(lastword $(MAKEFILE_LIST)))
RISCV_CC ?= riscv64-unknown-elf-gcc
CFLAGS ?= -O2 -g -Wall -Wextra
# Program and data in the first 32 MiB of the memory at 0x80000000.
KIT_CFLAGS := -std=c11 -march=rv32imac -mabi=ilp32 -misa-spec=2.2 --specs=picolibc.specs -I. -I$(KIT)
KIT_LDFLAGS := --crt0=hosted -Wl,--defsym=__flash=0x80000000,--defsym=__flash_size=0x400000 \
    -Wl,--defsym=__ram=0x80400000,--defsym=__ram_size=0x1c00000,--defsym=__stack_size=0x10000,--no-warn-rwx-segments

$(PROGRAM).elf: $(SOURCES) platform.h $(wildcard *.h $(KIT)*.h $(KIT)*.c)
	$(RISCV_CC) $(KIT_CFLAGS) $(CFLAGS) $(SOURCES) $(KIT)kit.c $(KIT)machine.c $(KIT)element.c $(KIT_LDFLAGS) -o $@

# Again where the platform changes.
platform.h: $(wildcard $(PLATFORM))
	$(CNNVP) check $(PLATFORM) --header $@ >/dev/null

.PHONY: run clean
run: $(PROGRAM).elf
	$(CNNVP) exec $< -p $(PLATFORM)
clean:
	rm -f $(PROGRAM).elf platform.h
.DEFAULT_GOAL := $(PROGRAM).elf
