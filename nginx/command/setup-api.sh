# shellcheck shell=sh disable=SC2154 # of common.sh and setup.sh
# The api of urlmode setup --api: its user, its folder, its copy of the keys, api.json with
# the login urlmode_server, and nginx's site on loopback. Its units start where api.json is.

setup_api()
{
	api_etc=$etc-api
	setup_own_folder "$api_etc" "$api_user"
	if [ -e "$api_etc/keys" ]; then
		keep "$api_etc/keys"
	else
		step "create $api_etc/keys, a copy of $etc/keys" copy_keys
	fi
	if [ -e "$api_etc/api.json" ]; then
		keep "$api_etc/api.json"
	elif [ $dry_run -eq 1 ] || [ -r "$etc/server.env" ]; then
		step "create $api_etc/api.json" write_api
	else
		problem "$etc/server.env is not here, with the password of ${role_prefix}_server: copy it from the host that has it"
	fi
	[ ! -d "$nginx" ] || setup_site api "$api_port"
}

# setup_own_folder FOLDER USER: of the api or the console, and its user.
setup_own_folder()
{
	if is_root && ! id "$2" >/dev/null 2>&1; then
		step "create the user $2" create_user "$2"
	fi
	if [ -d "$1" ]; then
		keep "$1"
	else
		step "create $1" make_folder "$1" "$2"
	fi
}

copy_keys()
{
	cat -- "$etc/keys" >"$scratch/new"
	write_new "$api_etc/keys" 640 "$(group_of "$api_user")"
}

write_api()
{
	url=$(json_string "$(env_value "$etc/server.env" URLMODE_DATABASE_URL)")
	cat >"$scratch/new" <<END
{
	"base_url": $(json_string "$(env_value "$etc/server.env" URLMODE_BASE_URL)"),
	"keys_file": "keys",
	"api_keys_file": "api-keys",
	"database_url": $url,
	"listen_url": $url
}
END
	write_new "$api_etc/api.json" 640 "$(group_of "$api_user")"
}

# setup_site NAME PORT: of the api or the console. It needs no certificate: it listens on loopback.
setup_site()
{
	for name in "$1-http.conf" "$1.conf"; do
		[ ! -d "$nginx/$instance" ] || [ -e "$nginx/$instance/$name" ] ||
			step "create $nginx/$instance/$name" write_made nginx "$nginx_dir/urlmode/$name" "$nginx/$instance/$name"
	done
	own_site=$nginx/sites-available/$instance-$1.conf
	if [ -e "$own_site" ]; then
		keep "$own_site"
	else
		step "create $own_site" write_own_site "$1" "$2"
	fi
	own_enabled=$(dirname -- "$enabled")/$instance-$1.conf
	if [ -e "$own_enabled" ] || [ -L "$own_enabled" ]; then
		keep "$own_enabled"
	else
		step "enable $own_site" enable "$own_enabled"
	fi
}

write_own_site()
{
	(umask 022 && mkdir -p -- "$nginx/sites-available")
	of_deployment nginx <"$nginx_dir/urlmode-$1.conf" |
		sed "s/\(127\.0\.0\.1:\|-L \)808[12]\b/\1$2/g" >"$scratch/new"
	[ "$1" != console ] || without_password
	write_new "$own_site" 644 root
}

say_next_api()
{
	cat <<END

For the api:
  1. systemctl restart $instance-api.socket $instance-api.service
END
	[ ! -d "$nginx" ] || say "  2. nginx -t && systemctl reload nginx. It listens at $(sed -n 's/^[[:blank:]]*listen \([^;]*\);/\1/p' "$nginx/sites-available/$instance-api.conf" | head -n 1)"
	say "  3. A key for each server that calls it: urlmode ${deployment:+--deployment $deployment }api-key add NAME"
}
