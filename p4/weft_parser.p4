// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parser.  A weft message is a UDP datagram from and to WEFT_WIRE_UDP_PORT in an
 * IPv4 packet without options that is no fragment and not tagged, with UDP checksum 0
 * (members send it so: a switch cannot mend one over the payload).
 *
 * Everything else is forwarded by its Ethernet address and stays as it is; so are
 * messages of another version, and those that go from member to member.
 *
 * One comparison a state: that is one instruction in a software switch.
 * parser_input_t is what the architecture gives to a parser.
 */
#ifndef WEFT_PARSER_P4
#define WEFT_PARSER_P4

#include "weft_headers.p4"

parser MainParser(packet_in pkt, out headers_t hdr, inout metadata_t meta,
		  in parser_input_t standard)
{
	state start {
		pkt.extract(hdr.ethernet);
		transition select(hdr.ethernet.type) {
			ETHERTYPE_IPV4: ipv4;
			default: accept;
		}
	}

	state ipv4 {
		pkt.extract(hdr.ipv4);
		transition select(hdr.ipv4.protocol) {
			PROTOCOL_UDP: options;
			default: accept;
		}
	}

	state options {
		transition select(hdr.ipv4.version_ihl) {
			IPV4_NO_OPTIONS: fragment;
			default: accept;
		}
	}

	state fragment {
		transition select(hdr.ipv4.fragment) {
			IPV4_WHOLE_DF: udp;
			IPV4_WHOLE: udp;
			default: accept;
		}
	}

	state udp {
		pkt.extract(hdr.udp);
		transition select(hdr.udp.destination) {
			WEFT_WIRE_UDP_PORT: source;
			default: accept;
		}
	}

	/* Members hold this port, so that no other program of theirs sends from it. */
	state source {
		transition select(hdr.udp.source) {
			WEFT_WIRE_UDP_PORT: checksum;
			default: accept;
		}
	}

	state checksum {
		transition select(hdr.udp.checksum) {
			0: weft;
			default: accept;
		}
	}

	state weft {
		pkt.extract(hdr.weft);
		transition accept;
	}
}

#endif /* WEFT_PARSER_P4 */
