#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints as YAML what Ramulator 2.1 is to simulate, with the timings of dram.def: parts.py CHECKOUT KIND [SCHEDULER]

    ddr4, lpddr5, lpddr5-wck   our presets; WCK always on, or synchronised by CAS
    hbm2, hbm3                 both pseudo channels of a channel; a burst of 64 bytes is two requests, of 32 bytes each
    hbm2-whole, hbm3-whole     a burst is one request: it takes the data bus, tCCD and the column bus twice as long, and its last data and
                               what follows them come as late as those of two halves tCCD_L apart
"""
import json
import sys

sys.path.insert(0, sys.argv[1] + "/python")
sys.dont_write_bytecode = True
import ramulator  # noqa: E402

DRAM, CONTROLLER = ramulator.dram, ramulator.controller
QUEUE = 32


def whole(part, turn):
    """The constraints of `part` with its column commands on their bus for two requests; RD to WR `turn` clocks later."""
    config = part.to_config()
    reads, writes = [3, 5], [4, 6]
    for constraint in config["timing_constraints"]:
        if constraint[1:3] == [reads, writes]:
            constraint[3] += turn
    config["timing_constraints"].insert(0, [0, reads + writes, reads + writes, 2 * type(part).tick_multiplier])
    return config


def part(kind):
    """The part, its controller, entries of the queues, what else the controller is told."""
    if kind == "ddr4":
        return DRAM.DDR4(org_preset="DDR4_8Gb_x8", timing_preset="DDR4_2400R", rank=1), CONTROLLER.GenericDDR, QUEUE, {}
    if kind.startswith("lpddr5"):
        more = {"wck_sync_mode": "need_sync" if kind == "lpddr5-wck" else "always_on"}
        return DRAM.LPDDR5(org_preset="LPDDR5_8Gb_x16", timing_preset="LPDDR5_6400"), CONTROLLER.LPDDR5, QUEUE, more
    hbm2 = {"org_preset": "HBM2_8Gb", "timing_preset": "HBM2_2000Mbps"}
    hbm3 = {"org_preset": "HBM3_16Gb_8hi", "timing_preset": "HBM3_6400Mbps", "sid": 1, "nRFC": 560}
    if kind == "hbm2":
        return DRAM.HBM2(**hbm2), CONTROLLER.HBM12, 2 * QUEUE, {}
    if kind == "hbm3":
        return DRAM.HBM3(**hbm3), CONTROLLER.HBM34, 2 * QUEUE, {}
    if kind == "hbm2-whole":
        made = DRAM.HBM2(**hbm2, nBL=4, nCCDS=4, nCCDL=8, nCL=16, nCWL=7, nRTPL=9)
        return whole(made, 2), CONTROLLER.HBM12, QUEUE, {}
    made = DRAM.HBM3(**hbm3, nBL=4, nCCDS=4, nCCDL=8, nCL=22, nCWL=12, nRTP=13, nRTW=24)
    return whole(made, 0), CONTROLLER.HBM34, QUEUE, {}


def main():
    made, controller, queue, more = part(sys.argv[2])
    row_hit = sys.argv[3:] == ["FRFCFS-RowHit"]
    of = controller(dram=made if not isinstance(made, dict) else DRAM.HBM2(org_preset="HBM2_8Gb", timing_preset="HBM2_2000Mbps"),
                    scheduler=ramulator.scheduler.FRFCFSRowHit() if row_hit else ramulator.scheduler.FRFCFS(),
                    refresh_manager=ramulator.refresh_manager.AllBank(), row_policy=ramulator.row_policy.Open(),
                    addr_mapper=ramulator.addr_mapper.PassThroughAddrMapper(), read_buffer_size=queue,
                    write_buffer_size=queue, **more)
    memory = ramulator.memory_system.GenericDRAM(clock_ratio=1, controllers=[of],
                                                 channel_mapper=ramulator.channel_mapper.PassThroughChannelMapper()).to_config()
    if isinstance(made, dict):
        memory["controllers"][0]["dram"] = made
    json.dump({"frontend": ramulator.frontend.External(clock_ratio=1).to_config(), "memory_system": memory}, sys.stdout)


main()
