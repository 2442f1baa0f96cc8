//! The script that builds the Alveo shells sets each parameter of the vendor's IP that the design
//! depends on, and no others.
//!
//! Elaboration cannot find a missing parameter, because the stubs have none. The list is from the
//! documents named in it, whose revisions were not recorded, and from an endpoint bridge generated
//! by Vivado 2024.1 (`aws/aws-fpga`, commit `fd77a72`, `pcie_bridge_ep.xci`).
//!
//! Limits: this does not show that Vivado accepts the script. Of Tcl, only calls `ip NAME MODULE
//! [list CONFIG.A {B} ...]` are read, and parameters elsewhere are refused.

use std::collections::BTreeMap;
use std::fs;

use super::boards::folder;
use optireduce_contract::limits::{BEAT_BYTES, CLOCK_MHZ, QUEUES};
use optireduce_contract::packet::HEADER_BYTES;
use optireduce_contract::pci::{BAR, BAR0_BYTES, CLASS, DEVICE_ID, MSIX_PENDING, MSIX_TABLE, VENDOR_ID};

/// Width in bits of the shells' AXI identifiers.
const ID_BITS: usize = 4;
const READS: usize = 16;

/// Parameters by module and name, without `CONFIG.`.
type Parameters = BTreeMap<(String, String), String>;

enum Is {
    Text(String),
    AtLeast(usize),
    /// Any value, set by the board.
    Given,
}

fn common(name: &str) -> String {
    fs::read_to_string(folder().join("common").join(name)).expect("it is in the tree")
}

fn script() -> String {
    common("alveo.tcl")
}

fn read(script: &str) -> Result<Parameters, String> {
    let script = script.replace("\\\n", " ");
    let mut found = Parameters::new();
    for line in script.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if !line.starts_with("ip ") {
            if line.contains("CONFIG.") {
                return Err(format!(
                    "found parameters outside of `ip NAME MODULE [list CONFIG.A {{B}} ...]`, where they are not compared with the list; set them there: {line}"
                ));
            }
            continue;
        }
        let (head, list) = line.split_once("[list ").ok_or_else(|| format!("no list: {line}"))?;
        let module = head.split_whitespace().nth(2).ok_or_else(|| format!("no module: {line}"))?;
        let mut rest = list.trim_end_matches(']').trim();
        while !rest.is_empty() {
            let (name, after) = rest.split_once(' ').ok_or_else(|| format!("{module}: {rest} has no value"))?;
            let name = name.strip_prefix("CONFIG.").ok_or_else(|| format!("{module}: {name} is no parameter"))?;
            let (value, after) = match after.trim_start().strip_prefix('{') {
                Some(braced) => braced.split_once('}').ok_or_else(|| format!("{module}: {name}: no closing brace"))?,
                None => after.trim_start().split_once(' ').unwrap_or((after.trim(), "")),
            };
            rest = after.trim_start();
            if found.insert((module.into(), name.into()), value.into()).is_some() {
                return Err(format!("{module}: {name} is set twice"));
            }
        }
    }
    Ok(found)
}

