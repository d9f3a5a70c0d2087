# shellcheck shell=sh disable=SC2154 # of common.sh
# urlmode setup: writes what is missing, and overwrites nothing. Each step looks
# first whether it is done, so that setup can go on where it was interrupted.

help_setup()
{
	cat <<'END'
usage: urlmode setup [OPTION...] https://CALLBACK.EXAMPLE
       urlmode setup --upgrade

Writes what is missing for callbacks at this address: the keys file, the
database with its schema and roles, their passwords, the configuration, and
nginx's site. It never overwrites a file or a password, and can be run again
after a failure. No password is shown, or stands on a command line.

  --dry-run             say what would be done, and change nothing
  --oauth NAME          give the new configuration a provider of kind oauth; can
                        be repeated. Payments need secrets: enter them yourself
  --user-check HOW      how users sign in; setup asks for it on a terminal:
                        oauth2-proxy or basic (nginx signs them in), remote-user
                        (nginx does, as you set it up), openid (your OpenID
                        provider), session-ticket (your own web session) or confirm (nobody checks: for development)
  --issuer URL          for openid: the provider, whose discovery document is read
  --client-id ID        for openid: the client that you have registered there for
                        the address /signin/return; see OPENID.md
  --database-host HOST  how programs reach PostgreSQL, HOST or HOST:PORT; the
                        default is where the administrator does, or 127.0.0.1.
                        The units may send to this address, in a drop-in; to any
                        one, if it is a name
  --database-network NETWORK
                        the units may send to this network, as 192.0.2.0/24, alone
  --api                 also set up the program api, for MCP servers without a
                        package: its user, its folder DIR-api with api.json and a
                        copy of the keys, and nginx's site on loopback
  --api-port PORT       where the api listens on loopback, 8081 by default
  --upgrade             write the units and snippets of all deployments on this
                        host again, as this version has them, but for those that
                        were changed; the packages' upgrades do it
  --console             also set up the console, pages for the people who answer
                        users: its user, its folder DIR-console with console.json
                        and a keys file, and nginx's site on loopback
  --operator NAME       who may open the console, as nginx or the OpenID provider
                        knows them; can be repeated
  --console-port PORT   where the console listens on loopback, 8082 by default
  --user NAME           who the programs run as, urlmode by default
  --api-user NAME       who the api runs as, urlmode-api by default
  --console-user NAME   who the console runs as, urlmode-console by default
  --etc DIR             for the files of urlmode, /etc/urlmode by default
  --nginx DIR           nginx's configuration, /etc/nginx by default
  --systemd DIR         for drop-ins of units, /etc/systemd/system by default

URLMODE_ADMIN_DATABASE_URL names an administrator of PostgreSQL and the database.
Without it root becomes the user postgres and takes the database urlmode of this
machine.

urlmode --deployment NAME setup sets up another one beside it, whose users, folders,
roles, database, units and site have its name: urlmode-NAME, and urlmode_NAME in
PostgreSQL.
END
}

run_setup()
{
	dry_run=0
	base_url=
	oauth=
	user_check=
	issuer=
	client_id=
	database_host=
	database_network=
	systemd=/etc/systemd/system
	user=$instance
	api=0
	api_user=$instance-api
	api_port=
	upgrade=0
	console=0
	console_user=$instance-console
	console_port=
	operators=
	etc=$etc_dir
	nginx=/etc/nginx
	while [ $# -gt 0 ]; do
		case $1 in
		--dry-run) dry_run=1 ;;
		--api) api=1 ;;
		--upgrade) upgrade=1 ;;
		--console) console=1 ;;
		--oauth | --api-port | --console-port | --operator | --user-check | --issuer | --client-id | --database-host | --database-network | --systemd | --user | --api-user | --console-user | --etc | --nginx)
			needs_value "$1" $#
			setup_option "$1" "$2"
			shift
			;;
		-*) unknown_argument "$1" ;;
		*)
			[ -z "$base_url" ] || unknown_argument "$1"
			base_url=${1%/}
			;;
		esac
		shift
	done
	if [ $upgrade -eq 1 ]; then
		[ -z "$base_url" ] || misuse "--upgrade takes no address"
		upgrade_deployments
		return
	fi
	check_base_url
	if [ $api -eq 1 ] && [ -z "$api_port" ]; then
		[ -z "$deployment" ] || misuse "the api of another deployment needs a port of its own: --api-port PORT"
		api_port=8081
	fi
	if [ $console -eq 1 ] && [ -z "$console_port" ]; then
		[ -z "$deployment" ] || misuse "the console of another deployment needs a port of its own: --console-port PORT"
		console_port=8082
	fi
	[ -x "$programs_dir/connect" ] || die "the programs are not in $programs_dir: build them first"
	site=$nginx/sites-available/$instance.conf
	if [ -z "$user_check" ] && { [ ! -e "$etc/config.json" ] || { [ -d "$nginx" ] && [ ! -e "$site" ]; }; }; then
		ask_user_check
	fi
	read_provider
	problems=0
	connect_admin
	setup_folder
	setup_keys
	setup_deployment
	setup_units
	setup_database
	setup_nginx
	[ $api -eq 0 ] || setup_api
	[ $console -eq 0 ] || setup_console
	[ $problems -eq 0 ] || die "not everything is set up; correct what is said above, and run setup again"
	[ $dry_run -eq 0 ] || return 0
	say_next
	[ $api -eq 0 ] || say_next_api
	[ $console -eq 0 ] || say_next_console
}

