// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parser.  A weft message is a UDP datagram to WEFT_WIRE_UDP_PORT in an
 * IPv4 packet without options that is no fragment and not tagged, with UDP
 * checksum 0 (members send it so: a switch cannot mend one over the payload).
 *
 * Everything else is forwarded by its Ethernet address and stays as it is; so
 * are messages of another version, and those that go from member to member.
 *
 * parser_input_t is what the architecture gives to a parser.
 */
#ifndef WEFT_PARSER_P4
#define WEFT_PARSER_P4

#include "weft_headers.p4"

parser MainParser(packet_in pkt, out headers_t hdr, inout metadata_t meta,
		  in parser_input_t standard)
{
	state start {
		meta.message = false;
		pkt.extract(hdr.ethernet);
		transition select(hdr.ethernet.type) {
			ETHERTYPE_IPV4: ipv4;
			default: accept;
		}
	}

	state ipv4 {
		pkt.extract(hdr.ipv4);
		transition select(hdr.ipv4.version_ihl, hdr.ipv4.protocol,
				  hdr.ipv4.fragment) {
			(0x45, PROTOCOL_UDP, 0 &&& 0x3FFF): udp;
			default: accept;
		}
	}

	state udp {
		pkt.extract(hdr.udp);
		transition select(hdr.udp.destination, hdr.udp.checksum) {
			(WEFT_WIRE_UDP_PORT, 0): weft;
			default: accept;
		}
	}

	state weft {
		pkt.extract(hdr.weft);
		transition select(hdr.weft.magic, hdr.weft.version) {
			(WEFT_WIRE_MAGIC, WEFT_WIRE_VERSION): type;
			default: accept;
		}
	}

	/* 1..31: for a directory. */
	state type {
		transition select(hdr.weft.type) {
			message_t.none: accept;
			message_t.none &&& (message_t)0xE0: message;
			default: accept;
		}
	}

	state message {
		meta.message = true;
		transition accept;
	}
}

#endif /* WEFT_PARSER_P4 */