/// Parameters that the design depends on: IP, parameter, value, reason.
fn expected() -> Vec<(&'static str, &'static str, Is, &'static str)> {
    use Is::{AtLeast, Given};
    let is = |value: &str| Is::Text(value.into());
    let bridge = "xdma_0";
    let lanes = format!("{}_bit", 8 * BEAT_BYTES);
    let (width, protocol, mac) = ("axi_dwidth_converter_0", "axi_protocol_converter_0", "cmac_usplus_0");
    vec![
        // PG195, DMA/Bridge Subsystem for PCI Express, "Basic Tab" and following. PG194, AXI Bridge
        // for PCI Express Gen3, describes the bridge mode. Harmful defaults are named.
        (bridge, "functional_mode", is("AXI_Bridge"), "the card masters host memory itself"),
        (bridge, "mode_selection", is("Advanced"), "class code, BARs and MSI-X can only be set with it"),
        (bridge, "device_port_type", is("PCI_Express_Endpoint_device"), "not a root port"),
        (bridge, "PCIE_BOARD_INTERFACE", is("pci_express_x16"), "transceivers of the lanes, from the board's file"),
        (bridge, "SYS_RST_N_BOARD_INTERFACE", is("pcie_perstn"), "pin and polarity of PERST#, from the board's file"),
        (bridge, "ref_clk_freq", is("100_MHz"), "the slot's clock, as in alveo.xdc"),
        (bridge, "pl_link_cap_max_link_width", is("X16"), "the lanes that shell.v has"),
        (bridge, "pl_link_cap_max_link_speed", is("8.0_GT/s"), "with 16 lanes, a beat per cycle"),
        (bridge, "axi_data_width", is(&lanes), "a beat per cycle"),
        (bridge, "axi_addr_width", is("64"), "host memory has addresses of 64 bits"),
        (bridge, "axi_id_width", is(&ID_BITS.to_string()), "width of the identifier wires"),
        (bridge, "axisten_freq", is(&CLOCK_MHZ.to_string()), "the card runs with the bridge's clock"),
        (bridge, "dma_reset_source_sel", is("User_Reset"), "a reset of the bus resets the card: PG194, \"Resets\""),
        (bridge, "en_axi_master_if", is("true"), "the way from the host to the registers"),
        (bridge, "en_axi_slave_if", is("true"), "the way from the card to host memory"),
        (bridge, "axibar_num", is("1"), "one aperture; without it, no address of the card reaches host memory"),
        (bridge, "axibar_0", is("0x0000000000000000"), "the aperture begins at 0"),
        (
            bridge,
            "axibar_highaddr_0",
            is("0xFFFFFFFFFFFFFFFF"),
            "and ends at the last address, because IOVAs may be anywhere; default: 0",
        ),
        (bridge, "axibar2pciebar_0", is("0x0000000000000000"), "addresses are passed to PCIe unchanged"),
        (bridge, "c_s_axi_num_read", AtLeast(READS), "with the default of 8, the card's reads would wait"),
        (bridge, "c_s_axi_num_write", is("8"), "the bridge's maximum"),
        (bridge, "vendor_id", is(&format!("{VENDOR_ID:04X}")), "the driver looks for it"),
        (bridge, "pf0_device_id", is(&format!("{DEVICE_ID:04X}")), "the driver looks for it"),
        (bridge, "pf0_class_code_base", is(&format!("{:02}", CLASS >> 16)), "network controller; default: serial port"),
        (bridge, "pf0_class_code_sub", is(&format!("{:02}", CLASS >> 8 & 0xff)), "Ethernet"),
        (
            bridge,
            "pf0_class_code_interface",
            is(&format!("{:02}", CLASS & 0xff)),
            "none; default: 01, of a serial port",
        ),
        (bridge, "pf0_bar0_enabled", is("true"), "the registers"),
        (bridge, "pf0_bar0_64bit", is("true"), "64 bits, like MSI-X's BAR_1:0 and the simulated card"),
        (bridge, "pf0_bar0_prefetchable", is("false"), "bridges must not merge the host's writes"),
        (bridge, "pf0_bar0_scale", is("Kilobytes"), "unit of pf0_bar0_size"),
        (bridge, "pf0_bar0_size", is(&(BAR0_BYTES >> 10).to_string()), "registers, MSI-X table, pending bits"),
        (bridge, "pf0_bar2_enabled", is("false"), "one BAR"),
        (bridge, "pf0_bar4_enabled", is("false"), "one BAR"),
        (bridge, "pciebar2axibar_0", is("0x0000000000000000"), "registers are at offset 0 for the card"),
        (bridge, "pf0_interrupt_pin", is("NONE"), "no INTx, because nothing asserts it; default: INTA"),
        (bridge, "pf0_msi_enabled", is("false"), "MSI-X instead; default: true"),
        (bridge, "pf0_msix_enabled", is("true"), "a vector for each queue pair"),
        (bridge, "pf0_msix_impl_locn", is("External"), "the table is msix_table.v, not the bridge's"),
        (
            bridge,
            "pf0_msix_cap_table_size",
            is(&format!("{:03X}", QUEUES - 1)),
            "number of vectors, less one (PCIe 6.2, 7.7.2.2)",
        ),
        (bridge, "pf0_msix_cap_table_bir", is("BAR_1:0"), "the table is in BAR 0, of 64 bits"),
        (bridge, "pf0_msix_cap_table_offset", is(&format!("{MSIX_TABLE:08x}")), "as in msix_table.v"),
        (bridge, "pf0_msix_cap_pba_bir", is("BAR_1:0"), "as the table"),
        (bridge, "pf0_msix_cap_pba_offset", is(&format!("{MSIX_PENDING:08x}")), "as in msix_table.v"),
        // PG059, AXI Interconnect: "AXI Data Width Converter Parameters", "AXI Protocol Converter
        // Parameters", "Address Width". A block design would set some of these automatically.
        (width, "PROTOCOL", is("AXI4"), "the bridge sends bursts"),
        (width, "ADDR_WIDTH", is("64"), "same as the bridge; default: 32"),
        (width, "SI_DATA_WIDTH", is(&(8 * BEAT_BYTES).to_string()), "same as the bridge"),
        (width, "MI_DATA_WIDTH", is("32"), "registers are words"),
        (width, "SI_ID_WIDTH", is(&ID_BITS.to_string()), "same as the bridge; default: 0"),
        (protocol, "SI_PROTOCOL", is("AXI4"), "same as the other converter"),
        (protocol, "MI_PROTOCOL", is("AXI4LITE"), "input of msix_table.v"),
        (protocol, "ADDR_WIDTH", is("64"), "same as the other converter; default: 32"),
        (protocol, "DATA_WIDTH", is("32"), "same as the other converter"),
        (protocol, "ID_WIDTH", is("0"), "the other converter keeps the identifiers"),
        (protocol, "TRANSLATION_MODE", is("2"), "bursts from the host are cut into words"),
        // PG203, UltraScale+ Integrated 100G Ethernet: "General Tab", "Attribute Descriptions",
        // "Without AXI4-Lite Interface".
        (mac, "CMAC_CAUI4_MODE", is("1"), "QSFP28 has four lanes; default: ten"),
        (mac, "NUM_LANES", is("4x25"), "same as CMAC_CAUI4_MODE"),
        (mac, "USER_INTERFACE", is("AXIS"), "the crossings take AXI streams; default: LBUS"),
        (mac, "GT_REF_CLK_FREQ", Given, "the board's oscillator"),
        (
            mac,
            "GT_DRP_CLK",
            is(&format!("{}.00", CLOCK_MHZ / 2)),
            "init_clk: alveo.v halves the bridge's clock; default: 100",
        ),
        (mac, "CMAC_CORE_SELECT", Given, "the MAC beside the board's cage"),
        (mac, "GT_GROUP_SELECT", Given, "the transceivers of the board's cage"),
        (
            mac,
            "ENABLE_AXI_INTERFACE",
            is("0"),
            "alveo.v enables the MAC by the ports ctl_*, which exist only without it",
        ),
        (mac, "INCLUDE_RS_FEC", is("1"), "100GBASE-CR4 and -SR4 need it (IEEE 802.3 clause 91)"),
        (mac, "TX_FLOW_CONTROL", is("0"), "the card neither pauses nor is paused"),
        (mac, "RX_FLOW_CONTROL", is("0"), "the card neither pauses nor is paused"),
        (mac, "TX_FRAME_CRC_CHECKING", is("Enable FCS Insertion"), "the card's frames have no FCS"),
        (mac, "RX_FRAME_CRC_CHECKING", is("Enable FCS Stripping"), "the card expects none"),
        (mac, "RX_MIN_PACKET_LEN", is("64"), "the shortest frame of Ethernet, FCS included"),
        (mac, "RX_MAX_PACKET_LEN", AtLeast(HEADER_BYTES + 9000), "jumbo frames"),
    ]
}