# setup_option OPTION VALUE
setup_option()
{
	case $1 in
	--oauth)
		case $2 in
		'' | [_-]* | *[!a-z0-9_-]*) misuse "a provider's name has a-z, 0-9, _ and -" ;;
		esac
		oauth="$oauth $2"
		;;
	--user-check)
		case $2 in
		oauth2-proxy | basic | remote-user | openid | session-ticket | confirm) user_check=$2 ;;
		*) misuse "--user-check is oauth2-proxy, basic, remote-user, openid, session-ticket or confirm" ;;
		esac
		;;
	--issuer)
		case $2 in
		*[!A-Za-z0-9.:/_~%-]*) misuse "--issuer takes an address, as the provider's discovery document has it" ;;
		esac
		issuer=$2
		;;
	--client-id)
		case $2 in
		'' | *[!A-Za-z0-9.:/_~@-]*) misuse "--client-id takes the id of a client" ;;
		esac
		client_id=$2
		;;
	--database-host)
		case $2 in
		'' | *[!A-Za-z0-9.:_-]*) misuse "--database-host takes HOST or HOST:PORT" ;;
		esac
		database_host=$2
		;;
	--database-network)
		case $2 in
		'' | *[!0-9A-Fa-f.:/]*) misuse "--database-network takes a network, as 192.0.2.0/24" ;;
		esac
		database_network=$2
		;;
	--api-port | --console-port)
		case $2 in
		'' | *[!0-9]* | ??????*) misuse "$1 takes a number" ;;
		esac
		case $1 in
		--api-port) api_port=$2 ;;
		*) console_port=$2 ;;
		esac
		;;
	--systemd) systemd=$(absolute "${2%/}") ;;
	--user) user=$2 ;;
	--api-user) api_user=$2 ;;
	--console-user) console_user=$2 ;;
	--operator)
		[ -n "$2" ] || misuse "--operator takes a name"
		operators="$operators${operators:+, }$(json_string "$2")"
		;;
	--etc) etc=$(absolute "${2%/}") ;;
	--nginx) nginx=$(absolute "${2%/}") ;;
	esac
}

# Sets `host` and `port`.
check_base_url()
{
	[ -n "$base_url" ] || misuse "setup takes the address of the callbacks, https://CALLBACK.EXAMPLE"
	host=${base_url#https://}
	case $host in
	"$base_url" | '' | :* | *[!A-Za-z0-9.:-]* | *:*:*)
		misuse "the address is https://HOST or https://HOST:PORT, and nothing after it"
		;;
	esac
	port=443
	case $host in
	*:)
		misuse "the address has no port behind its colon"
		;;
	*:*)
		port=${host#*:}
		host=${host%:*}
		;;
	esac
	case $port in
	*[!0-9]*) misuse "the port is a number" ;;
	esac
}

# The discovery document says what the configuration needs of an OpenID provider.
read_provider()
{
	if [ "$user_check" != openid ]; then
		[ -z "$issuer$client_id" ] || misuse "--issuer and --client-id are for --user-check openid"
		return 0
	fi
	if [ -z "$issuer" ] || [ -z "$client_id" ]; then
		misuse "--user-check openid needs --issuer and --client-id"
	fi
	make_scratch
	fetch_discovery "$issuer"
	if [ "$(discovery_value id_token)$(discovery_value form_post)" != "" ]; then
		die "$issuer does not answer with an id token by form_post: take another --user-check"
	fi
}

