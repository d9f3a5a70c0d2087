# shellcheck shell=sh disable=SC2154 # of common.sh
# urlmode keys: the keys file, in the safe order.
#
# What was done with a key is a comment at the end of the file, which both sides
# ignore:
#
#   # 2026-01-31T12:00:00Z key 2 added
#   # 2026-01-31T13:00:00Z key 2 seals

help_keys()
{
	cat <<'END'
usage: urlmode keys list
       urlmode keys rotate [--promote] [--dry-run]
       urlmode keys drop [--force] [--dry-run] KID

Works on the keys file that the configuration names, and on the copy of the api of
this host; never prints a secret. The programs notice a changed file by themselves,
within a second.

  list    the keys: the first one seals, all of them open
  rotate  step 1: adds a new key below the others, with which nothing is sealed yet
          step 2, with --promote: the key that was added last seals from now on
  drop    removes the key KID; refused while it seals, for a day after that, and
          while the database has an open elicitation or a sealed value that needs it

  --promote  step 2, when all hosts and MCP servers have the file of step 1
  --force    drop it all the same: what it has sealed is lost
  --dry-run  say what would be done, and change nothing
END
}

run_keys()
{
	[ $# -gt 0 ] || misuse "keys list, keys rotate, or keys drop KID"
	verb=$1
	shift
	case $verb in
	list | rotate | drop) ;;
	*) misuse "keys list, keys rotate, or keys drop KID" ;;
	esac
	promote=0
	force=0
	dry_run=0
	kid=
	while [ $# -gt 0 ]; do
		case $verb$1 in
		rotate--promote) promote=1 ;;
		drop--force) force=1 ;;
		rotate--dry-run | drop--dry-run) dry_run=1 ;;
		drop[0-9]*)
			[ -z "$kid" ] || unknown_argument "$1"
			kid=$1
			;;
		*) unknown_argument "$1" ;;
		esac
		shift
	done
	keys_file=$(ask config keys_file) || exit 1
	[ -n "$keys_file" ] || die "the keys are in URLMODE_KEYS, and in no file: change them there, and restart the programs"
	keys_file=$(readlink -f -- "$keys_file")
	kids=$(ask keys "$keys_file") || exit 1
	make_scratch
	case $verb in
	list) list_keys ;;
	rotate) if [ $promote -eq 1 ]; then promote_key; else add_key; fi ;;
	drop) drop_key ;;
	esac
}

# The time of the last such note in the keys file, or nothing.
noted()
{
	sed -n "s/^# \([0-9TZ:-]*\) key $1 $2\$/\1/p" "$keys_file" | tail -n 1
}

# The id of the key that seals.
sealing()
{
	say "$kids" | head -n 1
}

# When a key that does not seal any more has sealed last, in Unix seconds: when
# the next one began to. Without a note of it, when the file was changed last.
sealed_until()
{
	next=$(sed -n 's/^# \([0-9TZ:-]*\) key \([0-9]*\) seals$/\1 \2/p' "$keys_file" | sort |
		awk -v kid="$1" '$2 == kid { at = ""; next } at == "" { at = $1 } END { print at }')
	if [ -n "$next" ]; then
		date -u -d "$next" +%s
	else
		stat -c %Y -- "$keys_file"
	fi
}

# For how many seconds after the next key began to seal nobody drops a key: other hosts
# may have got the file later, and no table has tickets and sessions of browsers.
pause=86400

# still_needed KID: by what the database has, or nothing.
still_needed()
{
	until=$(date -u -d "@$(($(sealed_until "$1") + pause))" +%Y-%m-%dT%H:%M:%SZ)
	connect_operator
	query operator -A -t -v kid="$1" -v until="$until" <<'SQL'
SELECT 'open elicitations: ' || open || coalesce(', the last one until ' || open_until::date, '')
	|| '; with a value that it sealed: ' || sealed
FROM urlmode.show_key(:'kid', :'until') WHERE open + sealed > 0;
SQL
}

in_order()
{
	sed -n 's/^[[:blank:]]*\([0-9][0-9]*\)[[:blank:]].*/\1/p' "$keys_file"
}

list_keys()
{
	say "$keys_file:"
	in_order | while read -r each; do
		added=$(noted "$each" added)
		seals=$(noted "$each" seals)
		if [ "$each" -eq "$(sealing)" ]; then
			say "  key $each seals and opens${seals:+ since $seals}"
		elif [ -n "$seals" ] || [ -z "$added" ]; then
			say "  key $each opens, and sealed until $(date -u -d "@$(sealed_until "$each")" +%Y-%m-%dT%H:%M:%SZ)"
		else
			say "  key $each opens, added $added"
		fi
	done
}

# replace_keys: with what is on standard input, which a program has to accept first; the
# copy of the api as well.
replace_keys()
{
	api_copy=$(api_keys_copy) || exit 1
	cat >"$scratch/new-keys"
	replace_keys_file "$keys_file" <"$scratch/new-keys"
	[ -z "$api_copy" ] || replace_keys_file "$api_copy" <"$scratch/new-keys"
}

# replace_keys_file FILE
replace_keys_file()
{
	write_beside "$1"
	chmod --reference="$1" -- "$unfinished"
	if is_root; then
		chown --reference="$1" -- "$unfinished"
	fi
	ask keys "$unfinished" >/dev/null || exit 1
	mv -f -- "$unfinished" "$1"
	unfinished=
}