/// Parameters that do not matter to the design.
const INDIFFERENT: [(&str, &str, &str); 1] =
    [("cmac_usplus_0", "INCLUDE_STATISTICS_COUNTERS", "they are read over AXI4-Lite, which the MAC does not have")];

fn problems(script: &str) -> Vec<String> {
    let found = match read(script) {
        Ok(found) => found,
        Err(error) => return vec![error],
    };
    let check = |(ip, name, is, why): (&str, &str, Is, &str)| {
        let value = found.get(&(ip.into(), name.into()));
        let number = value.and_then(|value| value.parse::<usize>().ok());
        let (holds, expected) = match is {
            Is::Text(text) => (value == Some(&text), text),
            Is::AtLeast(least) => (number.is_some_and(|number| number >= least), format!("at least {least}")),
            Is::Given => (value.is_some_and(|value| value.starts_with('$')), "a variable of the board".into()),
        };
        let value = value.map_or("nothing", String::as_str);
        (!holds).then(|| format!("{ip}: {name}: found {value}, expected {expected}: {why}"))
    };
    let known = expected().into_iter().map(|(ip, name, ..)| (ip, name));
    let known: Vec<_> = known.chain(INDIFFERENT.map(|(ip, name, _)| (ip, name))).collect();
    let unknown = found.keys().filter(|(ip, name)| !known.contains(&(ip, name)));
    let unknown = unknown.map(|(ip, name)| format!("{ip}: {name}: it is set, but no list gives a reason"));
    let gone = INDIFFERENT.into_iter().filter(|(ip, name, _)| !found.contains_key(&((*ip).into(), (*name).into())));
    let gone = gone.map(|(ip, name, _)| format!("{ip}: {name}: it is not set, so no list may name it"));
    expected().into_iter().filter_map(check).chain(unknown).chain(gone).collect()
}