# How users sign in decides what is in the configuration and in nginx's site.
ask_user_check()
{
	if [ ! -t 0 ]; then
		[ $dry_run -eq 1 ] || misuse "how do users sign in? Say --user-check HOW: urlmode help setup"
		say "would ask how users sign in (--user-check)"
		return
	fi
	cat <<'END'
How does urlmode know who the user is?
  oauth2-proxy    nginx asks oauth2-proxy on this host
  basic           nginx asks for a name and a password
  openid          your OpenID provider
  remote-user     nginx knows it in another way, which you set up
  session-ticket  your own web session on the same host says so
  confirm         nobody checks: for development
END
	ask_option --user-check 'One of these: '
	if [ "$user_check" = openid ]; then
		[ -n "$issuer" ] || ask_option --issuer 'The issuer, as its discovery document has it: '
		[ -n "$client_id" ] || ask_option --client-id 'The id of the client that you have registered there: '
	fi
}

# ask_option OPTION QUESTION: as if the answer stood on the command line.
ask_option()
{
	printf '%s' "$2"
	read -r answer || exit 1
	setup_option "$1" "$answer"
}

# --- Steps ------------------------------------------------------------------

# step WHAT COMMAND...: says what is done, and does it.
step()
{
	if [ $dry_run -eq 1 ]; then
		say "would $1"
		return
	fi
	say "$1"
	shift
	"$@"
}

keep()
{
	say "keep $1"
}

problem()
{
	warn "$@"
	problems=$((problems + 1))
}

# write_new FILE MODE GROUP: of what is in scratch; never an existing file.
write_new()
{
	write_beside "$1" <"$scratch/new"
	rm -f "$scratch/new"
	chmod "$2" -- "$unfinished"
	if is_root; then
		chown "root:$3" -- "$unfinished"
	fi
	ln -- "$unfinished" "$1"
	rm -f -- "$unfinished"
	unfinished=
}

setup_folder()
{
	if is_root && ! id "$user" >/dev/null 2>&1; then
		step "create the user $user" create_user "$user"
	fi
	if [ -d "$etc" ]; then
		keep "$etc"
	else
		step "create $etc" make_folder "$etc" "$user"
	fi
}

# create_user NAME: who owns nothing.
create_user()
{
	useradd --system --user-group --no-create-home --home-dir /nonexistent \
		--shell /usr/sbin/nologin "$1"
}

# make_folder FOLDER USER: which this user's group can read.
make_folder()
{
	mkdir -p -- "$1"
	chmod 750 -- "$1"
	if is_root; then
		chown "root:$(group_of "$2")" -- "$1"
	fi
}

# group_of USER: who may not exist, where root does not ask.
group_of()
{
	id -gn "$1" 2>/dev/null || say "$1"
}

setup_keys()
{
	if [ -e "$etc/keys" ]; then
		keep "$etc/keys"
	else
		step "create $etc/keys with a new key" write_keys "$etc/keys" "$user"
	fi
}

# write_keys FILE USER
write_keys()
{
	secret=$(openssl rand -base64 32)
	{
		say "1 $secret"
		say "# $(date -u +%Y-%m-%dT%H:%M:%SZ) key 1 seals"
	} >"$scratch/new"
	write_new "$1" 640 "$(group_of "$2")"
}

# What is left to do for the sign-in.
say_sign_in()
{
	case $user_check in
	oauth2-proxy) say ", and start oauth2-proxy as $nginx/$instance/auth-request.conf says." ;;
	basic) say ", and your users into $nginx/$instance.htpasswd: htpasswd -B -c FILE NAME" ;;
	remote-user) say ", and have nginx set \$urlmode_user: see What to know in nginx/README.md." ;;
	openid) say ", and register $base_url/signin/return at $issuer." ;;
	session-ticket) say ", and have your web session set the cookie of urlmode.ticket()." ;;
	*) say . ;;
	esac
}

say_next()
{
	cat <<END

Next:
  1. Enter your providers into $etc/config.json$(say_sign_in)
  2. Give the MCP server what is in $etc/server.env, and a copy of $etc/keys
     that only it can read; its URLMODE_KEYS_FILE is that copy:
       install -m 640 -o root -g GROUP $etc/keys /etc/YOUR-SERVER/urlmode.keys
  3. Start the programs:
       systemctl enable --now $instance.target
END
	if [ ! -d "$nginx" ]; then
		say "  4. Lead the routes of your web server to the programs."
	elif [ -e "$enabled" ]; then
		say "  4. Reload nginx: nginx -t && systemctl reload nginx"
	else
		cat <<END
  4. Get a certificate for $host, enable the site, and reload nginx:
       ln -s ../sites-available/$instance.conf $(dirname -- "$enabled")/
       nginx -t && systemctl reload nginx
END
	fi
	say "  5. urlmode ${deployment:+--deployment $deployment }check"
}
