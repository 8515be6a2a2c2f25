#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# A strict reader of Prometheus' text format, version 0.0.4:
#
#	exposition.pl FILE [EXPRESSION...]
#
# What the format's description forbids is an error, and so is what it only
# advises against.  Each Perl expression must hold; $s{'name{label="value"}'} is a
# sample, with its labels as they stand there, $type{name} the type of a family.

use strict;
use warnings;
use Math::BigFloat;

my ($file, @expressions) = @ARGV;
our (%s, %type);
my (%help, %closed, %hist, %order);
my ($family, $number) = ('', 0);

sub wrong { print "# line $number: $_[0]\n"; exit 1; }

# The family that a sample belongs to.
sub family_of
{
	my ($name) = @_;

	return $name if $type{$name};
	(my $base = $name) =~ s/_(bucket|sum|count)$//;
	return $base if ($type{$base} // '') eq 'histogram';
	wrong("'$name' has no type");
}

sub enter
{
	my ($name) = @_;

	return if $name eq $family;
	wrong("the lines of '$name' do not stand together") if $closed{$name};
	$closed{$family} = 1 if $family ne '';
	$family = $name;
}

my $name_re = qr/[a-zA-Z_:][a-zA-Z0-9_:]*/;
my $label_re = qr/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"/;

open(my $in, '<', $file) or die "$file: $!";
my $text = do { local $/; <$in> };
wrong('nothing is there') if $text eq '';
wrong('the last line has no end') unless $text =~ /\n\z/;
for (split(/\n/, $text, -1)) {
	$number++;
	last if $number == ($text =~ tr/\n//) + 1;
	if (/^# TYPE ($name_re) (counter|gauge|histogram|summary|untyped)$/) {
		my ($name, $kind) = ($1, $2);

		enter($name);
		wrong("a second type of '$name'") if $type{$name};
		wrong("a counter whose name does not end in _total: '$name'")
			if $kind eq 'counter' && $name !~ /_total$/;
		wrong("no counter, but its name ends in _total: '$name'")
			if $kind ne 'counter' && $name =~ /_total$/;
		$type{$name} = $kind;
		next;
	}
	if (/^# HELP ($name_re) (\S.*)$/) {
		enter($1);
		wrong("a second help of '$1'") if $help{$1}++;
		wrong("help of '$1' after its type") if $type{$1};
		next;
	}
	/^($name_re)(?:\{(.*)\})? (-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|[-+]Inf|NaN)$/ or
		wrong("cannot be read: '$_'");
	my ($name, $labels, $value) = ($1, $2, $3);
	my $of = family_of($name);
	my (%label, @others);

	enter($of);
	if (defined $labels) {
		my $rest = $labels;

		while ($rest =~ s/^$label_re(,|$)//) {
			my ($key, $is, $more) = ($1, $2, $3);

			wrong("label '$key' twice") if exists $label{$key};
			$label{$key} = $is;
			push @others, "$key=\"$is\"" if $key ne 'le';
			wrong('a comma, and no label after it') if $more eq ',' && $rest eq '';
		}
		wrong("labels cannot be read: '$rest'") if $rest ne '' || !%label;
	}
	my $key = $name . (defined $labels ? "{$labels}" : '');
	wrong("'$key' twice") if exists $s{$key};
	$s{$key} = $value;
	wrong("a counter that is negative or no number: $value")
		if $type{$of} =~ /counter|histogram/ && $value !~ /^[0-9]/;
	next unless $type{$of} eq 'histogram';

	my $h = $hist{"$of {" . join(',', sort @others) . '}'} //= { le => [], n => [] };
	if ($name eq "${of}_bucket") {
		my $le = $label{le} // wrong('a bucket without "le"');
		my $last = $h->{le}[-1];

		wrong("'le' is no number: '$le'") unless $le =~ /^(\+Inf|-?[0-9.]+(e[-+]?[0-9]+)?)$/;
		wrong('buckets come after sum or count') if exists $h->{sum} || exists $h->{count};
		wrong('buckets are not in order') if defined $last &&
			($last eq '+Inf' || ($le ne '+Inf' && $le <= $last));
		wrong('a bucket has less than the one before') if defined $last &&
			Math::BigFloat->new($value) < $h->{n}[-1];
		push @{$h->{le}}, $le;
		push @{$h->{n}}, Math::BigFloat->new($value);
	} elsif ($name eq "${of}_sum" || $name eq "${of}_count") {
		wrong('"le" where it has no meaning') if exists $label{le};
		$h->{$name eq "${of}_sum" ? 'sum' : 'count'} = Math::BigFloat->new($value);
	} else {
		wrong("'$name' is no part of a histogram");
	}
}
for (keys %hist) {
	my $h = $hist{$_};

	wrong("$_ lacks sum or count") unless defined $h->{sum} && defined $h->{count};
	wrong("$_ has no bucket +Inf") unless ($h->{le}[-1] // '') eq '+Inf';
	wrong("$_: +Inf is not count") unless $h->{n}[-1] == $h->{count};
	my $list = join(' ', @{$h->{le}});
	(my $of = $_) =~ s/ .*//;
	wrong("$_ has other limits than the rest of its family")
		if ($order{$of} //= $list) ne $list;
}
for (keys %type) {
	my $name = $_;

	wrong("'$name' has no samples") unless grep {
		/^\Q$name\E(\{|$)/ || ($type{$name} eq 'histogram' && /^\Q$name\E_/)
	} keys %s;
}
my $bad = 0;
for (@expressions) {
	next if eval $_;
	print "# does not hold: $_ $@\n";
	$bad = 1;
}
exit $bad;
