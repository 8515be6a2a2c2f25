// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch of a weft rack, for the Portable NIC Architecture (compiled by
 * p4c-dpdk to what weft-switchd runs): forwards Ethernet frames, and is the
 * directory of the lines that homes install in it.
 *
 * This file only puts the parts together.  Special to this architecture are also
 * weft_copies.p4 and weft_l2.p4 (where packets go), weft_sum.p4 (checksums),
 * weft_bits.p4 (shifts), weft_registers.p4 and the reads and writes of registers.
 */
#include <core.p4>
/*
 * pna.p4 declares the parameters of these two without a direction.  Then they have
 * to be constants in p4c, although the pipeline takes any metadata field, of any
 * width.
 */
#define send_to_port(port)		send_to_port(in port)
#define mirror_packet(slot, session)	\
	mirror_packet(in bit<8> mirror_slot_id, in bit<32> mirror_session_id)
#include <pna.p4>
#undef send_to_port
#undef mirror_packet

typedef pna_main_parser_input_metadata_t parser_input_t;

#include "weft_headers.p4"
#include "weft_parser.p4"
#include "weft_sum.p4"
#include "weft_directory.p4"
#include "weft_address.p4"
#include "weft_copies.p4"
#include "weft_l2.p4"

control PreControl(in headers_t hdr, inout metadata_t meta,
		   in pna_pre_input_metadata_t standard,
		   inout pna_pre_output_metadata_t out_standard)
{
	apply {
	}
}

control MainControl(inout headers_t hdr, inout metadata_t meta,
		    in pna_main_input_metadata_t standard,
		    inout pna_main_output_metadata_t out_standard)
{
	Directory() directory;
	Mend() mend;
	ToSender() to_sender;
	ToNodes() to_nodes;
	CopyToNode() copy_to_node;
	CopyToNodes() copy_to_nodes;
	Forward() forward;

	apply {
		meta.to = destination_t.on;
		/* "<=": p4c-dpdk gets "<" wrong within a conjunction */
		if (hdr.weft.isValid() && hdr.weft.magic == WEFT_MAGIC &&
		    (bit<8>)hdr.weft.type <= 31 && (bit<8>)hdr.weft.type != 0) {
			directory.apply(hdr, meta, standard.input_port);
			if (meta.to != destination_t.on)
				mend.apply(hdr);
		}
		if ((bit<8>)meta.to <= (bit<8>)destination_t.home) {
			forward.apply(hdr, standard.input_port);
		} else if ((bit<8>)meta.to <= (bit<8>)destination_t.nodes) {
			to_nodes.apply(hdr);
			if (meta.to == destination_t.node)
				copy_to_node.apply(meta.targets, 0);
			else
				copy_to_nodes.apply(meta.targets);
		} else if (meta.to == destination_t.sender) {
			to_sender.apply(hdr);
			send_to_port(standard.input_port);
		} else {
			drop_packet();
		}
	}
}

control MainDeparser(packet_out pkt, in headers_t hdr, in metadata_t meta,
		     in pna_main_output_metadata_t standard)
{
	apply {
		pkt.emit(hdr.ethernet);
		pkt.emit(hdr.ipv4);
		pkt.emit(hdr.udp);
		pkt.emit(hdr.weft);
	}
}

PNA_NIC(MainParser(), PreControl(), MainControl(), MainDeparser()) main;
