# shellcheck shell=sh disable=SC2154 # of common.sh
# urlmode jwks: the public keys of the OpenID provider, fetched for the programs,
# which call nobody.

help_jwks()
{
	cat <<'END'
usage: urlmode jwks refresh [--if-due | --keep]

Fetches the public keys of the OpenID provider in the configuration (openid),
by its discovery document, and replaces jwks_file by them. The old file is kept
when what comes is not a set of keys. The address at which users sign out is kept
beside them, in jwks_file.sign-out. Needs curl.

  --if-due  only when the time that the provider gave has passed (Cache-Control:
            five minutes at least, a day at most), or when a program has asked
            for it (refresh_file), and once a minute at most. For the timer
  --keep    goes on, and does that every ten seconds until SIGTERM. For containers

Without user_check "openid" there is nothing to fetch.
END
}

keys_min=300
keys_max=86400
keys_pause=60
keys_look=10

run_jwks()
{
	if_due=0
	keep=0
	[ "${1-}" = refresh ] || misuse "jwks takes refresh"
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--if-due) if_due=1 ;;
		--keep) keep=1 if_due=1 ;;
		*) unknown_argument "$1" ;;
		esac
		shift
	done
	if [ $keep -eq 0 ]; then
		refresh_keys
		return
	fi
	# The first process of a container has no signal that ends it by itself.
	sleeping=
	trap '[ -z "$sleeping" ] || kill "$sleeping" 2>/dev/null || :; exit 0' TERM INT
	while :; do
		(refresh_keys) || :
		sleep $keys_look &
		sleeping=$!
		wait "$sleeping" || :
	done
}

refresh_keys()
{
	make_scratch
	ask config openid >"$scratch/openid" || exit 1
	if [ ! -s "$scratch/openid" ]; then
		[ "$if_due" -eq 1 ] || say "user_check is not openid: there are no keys to fetch"
		return 0
	fi
	issuer=$(openid_value issuer)
	jwks_file=$(openid_value jwks_file)
	if [ "$if_due" -eq 1 ] && ! is_due; then
		return 0
	fi
	fetch_discovery "$issuer"
	fetch_keys "$(discovery_value jwks_uri)"
	keep_sign_out "$(discovery_value end_session_endpoint)"
}

# openid_value NAME, discovery_value NAME: of the lines `name value`.
openid_value()
{
	sed -n "s/^$1 //p" "$scratch/openid"
}

discovery_value()
{
	sed -n "s/^$1 //p" "$scratch/discovery"
}

# The time of the next fetch is the time of a file beside the keys.
is_due()
{
	due=$jwks_file.due
	if [ ! -e "$jwks_file" ] || [ ! -e "$due" ]; then
		return 0
	fi
	now=$(date +%s)
	fetched=$(stat -c %Z -- "$due")
	[ $((now - fetched)) -ge $keys_pause ] || return 1
	[ "$now" -lt "$(stat -c %Y -- "$due")" ] || return 0
	refresh_file=$(openid_value refresh_file)
	[ -n "$refresh_file" ] && [ -e "$refresh_file" ] && [ "$(stat -c %Y -- "$refresh_file")" -ge "$fetched" ]
}

# fetch_document URL FILE: no other protocol than that of the URL, and no
# redirect to elsewhere.
fetch_document()
{
	command -v curl >/dev/null || die "curl is missing: install it"
	curl --silent --show-error --fail --proto '=https,http' --max-time 20 --max-filesize 131072 \
		--dump-header "$scratch/headers" --output "$2" -- "$1" 2>"$scratch/said" ||
		die "$(printable "$1"): $(printable "$(head -n 1 "$scratch/said")")"
}

# fetch_discovery ISSUER: its lines are in scratch then.
fetch_discovery()
{
	fetch_document "${1%/}/.well-known/openid-configuration" "$scratch/document"
	ask discovery "$scratch/document" "$1" >"$scratch/discovery" || die "the keys of $1 cannot be fetched"
}

# fetch_keys URL: atomically; the programs notice it.
fetch_keys()
{
	fetch_document "$1" "$scratch/jwks"
	count=$(ask jwks "$scratch/jwks") || die "the old keys are kept"
	write_beside "$jwks_file" <"$scratch/jwks"
	chmod 644 -- "$unfinished"
	mv -f -- "$unfinished" "$jwks_file"
	unfinished=
	seconds=$(keys_seconds)
	touch -d "@$(($(date +%s) + seconds))" -- "$jwks_file.due"
	say "$count keys of $issuer are in $jwks_file; the next ones are fetched in $seconds seconds"
}

# keep_sign_out URL: beside the keys, for a configuration without end_session_endpoint.
keep_sign_out()
{
	if [ -z "$1" ]; then
		rm -f -- "$jwks_file.sign-out"
		return 0
	fi
	say "$1" >"$scratch/sign-out"
	write_beside "$jwks_file.sign-out" <"$scratch/sign-out"
	chmod 644 -- "$unfinished"
	mv -f -- "$unfinished" "$jwks_file.sign-out"
	unfinished=
}

# For how long the provider says that its keys are good (RFC 9111).
keys_seconds()
{
	seconds=$(tr -d '\r' <"$scratch/headers" |
		sed -n 's/^[Cc]ache-[Cc]ontrol:.*max-age=\([0-9]\{1,9\}\).*/\1/p' | tail -n 1)
	[ -n "$seconds" ] || seconds=$keys_min
	[ "$seconds" -ge $keys_min ] || seconds=$keys_min
	[ "$seconds" -le $keys_max ] || seconds=$keys_max
	say "$seconds"
}
