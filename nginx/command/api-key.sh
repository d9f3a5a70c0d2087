# shellcheck shell=sh disable=SC2154 # of common.sh
# urlmode api-key: who may call the program api. The file has the SHA-256 of each key, so
# that nobody who reads it can call.

help_api_key()
{
	cat <<'END'
usage: urlmode api-key add NAME [--tenant TENANT]
       urlmode api-key list
       urlmode api-key remove NAME

Works on the file that api.json names, api-keys beside it by default. The program
api notices a changed file by itself, within a second.

  add     makes a key for one server, and prints it, once: it is kept nowhere
  list    the name of each key, and its tenant
  remove  the key of this name is refused from now on

  --tenant TENANT  the key reaches the rows of this tenant alone; without it, the
                   rows that have no tenant
END
}

run_api_key()
{
	usage='api-key add NAME, api-key list, or api-key remove NAME'
	[ $# -gt 0 ] || misuse "$usage"
	verb=$1
	shift
	case $verb in
	add | list | remove) ;;
	*) misuse "$usage" ;;
	esac
	tenant=-
	name=
	while [ $# -gt 0 ]; do
		case $verb$1 in
		add--tenant)
			needs_value "$1" $#
			check_tenant "$2"
			tenant=$2
			shift
			;;
		add-* | remove-* | list*) unknown_argument "$1" ;;
		*)
			[ -z "$name" ] || unknown_argument "$1"
			check_key_name "$1"
			name=$1
			;;
		esac
		shift
	done
	[ $verb = list ] || [ -n "$name" ] || misuse "$usage"
	find_api_keys
	case $verb in
	add) add_api_key ;;
	list) list_api_keys ;;
	remove) remove_api_key ;;
	esac
}

# check_key_name TEXT
check_key_name()
{
	case $1 in
	'' | *[!A-Za-z0-9._-]*) ;;
	*) [ ${#1} -gt 64 ] || return 0 ;;
	esac
	misuse "the name of a key has 1 to 64 of A-Z, a-z, 0-9, ., _ and -"
}

# Sets `api_keys_file` to that of the configuration in scratch. What a link names is
# replaced, and not the link.
set_api_keys_file()
{
	api_keys_file=$(sed -n 's/^api_keys_file //p' "$scratch/api")
	[ ! -e "$api_keys_file" ] || api_keys_file=$(readlink -f -- "$api_keys_file")
}

find_api_keys()
{
	make_scratch
	ask api-config "$api_config" >"$scratch/api" || exit 1
	set_api_keys_file
	ask api-keys "$api_keys_file" || exit 1
}

# The lines that are keys: a name, a tenant or -, and a digest.
key_lines()
{
	[ ! -e "$api_keys_file" ] || sed '/^[[:blank:]]*\(#.*\)\{0,1\}$/d' "$api_keys_file"
}

has_key()
{
	key_lines | awk -v name="$name" '$1 == name { found = 1 } END { exit !found }'
}

# One command at a time changes the file.
lock_api_keys()
{
	exec 9<"${api_keys_file%/*}/"
	flock 9
}

# replace_api_keys: with what is on standard input, which the reader has to accept first.
replace_api_keys()
{
	like=$api_keys_file
	[ -e "$like" ] || like=$api_config
	write_beside "$api_keys_file"
	chmod --reference="$like" -- "$unfinished"
	chmod g-wx,o= -- "$unfinished"
	if is_root; then
		chown --reference="$like" -- "$unfinished"
	fi
	ask api-keys "$unfinished" || exit 1
	mv -f -- "$unfinished" "$api_keys_file"
	unfinished=
}

# write_api_key TEXT: adds the line of a key that is new.
write_api_key()
{
	digest=$(printf '%s' "$1" | openssl dgst -sha256 -r)
	{
		[ ! -e "$api_keys_file" ] || sed '$a\' "$api_keys_file"
		say "$name $tenant ${digest%% *}"
	} >"$scratch/keys"
	replace_api_keys <"$scratch/keys"
}

drop_api_key()
{
	awk -v name="$name" '$1 != name' "$api_keys_file" >"$scratch/keys"
	replace_api_keys <"$scratch/keys"
}

new_api_key()
{
	printf 'umk_'
	openssl rand -base64 32 | tr '+/' '-_' | tr -d '='
}

# Of a tenant, or of none.
for_tenant()
{
	if [ "$1" = - ]; then say "without a tenant"; else say "for the tenant $1"; fi
}

add_api_key()
{
	lock_api_keys
	! has_key || die "$api_keys_file has a key $name already: choose another name, or remove that one first"
	key=$(new_api_key)
	write_api_key "$key"
	say "$key"
	say "This is the key $name, $(for_tenant "$tenant"). It is shown this once: $api_keys_file has its SHA-256 alone."
}

list_api_keys()
{
	say "$api_keys_file:"
	key_lines | while read -r name tenant _; do
		say "  $name $(for_tenant "$tenant")"
	done
}

remove_api_key()
{
	lock_api_keys
	has_key || die "$api_keys_file has no key $name"
	drop_api_key
	say "The key $name is refused from now on."
}
