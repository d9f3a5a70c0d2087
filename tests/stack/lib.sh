# shellcheck shell=bash
# What the scripts beside this share: a stack in $RUN_DIR, its services, and
# how each is started and stopped.
#
# Every service is a session of its own, so that Ctrl-C reaches nobody but
# `run`, and a kill of the session leaves nothing behind. pid/NAME.pid holds
# its process id, pid/NAME.start the time at which that process started: a
# number that another process got later is never mistaken for it.
set -euo pipefail

TREE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
RUN_DIR=$(realpath -ms -- "${RUN_DIR:-$TREE/build/run}")
PROGRAM_DIR=$(realpath -ms -- "${PROGRAM_DIR:-$TREE/build/bin}")
PORT=${PORT:-8080}
DEMO=${DEMO:-1}
# The demo's provider signs users in. Without the demo nobody does.
[[ $DEMO == 0 ]] && USER_CHECK=${USER_CHECK:-confirm}
USER_CHECK=${USER_CHECK:-openid}
PROCESSES=${PROCESSES:-1}
PATH=$PATH:/usr/sbin:/sbin
API=${API:-0}
CONSOLE=${CONSOLE:-0}
CONSOLE_USER=${CONSOLE_USER-}
export RUN_DIR PROGRAM_DIR PORT DEMO USER_CHECK PROCESSES API CONSOLE CONSOLE_USER PATH

# Nothing of the caller's may lead psql or a program elsewhere.
unset "${!PG@}" "${!URLMODE_@}"

# shellcheck source=versions
. "$TREE/tests/stack/versions"
PGBIN=${POSTGRES_BIN:-/usr/lib/postgresql/$postgresql/bin}

PROGRAMS=()
for file in "$TREE"/cgi-bin/*.c; do
	name=${file##*/}
	# These are no programs of the callback host: API=1 and CONSOLE=1 start them as well.
	[[ -e $file && ($name != api.c || $API == 1) && ($name != console.c || $CONSOLE == 1) ]] &&
		PROGRAMS+=("${name%.c}")
done
DEMO_SERVICES=(provider checkout server host)
# In the order in which they start; `run` is the script in the foreground.
SERVICES=(postgres nginx "${PROGRAMS[@]}" "${DEMO_SERVICES[@]}" run)
# Whoever stops a stack does not know with which it began.
[[ $API == 1 ]] || SERVICES+=(api)
[[ $CONSOLE == 1 ]] || SERVICES+=(console)

die()
{
	printf 'urlmode: %s\n' "$*" >&2
	exit 1
}

# --- Who runs it, and where -------------------------------------------------

# PostgreSQL refuses to run as root. So as root the whole script goes on as
# the user postgres, who may read whatever root may (the tree may lie in a
# folder that only root can search) and write in $RUN_DIR alone.
leave_root()
{
	local capability as

	[[ $EUID -eq 0 ]] || return 0
	as=(setpriv --reuid=postgres --regid=postgres --init-groups)
	for capability in dac_read_search dac_override ''; do
		[[ -n $capability ]] &&
			as+=(--inh-caps="+$capability" --ambient-caps="+$capability")
		if "${as[@]}" ls "$TREE" "$RUN_DIR" >/dev/null 2>&1; then
			exec "${as[@]}" env HOME="$RUN_DIR" bash "$0" "$@"
		fi
		as=("${as[@]:0:4}")
	done
	die "the user postgres cannot read $TREE, and PostgreSQL refuses root"
}

# Creates $RUN_DIR, or takes it over when it is empty or a stack's already.
claim_run_dir()
{
	mkdir -p -- "$RUN_DIR" 2>/dev/null || die "cannot create $RUN_DIR"
	umask 077
	if [[ ! -d $RUN_DIR/pid ]]; then
		[[ -z $(ls -A -- "$RUN_DIR") ]] ||
			die "$RUN_DIR is not empty and no stack's: choose another RUN_DIR"
		chmod 700 -- "$RUN_DIR"
		: >"$RUN_DIR/lock"
		mkdir -- "$RUN_DIR/pid"
		[[ $EUID -ne 0 ]] || chown postgres: -- "$RUN_DIR" "$RUN_DIR"/{lock,pid}
	fi
	check_owner
}

