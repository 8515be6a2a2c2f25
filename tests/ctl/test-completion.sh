#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of weftctl in bash: the function is called as bash would.  weftctl is the
# real one; what it asks the kernel for is answered by a script.
#
# Prints a line a check.  Environment: BUILD, the build directory.

# shellcheck disable=SC2317,SC2329  # functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit 2

. tests/tap.sh

begin completion

# A weftctl that knows racks and regions.
cat >"$dir/weftctl" <<'END'
#!/bin/bash
case $* in
"region show") ;;
"rack show")
	cat <<'LIST'
      RACK NODE INTERFACE       ADDRESS         STATE  MOUNTED
         7    1 eth0            10.0.0.1        joined /weft
4294967295    1 eth1            10.0.1.1        up
LIST
	exit ;;
*)	exec "$BUILD/bin/weftctl" "$@" ;;
esac
cat <<'LIST'
  REGION             SIZE    BLOCK      LINES      LOCKS NAME
       7    1099511627776    65536         12          3 table
       8                0     4096          0          0 two words
       9             4096     4096          1          0 odd\033name
      10             4096     4096          1          0 (gone)
      11             4096     4096          1          0 tab2
LIST
END
chmod +x "$dir/weftctl"
PATH=$dir:$PATH
mkdir "$dir/files"
touch "$dir/files/one.conf" "$dir/files/two.conf"
mkdir "$dir/files/directory"

# shellcheck source=tools/weftctl/completion/weftctl
. tools/weftctl/completion/weftctl
check "bash knows the function" complete -p weftctl

# completes "LINE" WORD...: what the last word of the line may become; a line that ends
# in a blank has an empty one.
completes()
{
	local line=$1 have want

	shift
	read -ra COMP_WORDS <<<"${line//=/ = }"
	[[ $line != *' ' && $line != *= ]] || COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_weftctl
	have=$([ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort -u)
	want=$([ $# = 0 ] || printf '%s\n' "$@" | sort -u)
	check "$line: $*" diff <(echo "$want") <(echo "$have")
}

# --- Commands ---

mapfile -t commands < <(sed -n 's/^\t\.name = "\([a-z]*\)",$/\1/p' tools/weftctl/command/*.c)
check "${#commands[@]} commands" at_least 9 "${#commands[@]}"
completes "weftctl " "${commands[@]}" help
completes "weftctl -j " "${commands[@]}" help
completes "weftctl help " "${commands[@]}" help
completes "weftctl help re" region
completes "weftctl up he" help
completes "weftctl region help "
completes "weftctl do" doctor down
completes "weftctl sta" stats status
completes "weftctl nothing"
completes "weftctl nothing "

# --- Options ---

completes "weftctl --" --help --json --pretty --rack --version
completes "weftctl up --c" --cache --check
completes "weftctl -j up --node 1 --mo" --mode --mount
completes "weftctl down --" --help --json --pretty --rack --file --unmount --all
completes "weftctl doctor --i" --ignore
completes "weftctl doc --i" --ignore
completes "weftctl st --co"
# All that the help of a command has.
for command in "${commands[@]}"; do
	mapfile -t options < <("$BUILD/bin/weftctl" "$command" --help | grep -oE -- '--[a-z][a-z-]*')
	completes "weftctl $command --" "${options[@]}" --help --json --pretty --rack
done

# --- Values ---

mapfile -t interfaces < <(ls /sys/class/net)
check "interfaces: ${interfaces[*]}" at_least 1 "${#interfaces[@]}"
completes "weftctl up --interface " "${interfaces[@]}"
completes "weftctl up --interface l" lo
completes "weftctl up --interface=l" lo
completes "weftctl up --interface=" "${interfaces[@]}"
completes "weftctl up --node "
completes "weftctl --rack " 7 4294967295
completes "weftctl --rack 7 sta" stats status
completes "weftctl status --rack 4" 4294967295
completes "weftctl line --rack=7 s" show
completes "weftctl up --rack "
completes "weftctl up --node=1 --interface l" lo
completes "weftctl up --file $dir/files/o" "$dir/files/one.conf"
completes "weftctl up --file=$dir/files/" "$dir/files/"{one.conf,two.conf,directory}
completes "weftctl up --mount $dir/files/" "$dir/files/directory"

# --- Operands ---

completes "weftctl stats " help latency memory node switch
completes "weftctl stats --interval 1 n" node
completes "weftctl stats node "
completes "weftctl region " help list move set show spread
completes "weftctl regions " help list move set show spread
completes "weftctl regions li" list
completes "weftctl regions ls ta" table tab2
completes "weftctl locks list tw" 'two\ words'
completes "weftctl region move ta" table tab2
completes "weftctl blade " add drain help list show use
completes "weftctl blades d" drain
completes "weftctl region show ta" table tab2
completes "weftctl region set tab" table tab2
completes "weftctl region set table " durability= on-owner-death= on-loss= nodes=
completes "weftctl region set table nodes=" all
completes "weftctl region set table d" durability=
completes "weftctl region set table durability=" mirror release sync write-back
completes "weftctl region set table durability=r" release
completes "weftctl region set table durability=sync on-l" on-loss=
completes "weftctl region set table durability=sync on-loss=s" sigbus
completes "weftctl rack " help list show
completes "weftctl dirs " help list show
completes "weftctl node " fence help list show
completes "weftctl node fence "
completes "weftctl line " help list lost show
completes "weftctl line lost tab" table tab2
completes "weftctl line lost --a" --accept
completes "weftctl line l" list lost
completes "weftctl line s" show
completes "weftctl line show " table 'two\ words' tab2
completes "weftctl line show ta" table tab2
completes "weftctl lock show tw" 'two\ words'
completes "weftctl loc show -j tabl" table
completes "weftctl lock show table "
completes "weftctl status " help

finish
