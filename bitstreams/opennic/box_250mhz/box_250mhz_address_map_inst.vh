// Included by the shell's box_250mhz.sv. Its only block receives all box-relative addresses, so
// nothing is decoded.
