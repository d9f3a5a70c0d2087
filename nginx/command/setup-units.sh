# shellcheck shell=sh disable=SC2154 # of common.sh and setup.sh
# urlmode setup: where the units may send to. They reach this machine alone, unless PostgreSQL
# is on another one.

setup_units()
{
	[ -d "$systemd" ] || return 0
	allowed=
	named=
	for one in $(hosts_of_database | tr ',' ' '); do
		case $one in
		/* | localhost | 127.* | ::1) ;;
		*:* | *[0-9].*[0-9]) is_address "$one" && allowed="$allowed $one" || named=$one ;;
		*) named=$one ;;
		esac
	done
	[ -z "$database_network" ] || allowed=" $database_network"
	if [ -n "$named" ] && [ -z "$database_network" ]; then
		allowed=' any'
		say "The address of $named may change, as at a failover: the units may send to any address. --database-network NETWORK lets them send to that one alone."
	fi
	[ -n "$allowed" ] || return 0
	for unit in "$instance@" "$instance-purge" "$instance-api" "$instance-console"; do
		file=$systemd/$unit.service.d/database.conf
		if [ -e "$file" ]; then
			keep "$file"
		else
			step "let $unit.service send to${allowed}" write_filter "$file"
		fi
	done
	[ $dry_run -eq 1 ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload
}

# Of --database-host, or where the administrator reaches it.
hosts_of_database()
{
	if [ -n "$database_host" ]; then
		case $database_host in
		*:*:*) say "$database_host" ;; # an address of IPv6, without a port
		*) say "${database_host%:*}" ;;
		esac
	elif [ -n "${URLMODE_ADMIN_DATABASE_URL-}" ]; then
		service_value admin host
	fi
}

is_address()
{
	ask address "$1" "$1" 2>/dev/null
}

write_filter()
{
	mkdir -p -- "${1%/*}"
	printf '[Service]\nIPAddressAllow=%s\n' "${allowed# }" >"$scratch/new"
	write_new "$1" 644 root
	chmod 755 -- "${1%/*}"
}