check_owner()
{
	local owner

	owner=$(stat -c %U -- "$RUN_DIR/pid")
	[[ $owner == "$(id -un)" || ($EUID -eq 0 && $owner == postgres) ]] ||
		die "$RUN_DIR belongs to $owner: remove it or choose another RUN_DIR"
}

# One script at a time, held until it ends.
lock_run_dir()
{
	exec 9<"$RUN_DIR/lock"
	flock -w 60 9 || die "another script is busy with $RUN_DIR"
}

# --- Processes --------------------------------------------------------------

# The time at which a process started, in clock ticks since boot; nothing when
# there is none, or only what its parent has not waited for yet.
start_time()
{
	local line fields

	# Gone between two looks at it is gone.
	{ line=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
	# Behind the name, which may hold anything: the state is the first.
	read -ra fields <<<"${line##*) }"
	[[ ${fields[0]-} == [ZX] ]] || printf '%s' "${fields[19]-}"
}

# recorded NAME: sets pid and started; false where there is no record. Another
# script may remove it at any time.
recorded()
{
	# The second one has no line end.
	{ read -r pid <"$RUN_DIR/pid/$1.pid" && { read -r started || :; } <"$RUN_DIR/pid/$1.start"; } 2>/dev/null
}

# lives PID STARTED
lives()
{
	[[ -n $2 && $(start_time "$1") == "$2" ]]
}

alive()
{
	local pid started

	recorded "$1" && lives "$pid" "$started"
}

# start NAME COMMAND…: its output goes to log/NAME.log
start()
{
	local name=$1

	shift
	setsid -- "$@" </dev/null >>"$RUN_DIR/log/$name.log" 2>&1 8>&- 9>&- &
	record "$name" $!
}

# record NAME PID
record()
{
	start_time "$2" >"$RUN_DIR/pid/$1.start"
	printf '%s\n' "$2" >"$RUN_DIR/pid/$1.pid"
}

# stop NAME SIGNAL: and the whole session with SIGKILL when that takes longer
# than ten seconds
stop()
{
	local name=$1 pid started tries

	recorded "$name" || return 0
	if lives "$pid" "$started"; then
		[[ $pid -ne $$ ]] || return 0
		kill -s "$2" "$pid" 2>/dev/null || true
		for ((tries = 0; tries < 200; tries++)); do
			lives "$pid" "$started" || break
			sleep 0.05
		done
		kill -s KILL -- "-$pid" 2>/dev/null || true
		! lives "$pid" "$started" || kill -s KILL "$pid" 2>/dev/null || true
	fi
	rm -f -- "$RUN_DIR/pid/$name".{pid,start}
}

# await NAME SECONDS COMMAND…: until the command succeeds; not when the
# service ends or the time does
await()
{
	local name=$1 deadline=$((SECONDS + $2))

	shift 2
	until "$@" >/dev/null 2>&1; do
		alive "$name" || failed "$name" "ended while starting"
		((SECONDS < deadline)) || failed "$name" "does not answer"
		sleep 0.05
	done
}

failed()
{
	printf 'urlmode: %s %s; the end of %s:\n' "$1" "$2" "$RUN_DIR/log/$1.log" >&2
	tail -n 15 -- "$RUN_DIR/log/$1.log" | sed 's/^/    /' >&2
	exit 1
}

# --- Services ---------------------------------------------------------------

service_start()
{
	alive "$1" && return
	# Sockets are named from here: the address of a unix socket has 107
	# bytes, and $RUN_DIR may have more.
	cd -- "$RUN_DIR"
	case $1 in
	postgres)
		start postgres "$PGBIN/postgres" -D "$RUN_DIR/pg"
		await postgres 30 "$PGBIN/pg_isready" -q -h 127.0.0.1 -p "$PG_PORT"
		;;
	nginx)
		start nginx nginx -e "$RUN_DIR/log/nginx-error.log" \
			-p "$RUN_DIR/" -c "$RUN_DIR/nginx.conf"
		await nginx 10 answers "$PORT" /
		;;
	provider | checkout | server | host)
		local port=${1^^}_PORT
		start "$1" env "$port=${!port}" node "$TREE/tests/demo/$1.mjs"
		await "$1" 30 connects "${!port}"
		# Its keys are new each time.
		[[ $1$USER_CHECK != provideropenid ]] ||
			URLMODE_CONFIG=$RUN_DIR/config.json "$TREE/nginx/command/urlmode" jwks refresh >&2
		;;
	*)
		local config=$RUN_DIR/config.json
		[[ $1 != api && $1 != console ]] || config=$RUN_DIR/$1.json
		# A program that lived for 20 ms is started again however often
		# it crashes; one that cannot start is given up after 100 times.
		[[ ! -e sock/$1.sock ]] || rm -f -- "sock/$1.sock"
		start "$1" env URLMODE_CONFIG="$config" spawn-fcgi -s "sock/$1.sock" -M 0660 -b 1024 -n -- \
			"$(command -v multiwatch)" -f "$PROCESSES" -s TERM -t 20 -r 100 -- "$PROGRAM_DIR/$1"
		await "$1" 10 serves "$1"
		;;
	esac
}