#[test]
fn all_parameters_that_the_design_depends_on_are_set() {
    assert_eq!(problems(&script()), Vec::<String>::new());
    for board in ["alveo-u250", "alveo-u50"] {
        let script = fs::read_to_string(folder().join(board).join("build.tcl")).expect("it is in the tree");
        assert_eq!(read(&script), Ok(Parameters::new()), "{board}");
    }
    const { assert!(BAR == 0) };
    assert!(common("alveo.v").contains("BUFGCE_DIV #(.BUFGCE_DIVIDE(2)) init_clock_buffer"));
    assert!(common("alveo.xdc").contains("create_clock -period 10.000 -name pcie_refclk"));
    assert!(common("alveo.v").contains(&format!("wire   [{}:0] dma_awid;", ID_BITS - 1)));
    assert!(common("alveo.v").contains(&format!(".VECTORS_LOG2({})", QUEUES.ilog2())));
    let [alveo, table] = ["alveo.v", "msix_table.v"].map(common);
    assert!(alveo.contains(&format!(".pci_id(32'h{DEVICE_ID:04x}_{VENDOR_ID:04x})")));
    assert!(table.contains(&format!("table at {MSIX_TABLE:#x}, pending bits at {MSIX_PENDING:#x}.")));
    assert!(table.contains(&format!("s_axil_araddr[15:12] == 4'h{:x}", MSIX_TABLE >> 12)));
    assert!(table.contains(&format!("s_axil_araddr[15:2] == 14'h{:x}", MSIX_PENDING >> 2)));
}

#[test]
fn a_parameter_that_is_missing_or_wrong_is_found() {
    let good = script();
    let all = expected();
    for (ip, name, ..) in &all {
        let setting = format!("CONFIG.{name} ");
        let begin = good.find(&format!(" {ip} [list")).and_then(|at| Some(at + good[at..].find(&setting)?));
        let begin = begin.unwrap_or_else(|| panic!("{ip}: {name}"));
        let value = begin + setting.len();
        let last: &[char] = if good[value..].starts_with('{') { &['}'] } else { &[' ', ']', '\n'] };
        let end = value + good[value..].find(last).expect("there is more") + usize::from(last == ['}']);
        let without = format!("{} {}", &good[..begin], &good[end..]);
        let wrong = format!("{}{{7}}{}", &good[..value], &good[end..]);
        for (changed, found) in [(without, "found nothing"), (wrong, "found 7")] {
            let said = problems(&changed);
            assert!(said.len() == 1 && said[0].starts_with(&format!("{ip}: {name}: {found}")), "{said:?}");
        }
    }
    let twice = good.replacen("CONFIG.axibar_num {1}", "CONFIG.axibar_num {1} CONFIG.axibar_num {2}", 1);
    assert_eq!(problems(&twice), ["xdma_0: axibar_num is set twice"]);
}

