#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Does each of these Perl expressions hold of a JSON document?
#
#	json.pl FILE EARLIER EXPRESSION...
#
# $j is the document, $k an earlier one to compare it with, if there is that file.

use strict;
use warnings;
use JSON::PP;

sub document
{
	open(my $f, '<', $_[0]) or die "$_[0]: $!\n";
	local $/;
	return JSON::PP->new->utf8->decode(scalar <$f>);
}

my ($file, $earlier, @expressions) = @ARGV;
our $j = document($file);
our $k = -e $earlier ? document($earlier) : {};
my $bad = 0;

for (@expressions) {
	# What is not there is undefined, which is no reason to complain.
	no warnings;
	next if eval $_;
	print "does not hold: $_ $@\n";
	$bad = 1;
}
exit $bad;
