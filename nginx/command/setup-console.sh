# shellcheck shell=sh disable=SC2154 # of common.sh, setup.sh and setup-api.sh
# The console of urlmode setup --console: its user, its folder, a keys file of its own,
# console.json with the login urlmode_operator, and nginx's site on loopback. Its units start
# where console.json is.

setup_console()
{
	console_etc=$etc-console
	setup_own_folder "$console_etc" "$console_user"
	# It seals the operators' sessions alone. Those of the programs open what users have given.
	if [ -e "$console_etc/keys" ]; then
		keep "$console_etc/keys"
	else
		step "create $console_etc/keys with a new key" write_keys "$console_etc/keys" "$console_user"
	fi
	if [ -e "$console_etc/console.json" ]; then
		keep "$console_etc/console.json"
	elif [ -z "$operators" ]; then
		problem "who may open the console? Say --operator NAME, once for each"
	elif [ $dry_run -eq 1 ] || [ -r "$etc/operator.env" ]; then
		step "create $console_etc/console.json" write_console
	else
		problem "$etc/operator.env is not here, with the password of ${role_prefix}_operator: copy it from the host that has it"
	fi
	[ ! -d "$nginx" ] || setup_site console "$console_port"
}

write_console()
{
	{
		cat <<END
{
	"base_url": "http://127.0.0.1:$console_port",
	"keys_file": "keys",
	"database_url": $(json_string "$(env_value "$etc/operator.env" URLMODE_OPERATOR_DATABASE_URL)"),
	"user_check": "$(console_check)",
END
		# It asks for no keys itself: the programs do.
		[ "$user_check" != openid ] || openid_entry | sed '/"refresh_file"/d'
		printf '\t"console": { "operators": [%s] }\n}\n' "$operators"
	} >"$scratch/new"
	write_new "$console_etc/console.json" 640 "$(group_of "$console_user")"
}

# Its operators sign in at the OpenID provider of the users, or nginx asks for a password.
console_check()
{
	if [ "$user_check" = openid ]; then say openid; else say remote-user; fi
}

# The site that setup_site has in scratch: the program itself asks who it is.
without_password()
{
	[ "$user_check" = openid ] || return 0
	sed -i '/^	# With "user_check": "remote-user"/,/^	set /d' "$scratch/new"
}

say_next_console()
{
	cat <<END

For the console:
  1. systemctl restart $instance-console.socket $instance-console.service
END
	[ -d "$nginx" ] || return 0
	if [ "$user_check" = openid ]; then
		say "  2. Register http://127.0.0.1:$console_port/console/signin at $issuer"
	else
		say "  2. A password for each operator: htpasswd -B -c $nginx/$instance-console.htpasswd NAME"
	fi
	cat <<END
  3. nginx -t && systemctl reload nginx
  4. From your machine: ssh -L $console_port:127.0.0.1:$console_port $host, and open http://127.0.0.1:$console_port/console/
END
}
