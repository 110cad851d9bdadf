# SPDX-License-Identifier: Apache-2.0
# Rules for a program on the kit, for `include`. Set before: PROGRAM, the name of its ELF file without .elf; SOURCES, its
# C files; PLATFORM, the preset or platform file that it is for; CNNVP, the command cnnvp, which runs it.
KIT := $(dir $(lastword $(MAKEFILE_LIST)))
RISCV_CC ?= riscv64-unknown-elf-gcc
CFLAGS ?= -O2 -g -Wall -Wextra
# kit.ldflags puts program and data into the first 32 MiB of the memory at 0x80000000. kit.cmake uses the same flags.
KIT_CFLAGS := @$(KIT)kit.cflags -I. -I$(KIT)
KIT_LDFLAGS := @$(KIT)kit.ldflags

$(PROGRAM).elf: $(SOURCES) platform.h $(wildcard *.h $(KIT)*.h $(KIT)*.c)
	$(RISCV_CC) $(KIT_CFLAGS) $(CFLAGS) $(SOURCES) $(KIT)kit.c $(KIT)machine.c $(KIT)element.c $(KIT_LDFLAGS) -o $@

# Written again when the platform file changes.
platform.h: $(wildcard $(PLATFORM))
	$(CNNVP) check $(PLATFORM) --header $@ >/dev/null

.PHONY: run clean
run: $(PROGRAM).elf
	$(CNNVP) exec $< -p $(PLATFORM)
clean:
	rm -f $(PROGRAM).elf platform.h
.DEFAULT_GOAL := $(PROGRAM).elf
