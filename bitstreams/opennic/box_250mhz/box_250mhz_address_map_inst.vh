// Included by the shell's box_250mhz.sv. One block, which gets all box-relative addresses: nothing to decode.