service_stop()
{
	case $1 in
	postgres) stop postgres INT ;; # without waiting for its clients
	*) stop "$1" TERM ;;
	esac
}

# Whether a program answers through nginx, by a route that needs no database.
serves()
{
	case $1 in
	connect) answers "$PORT" /connect/ ;;
	oauth-return) answers "$PORT" /oauth/ ;;
	status) answers "$PORT" /done ;;
	*) test -S "$RUN_DIR/sock/$1.sock" ;;
	esac
}

# Whether something listens on a loopback port.
connects()
{
	(exec 3<>"/dev/tcp/127.0.0.1/$1")
}

# answers PORT PATH: whether a GET is answered, and not with a 5xx
answers()
{
	local status

	{
		printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$2" >&3
		read -r -t 5 _ status _ <&3
	} 3<>"/dev/tcp/127.0.0.1/$1" && [[ $status == [1-4]* ]]
}

# shellcheck source=cluster.sh
. "$TREE/tests/stack/cluster.sh"

# --- The whole stack --------------------------------------------------------

running()
{
	local name

	for name in "${SERVICES[@]}"; do
		alive "$name" && return
	done
	return 1
}

refuse_second_stack()
{
	running || return 0
	# shellcheck disable=SC1091 # written by configure
	[[ -r $RUN_DIR/env ]] && . "$RUN_DIR/env"
	die "a stack runs in $RUN_DIR already${URLMODE_BASE_URL:+, at $URLMODE_BASE_URL}; make down ends it"
}

new_password()
{
	od -An -v -N24 -tx1 /dev/urandom | tr -d ' \n'
}

# A password, made once.
secret()
{
	local file=$RUN_DIR/secrets/$1

	[[ -s $file ]] || new_password >"$file"
	cat -- "$file"
}

# configure_api PASSWORD DATABASE: the configuration of the api, a key, and its server
# in nginx.
configure_api()
{
	local key

	key=umk_$(head -c 32 /dev/urandom | base64 -w 0 | tr '+/' '-_' | tr -d '=')
	printf '%s' "$key" >secrets/api.key
	printf 'stack - %s\n' "$(printf '%s' "$key" | sha256sum | cut -d ' ' -f 1)" >api-keys
	printf '{"base_url": "http://127.0.0.1:%s", "keys_file": "keys", "database_url": "postgresql://urlmode_server:%s@%s"}\n' \
		"$PORT" "$1" "$2" >api.json
	sed 's|unix:/run/urlmode-api/|unix:sock/|' "$TREE/nginx/urlmode/api-http.conf" >api-http.conf
	sed -i '$d' nginx.conf
	cat >>nginx.conf <<-CONF

		include api-http.conf;
		server {
			listen 127.0.0.1:$API_PORT;
			access_log log/api-access.log urlmode_api;
			include urlmode/api.conf;
		}
		}
	CONF
}