# The keys file of the api of this host, where it is another one.
api_keys_copy()
{
	[ -e "$api_config" ] || return 0
	said=$(ask api-config "$api_config") || return 1
	copy=$(say "$said" | sed -n 's/^keys_file //p')
	[ -n "$copy" ] || return 0
	copy=$(readlink -f -- "$copy")
	[ "$copy" = "$keys_file" ] || say "$copy"
}

note()
{
	say "# $(date -u +%Y-%m-%dT%H:%M:%SZ) key $1 $2"
}

# One that was not here before, so that nothing old opens with it.
free_kid()
{
	{
		say "$kids"
		sed -n 's/^# [0-9TZ:-]* key \([0-9]*\) .*/\1/p' "$keys_file"
	} | sort -n | awk '{ used[$1] = 1; if ($1 + 0 > last) last = $1 + 0 }
		END {
			for (i = 1; i <= 256; i++)
				if (!(((last + i) % 256) in used)) { print (last + i) % 256; exit }
		}'
}

add_key()
{
	waiting=$(in_order | tail -n +2 | while read -r each; do
		[ -n "$(noted "$each" seals)" ] || [ -z "$(noted "$each" added)" ] || say "$each"
	done | tail -n 1)
	[ -z "$waiting" ] ||
		die "key $waiting was added and does not seal yet: urlmode keys rotate --promote"
	kid=$(free_kid)
	[ -n "$kid" ] || die "all 256 key ids are used: drop a key first"
	if [ $dry_run -eq 1 ]; then
		say "would add key $kid below the others in $keys_file"
		return
	fi
	secret=$(openssl rand -base64 32)
	# Keys before notes, in the order of a reader.
	{
		awk 'NF > 0 && !/^[ \t]*#/ { n = NR } { line[NR] = $0 }
			END { for (i = 1; i <= n; i++) print line[i] }' "$keys_file"
		say "$kid $secret"
		awk 'NF > 0 && !/^[ \t]*#/ { n = NR } { line[NR] = $0 }
			END { for (i = n + 1; i <= NR; i++) print line[i] }' "$keys_file"
		note "$kid" added
	} >"$scratch/keys"
	replace_keys <"$scratch/keys"
	cat <<END
Key $kid is in $keys_file. Nothing is sealed with it yet.
Next:
  1. Copy the file to the other callback hosts and to every MCP server. All of
     them notice it by themselves, within a second.
  2. Then, here: urlmode keys rotate --promote
END
}

promote_key()
{
	kid=$(in_order | tail -n +2 | while read -r each; do
		added=$(noted "$each" added)
		[ -z "$added" ] || [ -n "$(noted "$each" seals)" ] || say "$added $each"
	done | sort | tail -n 1 | cut -d ' ' -f 2)
	[ -n "$kid" ] || die "no key was added that does not seal yet: urlmode keys rotate adds one"
	old=$(sealing)
	if [ $dry_run -eq 1 ]; then
		say "would move key $kid to the top of $keys_file, above key $old"
		return
	fi
	{
		awk -v kid="$kid" '!/^[ \t]*#/ && $1 == kid' "$keys_file"
		awk -v kid="$kid" '/^[ \t]*#/ || $1 != kid' "$keys_file"
		# Who moved it to the top by hand wrote no note.
		[ -z "$(noted "$old" added)" ] || [ -n "$(noted "$old" seals)" ] || note "$old" seals
		note "$kid" seals
	} >"$scratch/keys"
	replace_keys <"$scratch/keys"
	cat <<END
Key $kid seals from now on, and key $old only opens.
Next:
  1. Copy $keys_file to the other callback hosts and to every MCP server. None
     of them needs to be restarted.
  2. In $(days $pause): urlmode keys drop $old
END
}

drop_key()
{
	[ -n "$kid" ] || misuse "which key? keys drop takes a key id"
	say "$kids" | grep -qxF -- "$kid" || die "there is no key $(printable "$kid") in $keys_file"
	[ "$kid" -ne "$(sealing)" ] ||
		die "key $kid seals: urlmode keys rotate first, then rotate --promote"
	has_sealed=1
	[ -n "$(noted "$kid" seals)" ] || [ -z "$(noted "$kid" added)" ] || has_sealed=0
	if [ $force -eq 0 ] && [ $has_sealed -eq 1 ]; then
		left=$(($(sealed_until "$kid") + pause - $(date +%s)))
		[ $left -le 0 ] ||
			die "key $kid may be needed for $(days $left) more," \
				"to open what it sealed; --force drops it all the same"
		needed_by=$(still_needed "$kid") ||
			die "nobody knows what still needs key $kid without the database; --force drops it all the same"
		[ -z "$needed_by" ] ||
			die "key $kid is still needed: $needed_by; --force drops it all the same"
	fi
	if [ $dry_run -eq 1 ]; then
		say "would drop key $kid from $keys_file"
		return
	fi
	{
		awk -v kid="$kid" '/^[ \t]*#/ || $1 != kid' "$keys_file"
		note "$kid" dropped
	} >"$scratch/keys"
	replace_keys <"$scratch/keys"
	cat <<END
Key $kid is dropped. What it sealed cannot be opened any more.
Next: drop it from the keys files of the other callback hosts and of the MCP
servers: copy $keys_file there.
END
}