#[test]
fn a_parameter_that_is_set_without_a_reason_is_found() {
    let (ip, indifferent, _) = INDIFFERENT[0];
    let setting = format!(" CONFIG.{indifferent} {{0}}");
    for (from, to, found) in [
        (
            "CONFIG.PROTOCOL {AXI4}",
            "CONFIG.PROTOCOL {AXI4} CONFIG.FIFO_MODE {0}",
            "axi_dwidth_converter_0: FIFO_MODE: it is set",
        ),
        ("CONFIG.axibar_num {1}", "CONFIG.axibar_num {1} CONFIG.NUM_LANES {4x25}", "xdma_0: NUM_LANES: it is set"),
        (&setting, "", &format!("{ip}: {indifferent}: it is not set")),
        ("CONFIG.axibar_num {1}", "CONFIG.axibar_num {1", "axibar_num"),
    ] {
        assert!(script().contains(from), "{from}");
        let said = problems(&script().replacen(from, to, 1));
        assert!(said.first().is_some_and(|said| said.contains(found)), "{said:?}");
    }
}

#[test]
fn a_parameter_that_is_set_elsewhere_is_refused() {
    for line in [
        "set_property CONFIG.axibar_num {0} [get_ips xdma_0]",
        "set_property -dict [list CONFIG.axibar_num {0}] \\\n    [get_ips xdma_0]",
        "if {1} { ip xdma xdma_1 [list CONFIG.axibar_num {0}] }",
        "set properties [list \\\n    CONFIG.axibar_num {0}]",
    ] {
        let said = problems(&format!("{}\n{line}\n", script()));
        assert!(said.len() == 1 && said[0].contains("parameters outside of `ip NAME MODULE"), "{line}: {said:?}");
    }
    let remark = format!("{}\n# CONFIG.axibar_num {{0}} would be wrong.\n", script());
    assert_eq!(problems(&remark), Vec::<String>::new());
}

/// Wire at each reset port in `alveo.v`: instance, port, wire.
///
/// `reset_n` is the bridge's `axi_aresetn`, which also follows a hot reset of the link. It must
/// reach everything, because PCIe has no other way to reset the card.
const RESETS: [(&str, &str, &str); 19] = [
    ("bridge", "sys_rst_n", "pcie_rstn_buffered"),
    ("bridge", "axi_aresetn", "reset_n"),
    ("width", "s_axi_aresetn", "reset_n"),
    ("protocol", "aresetn", "reset_n"),
    ("messages", "reset_n", "reset_n"),
    ("card", "aresetn", "reset_n"),
    ("rx_crossing", "s_reset_n", "mac_reset_n"),
    ("rx_crossing", "m_reset_n", "reset_n"),
    ("tx_crossing", "s_reset_n", "reset_n"),
    ("tx_crossing", "m_reset_n", "mac_reset_n"),
    ("mac_reset", "reset_n_in", "reset_n"),
    ("mac_reset", "reset_n", "mac_reset_n"),
    ("mac", "usr_rx_reset", "mac_rx_reset"),
    ("mac", "sys_reset", "!reset_n"),
    // `sys_reset` resets all parts of the MAC together.
    ("mac", "core_rx_reset", "1'b0"),
    ("mac", "core_tx_reset", "1'b0"),
    ("mac", "gtwiz_reset_tx_datapath", "1'b0"),
    ("mac", "gtwiz_reset_rx_datapath", "1'b0"),
    ("mac", "core_drp_reset", "1'b0"),
];

/// Lists the reset ports, in Verilog with one port per line.
fn resets(verilog: &str) -> Vec<(String, String, String)> {
    let mut instance = String::new();
    let mut found = Vec::new();
    for line in verilog.lines().map(str::trim) {
        if let Some(head) = line.strip_suffix(" (").filter(|head| !head.starts_with("module")) {
            instance = head.rsplit(' ').next().unwrap_or_default().into();
        }
        let port =
            line.strip_prefix('.').and_then(|rest| rest.trim_end_matches(',').strip_suffix(')')?.split_once('('));
        if let Some((port, wire)) = port.filter(|(port, _)| port.contains("reset") || port.ends_with("_rst_n")) {
            found.push((instance.clone(), port.into(), wire.into()));
        }
    }
    found
}

#[test]
fn a_reset_of_the_bus_reaches_every_part_of_the_shell() {
    let verilog = common("alveo.v");
    let expected = RESETS.map(|(instance, port, wire)| (instance.into(), port.into(), wire.into()));
    assert_eq!(resets(&verilog), expected);
    let changed = verilog.replacen(".aresetn(reset_n)", ".aresetn(pcie_rstn_buffered)", 1);
    assert_ne!(resets(&changed), expected);
}