# configure_console PASSWORD DATABASE: its configuration, and its server in nginx, which
# believes the header X-Remote-User, and without one takes everybody for CONSOLE_USER.
configure_console()
{
	printf '1 %s\n' "$(head -c 32 /dev/urandom | base64 -w 0)" >console-keys
	printf '{"base_url": "http://127.0.0.1:%s", "keys_file": "console-keys", "database_url": "postgresql://urlmode_operator:%s@%s", "providers_dir": "%s", "console": {"operators": ["ada", "grace"]}}\n' \
		"$CONSOLE_PORT" "$1" "$2" "$TREE/lib/providers" >console.json
	sed 's|unix:/run/urlmode-console/|unix:sock/|' "$TREE/nginx/urlmode/console-http.conf" >console-http.conf
	sed -i '$d' nginx.conf
	cat >>nginx.conf <<-CONF

		include console-http.conf;
		server {
			listen 127.0.0.1:$CONSOLE_PORT;
			access_log log/console-access.log urlmode_console;
			include urlmode/console.conf;
			set \$urlmode_console_user \$http_x_remote_user;
			if (\$http_x_remote_user = "") {
				set \$urlmode_console_user "$CONSOLE_USER";
			}
		}
		}
	CONF
}

# Everything that the services read. Nothing of an earlier stack stays.
configure()
{
	local cgi server operator admin database quoted=${RUN_DIR//\'/\'\\\'\'}

	cd -- "$RUN_DIR"
	rm -rf -- log pg pg.password secrets sock tmp
	mkdir -- log secrets sock tmp
	cgi=$(secret urlmode_cgi)
	server=$(secret urlmode_server)
	operator=$(secret urlmode_operator)
	admin=$(secret postgres)
	database=127.0.0.1:$PG_PORT/urlmode
	printf '1 %s\n' "$(head -c 32 /dev/urandom | base64 -w 0)" >keys

	# A known key: it stands for PayPal's, and to make one takes as long as the rest.
	cp -- "$TREE/tests/unit/keys/rsa-1.pem" secrets/paypal.key
	openssl req -x509 -key secrets/paypal.key -days 30 -subj /CN=paypal.example \
		-addext basicConstraints=critical,CA:FALSE -out secrets/paypal.pem 2>/dev/null
	node "$TREE/tests/stack/config.mjs" base_url="http://127.0.0.1:$PORT" \
		database_url="postgresql://urlmode_cgi:$cgi@$database" \
		issuer="http://localhost:$PROVIDER_PORT" user_check="$USER_CHECK" \
		providers_dir="$TREE/lib/providers" >config.json
	# What is deployed is what is run: only the frame around the snippets
	# and the place of the sockets are another.
	ln -sfn -- "$TREE/nginx/urlmode" urlmode
	sed "s/@PORT@/$PORT/" "$TREE/nginx/dev.conf.in" >nginx.conf
	sed 's|unix:/run/urlmode/|unix:sock/|' "$TREE/nginx/urlmode/upstreams.conf" \
		>upstreams.conf
	[[ $API != 1 ]] || configure_api "$server" "$database"
	[[ $CONSOLE != 1 ]] || configure_console "$operator" "$database"

	cat >env.new <<-ENV
		export URLMODE_BASE_URL='http://127.0.0.1:$PORT'
		export URLMODE_DATABASE_URL='postgresql://urlmode_server:$server@$database'
		export URLMODE_OPERATOR_DATABASE_URL='postgresql://urlmode_operator:$operator@$database'
		export URLMODE_ADMIN_DATABASE_URL='postgresql://postgres:$admin@$database'
		export URLMODE_PROGRAMS_DATABASE_URL='postgresql://urlmode_cgi:$cgi@$database'
		export URLMODE_KEYS_FILE='$quoted/keys'
		export URLMODE_CONFIG='$quoted/config.json'
		export URLMODE_RUN_DIR='$quoted'
		export URLMODE_DEMO_URL='http://127.0.0.1:$HOST_PORT/'
		export URLMODE_DEMO_MCP_URL='http://127.0.0.1:$SERVER_PORT/mcp'
		export URLMODE_DEMO_ISSUER='http://localhost:$PROVIDER_PORT'
		export URLMODE_DEMO_CHECKOUT_URL='http://localhost:$CHECKOUT_PORT'
	ENV
	[[ $API != 1 ]] || cat >>env.new <<-ENV
		export URLMODE_API_URL='http://127.0.0.1:$API_PORT'
		export URLMODE_API_KEY='$(cat -- secrets/api.key)'
		export URLMODE_API_CONFIG='$quoted/api.json'
	ENV
	[[ $CONSOLE != 1 ]] || cat >>env.new <<-ENV
		export URLMODE_CONSOLE_URL='http://127.0.0.1:$CONSOLE_PORT'
		export URLMODE_CONSOLE_CONFIG='$quoted/console.json'
	ENV
	# For `service`, which starts a part of a stack that stands already.
	{
		printf '%s=%q\n' PROGRAM_DIR "$PROGRAM_DIR"
		printf '%s=%s\n' PROCESSES "$PROCESSES" USER_CHECK "$USER_CHECK" PORT "$PORT" PG_PORT "$PG_PORT" \
			PROVIDER_PORT "$PROVIDER_PORT" CHECKOUT_PORT "$CHECKOUT_PORT" \
			SERVER_PORT "$SERVER_PORT" HOST_PORT "$HOST_PORT" API "$API" API_PORT "$API_PORT" \
			CONSOLE "$CONSOLE" CONSOLE_PORT "$CONSOLE_PORT"
	} >ports
}

stack_up()
{
	local name ports

	for name in "${PROGRAMS[@]}"; do
		[[ -x $PROGRAM_DIR/$name ]] ||
			die "$PROGRAM_DIR/$name is not there: make build first"
	done
	ports=$(node "$TREE/tests/stack/ports.mjs" "$PORT" 7) || exit 1
	read -r PORT PG_PORT PROVIDER_PORT CHECKOUT_PORT SERVER_PORT HOST_PORT API_PORT CONSOLE_PORT <<<"$ports"

	trap stack_down EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	export TMPDIR=$RUN_DIR/tmp
	ulimit -n "$(ulimit -Hn)" 2>/dev/null || true
	configure
	# shellcheck disable=SC1091 # written by configure
	. "$RUN_DIR/env.new"

	prepare_postgres
	service_start nginx
	for name in "${PROGRAMS[@]}"; do
		service_start "$name"
	done
	await status 10 answers "$PORT" /healthz
	for name in "${DEMO_SERVICES[@]}"; do
		[[ $DEMO == 0 || ! -e $TREE/tests/demo/$name.mjs ]] ||
			service_start "$name"
	done
	mv env.new env
}

# Stops whatever of a stack is there, the last started first.
stack_down()
{
	local index pid

	trap '' INT TERM HUP
	rm -f -- "$RUN_DIR/env" "$RUN_DIR/env.new"
	for ((index = ${#SERVICES[@]} - 1; index >= 0; index--)); do
		service_stop "${SERVICES[index]}"
	done
	# A child of this shell that a signal kept from being recorded.
	for pid in $(jobs -p); do
		kill -s KILL "$pid" -- "-$pid" 2>/dev/null || true
	done
	rm -f -- "$RUN_DIR"/pid/*
}
