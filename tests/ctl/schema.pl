#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Is a document, or are documents on a line each, what a definition of a JSON schema says?
#
#	schema.pl SCHEMA DEFINITION FILE
#
# Knows the keywords that tools/weftctl/schema.json uses; others are an error.  A
# member that is not described is one, too, though later versions may have such.

use strict;
use warnings;
use JSON::PP;
use B ();

my ($path, $definition, $file) = @ARGV;
my $bad = 0;

sub load
{
	open(my $f, '<', shift) or die "$!\n";
	local $/;
	my $text = <$f>;
	my $json = JSON::PP->new->utf8->allow_bignum(0);

	return eval { $json->decode($text) } // map { $json->decode($_) } split(/\n/, $text);
}

my $all = (load($path))[0]{definitions};

sub wrong
{
	print "# $_[0]\n";
	$bad = 1;
}

# Numbers and strings are told apart by how they were read.
sub type_of
{
	my ($value) = @_;

	return 'null' unless defined $value;
	return 'boolean' if JSON::PP::is_bool($value);
	return ref($value) eq 'HASH' ? 'object' : 'array' if ref($value);
	return 'string' unless B::svref_2object(\$value)->FLAGS & (B::SVp_IOK | B::SVp_NOK);
	return $value =~ /^-?[0-9]+$/ ? 'integer' : 'number';
}

sub check
{
	my ($s, $value, $at) = @_;
	my $type = type_of($value);

	for my $key (sort keys %$s) {
		my $is = $s->{$key};

		if ($key eq '$ref') {
			$is =~ m{^#/definitions/(.*)$} && $all->{$1} or die "no $is\n";
			check($all->{$1}, $value, $at);
		} elsif ($key eq 'type') {
			my @types = ref($is) ? @$is : $is;

			wrong("$at is of type $type") unless grep {
				$_ eq $type || ($_ eq 'number' && $type eq 'integer')
			} @types;
		} elsif ($key eq 'enum') {
			wrong("$at is none of those described") unless
				$type eq 'string' && grep { $_ eq $value } @$is;
		} elsif ($key eq 'minimum') {
			wrong("$at is less than $is") if $type =~ /integer|number/ && $value < $is;
		} elsif ($key eq 'maximum') {
			wrong("$at is more than $is") if $type =~ /integer|number/ && $value > $is;
		} elsif ($key eq 'required') {
			next unless $type eq 'object';
			exists $value->{$_} or wrong("$at lacks $_") for @$is;
		} elsif ($key eq 'properties' || $key eq 'additionalProperties') {
			next unless $type eq 'object';
			for (sort keys %$value) {
				my $of = ($s->{properties} // {})->{$_};

				next if $of xor $key eq 'properties';
				check($of // $is, $value->{$_}, "$at.$_");
			}
		} elsif ($key eq 'items') {
			next unless $type eq 'array';
			check($is, $value->[$_], "$at\[$_]") for 0 .. $#$value;
		} else {
			die "keyword '$key' is not known\n";
		}
	}
	return unless $type eq 'object' && $s->{properties} && !$s->{additionalProperties};
	$s->{properties}{$_} or wrong("$at.$_ is not described") for sort keys %$value;
}

my $is = $all->{$definition} // die("no definition '$definition'\n");
my @documents = load($file) or die "no document\n";

check($is, $_, $definition) for @documents;
exit $bad;
