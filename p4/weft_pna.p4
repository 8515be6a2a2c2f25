// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch of a weft rack, for the Portable NIC Architecture (compiled by
 * p4c-dpdk to what weft-switchd runs): forwards Ethernet frames, and is the
 * directory of the lines that homes install in it.
 *
 * This file only puts the parts together; what is special to this architecture is
 * here, in weft_copies.p4, weft_l2.p4, weft_sum.p4 and weft_bits.p4.
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
	CopyToNodes() copy;
	Forward() forward;

	apply {
		meta.to = destination_t.on;
		/* "<=": p4c-dpdk gets "<" wrong within a conjunction */
		if (hdr.weft.isValid() && hdr.weft.magic == WEFT_MAGIC &&
		    (bit<8>)hdr.weft.type <= 31 && (bit<8>)hdr.weft.type != 0) {
			directory.apply(hdr, meta);
			if (meta.to != destination_t.on)
				mend.apply(hdr);
		}
		if ((bit<8>)meta.to <= 1) {
			forward.apply(hdr, standard.input_port);
		} else if (meta.to == destination_t.nodes) {
			to_nodes.apply(hdr);
			copy.apply(meta.targets);
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
