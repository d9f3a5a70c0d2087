# shellcheck shell=sh disable=SC2154 # of common.sh
# urlmode check: what is wrong with this host, and what to do. Here: findings, and
# the configuration. The files check-NAME.sh go on.

# Limits of the warnings that come before a failure.
certificate_days=14
key_days=365
clock_seconds=2

help_check()
{
	cat <<'END'
usage: urlmode check [OPTION...]

Looks for what is wrong, and says of each check what it found and what to do. As
root it sees everything; others are told what they could not look at. It changes
nothing, except that it makes an elicitation, of a provider, a tenant and a user of
the name urlmode-check, and a key of the api, and deletes both. The checks are:

  programs       the programs and their user are there
  configuration  the programs accept it, and the descriptions of the providers
  signatures     no certificate for a provider's signatures expires in two weeks
  descriptions   each was compared with its provider's documents within a year
  approvals      user_check knows the users who decide for others
  permissions    nobody else can read or change secrets
  keys           the programs can read them; the one that seals is not old
  server_keys    the copy of an MCP server has the same keys
  issuer_keys    the keys of the OpenID provider are there, and fetched when due
  database       the programs reach it, and it can be written to
  role           the programs' role has its settings, and no right too many
  clock          the database's clock is that of this host
  migrations     the database has all that belong to this version
  schema         it is as the last migrate has left it, with its rights
  server         MCP servers reach the database with what setup has written for them
  storage        its file systems are not full, where it runs on this host
  deliveries     each delivery of the last day with a right signature could be read
  units          systemd's units of the programs, nginx and purge run, without failing,
                 and start when the host does
  sockets        somebody listens on each, and not everybody can connect to it
  nginx          it accepts its configuration, and runs with it
  snippets       the files in nginx's folder are those of this version
  local          /healthz answers well through nginx of this host
  answers        each program answers through nginx of this host
  sign_in        a user who opens a link is asked to sign in, or gets through
  loaded         the programs run with the configuration that is on disk
  walk           a user gets through: this command opens a link of its own, declines,
                 and waits for the outcome as an MCP server does
  webhook        a provider gets through: this command sends a signed delivery, which
                 is ignored
  certificate    browsers accept it, for two weeks at least
  outside        what answers at base_url is this host
  issuer         the OpenID provider is as the configuration says
  api            the api creates, shows and ends an elicitation, where it is set up
  console        the console is there for those who are known, where it is set up, and its
                 login sees what waits; the callback host has none of it

  --only CHECKS       these alone, with commas between them, and what they need of others
  --record            keep the numbers of errors and warnings for /metrics
  --json              one JSON object, with the status and an array of findings
  --server-keys FILE  compare the keys file with this one, a copy of an MCP
                      server's; by default the one of URLMODE_KEYS_FILE
  --user NAME         who the programs run as, urlmode by default
  --nginx DIR         nginx's configuration, /etc/nginx by default
  --sockets DIR       where the sockets are, /run/urlmode by default
  --api-url URL       where the api listens; by default where its site of nginx says
  --today DAY         the day of which the descriptions' age counts, YYYY-MM-DD

Status: 0 nothing is wrong, 1 warnings, 2 errors.
END
}

run_check()
{
	json=0
	record=0
	only=
	server_keys=${URLMODE_KEYS_FILE-}
	user=$instance
	nginx=/etc/nginx
	systemd=/etc/systemd/system
	sockets=$run_dir
	api_url=
	today=
	while [ $# -gt 0 ]; do
		case $1 in
		--json) json=1 ;;
		--record) record=1 ;;
		--only | --server-keys | --user | --nginx | --sockets | --api-url | --today)
			needs_value "$1" $#
			case $1 in
			--only) read_only "$2" ;;
			--server-keys) server_keys=$2 ;;
			--user) user=$2 ;;
			--today) today=$2 ;;
			--api-url) api_url=${2%/} ;;
			--nginx) nginx=$(absolute "${2%/}") ;;
			--sockets) sockets=$(absolute "${2%/}") ;;
			esac
			shift
			;;
		*) unknown_argument "$1" ;;
		esac
		shift
	done
	[ -z "$only" ] || [ $record -eq 0 ] || misuse "--record keeps the numbers of a whole check, without --only"
	make_scratch
	chmod 711 "$scratch"
	trap 'check_broke' EXIT
	if check_scratch && check_programs && read_environment && check_configuration; then
		! wants permissions || check_permissions
		! wants keys server_keys || check_keys
		! wants server_keys || check_server_keys
		! wants issuer_keys || check_issuer_keys
		! wants database role clock schema || check_database
		! wants migrations keys schema storage deliveries || check_migrations
		! wants keys || check_minted
		! wants schema || check_schema
		! wants server || check_server
		! wants storage || check_storage
		! wants deliveries || check_deliveries
		! wants units || check_units
		! wants sockets || check_sockets
		! wants nginx || check_nginx
		! wants snippets || check_snippets
		! wants local answers sign_in walk webhook || check_local
		! wants loaded sign_in || check_loaded
		! wants walk || check_walk
		! wants webhook || check_webhook
		! wants certificate || check_certificate
		! wants outside || check_outside
		! wants issuer || check_issuer
		! wants api || check_api
		! wants console || check_console
		check_scratch || :
	fi
	report
}

# read_only NAMES: of --only. Sets `only` to them, each between spaces.
read_only()
{
	only=' '
	for name in $(say "$1" | tr -c 'a-z_\n' ' '); do
		help_check | grep -q "^  $name  " || misuse "there is no check $name"
		only="$only$name "
	done
	[ "$only" != ' ' ] || misuse "--only needs the names of checks"
}

# wants CHECK...: whether one of them was asked for, or needs what runs for it. The programs and the
# configuration are always looked at.
wants()
{
	[ -n "$only" ] || return 0
	for name; do
		case $only in *" $name "*) return 0 ;; esac
	done
	return 1
}

# What the checks read back of it would be missing, as if nothing were wrong.
check_scratch()
{
	head -c 262144 /dev/zero >"$scratch/room" 2>/dev/null && [ "$(wc -c <"$scratch/room")" -eq 262144 ] || {
		finding error programs "nothing can be written into $scratch, so not everything was looked at" \
			"make room there: df $scratch"
		return 1
	}
	rm "$scratch/room"
}

report()
{
	trap - EXIT
	[ -n "$findings" ] || finding error programs "nothing was looked at" "please report it"
	status=0
	[ $warnings -eq 0 ] || status=1
	[ $errors -eq 0 ] || status=2
	[ $record -eq 0 ] || record_in_database
	[ $record -eq 0 ] || record_findings || warn "the numbers of this check could not be kept"
	if [ $json -eq 1 ]; then
		findings_json
	else
		findings_text
	fi
	rm -rf "$scratch"
	[ -z "$unfinished" ] || rm -f "$unfinished"
	exit $status
}

# For the console. Where the database does not answer, there is a finding that says so.
record_in_database()
{
	[ -z "$operator_reached" ] || ask_database -v host="$(cat /proc/sys/kernel/hostname)" -v errors=$errors -v warnings=$warnings >/dev/null <<'SQL' || :
SELECT urlmode.record_check(:'host', :'errors', :'warnings');
SQL
}

# For the program status: when, how many errors and warnings, and when the certificate ends. Without a configuration it is not known where.
record_findings()
{
	recorded=$(ask config metrics_file 2>/dev/null) || return 0
	: "${recorded:=$run_dir/metrics/counters}"
	# The folder is the programs': what root wrote there, they could lead elsewhere.
	# shellcheck disable=SC2016 # sh expands it
	say "$(date +%s) $errors $warnings ${certificate_end:-0}" |
		as_programs sh -c 'umask 022 && rm -f -- "$1.new" && cat >"$1.new" && mv -fT -- "$1.new" "$1"' sh "$recorded.check"
}

# A check that breaks must not hide what the others have found.
check_broke()
{
	(drop_walk_key; leave_walk) || :
	finding error programs "urlmode check itself has failed: not everything was looked at" \
		"the line before says where; please report it"
	report
}

# --- Findings ---------------------------------------------------------------

tab=$(printf '\t')
newline='
'

# finding SEVERITY CHECK MESSAGE [ADVICE]: ok, warning, error, or skipped. In memory, and
# never in a subshell.
findings='' errors=0 warnings=0 skipped=0
# Of the certificate that browsers are shown, once it was seen: when it expires, Unix time.
certificate_end=
finding()
{
	case $1 in
	error) errors=$((errors + 1)) ;;
	warning) warnings=$((warnings + 1)) ;;
	skipped) skipped=$((skipped + 1)) ;;
	esac
	found="$3$tab" advised=${4-}
	case $deployment-$advised in [!-]*-*urlmode\ [a-z]*) advised=$(for_deployment "$advised") ;; esac
	# A process for each text would be most of what a check starts.
	case $3$advised in *[!\ -~]*) found="$(printable "$3")$tab" advised=$(printable "$advised") ;; esac
	findings="$findings$1$tab$2$tab$found$advised
"
}

# for_deployment ADVICE: that names the command as it is called for this deployment.
for_deployment()
{
	say "$1" | sed "s/\burlmode \(setup\|check\|keys\|api-key\|jwks\|events\|migrate\|pages\|purge\)\b/urlmode --deployment $deployment \1/g"
}

findings_text()
{
	printf %s "$findings" | while IFS=$tab read -r severity check message advice; do
		printf '%-8s %-14s %s\n' "$severity" "$check" "$message"
		[ -z "$advice" ] || printf '%-8s %-14s -> %s\n' '' '' "$advice"
	done
	say "$errors errors, $warnings warnings, $skipped skipped"
}

findings_json()
{
	worst=ok
	[ $warnings -eq 0 ] || worst=warning
	[ $errors -eq 0 ] || worst=error
	printf '{"status":"%s","errors":%s,"warnings":%s,"skipped":%s,"findings":[' $worst $errors $warnings $skipped
	comma=
	printf %s "$findings" | while IFS=$tab read -r severity check message advice; do
		printf '%s{"check":"%s","severity":"%s","message":' "$comma" "$check" "$severity"
		json_string "$message"
		printf ',"advice":'
		json_string "$advice"
		printf '}'
		comma=,
	done
	say ']}'
}

# Whether root asks, and there is the user of the programs.
has_user=
can_be_user()
{
	if [ -z "$has_user" ]; then
		has_user=no
		! is_root || ! id "$user" >/dev/null 2>&1 || has_user=yes
	fi
	[ $has_user = yes ]
}

# as_programs COMMAND...: as the user of the programs, where root asks.
as_programs()
{
	if can_be_user; then
		(cd / && runuser -u "$user" -- "$@")
	else
		"$@"
	fi
}

# said FILE: what a command has written, as one line.
said()
{
	printable "$(head -c 1000 "$1")"
}

# --- Configuration ----------------------------------------------------------

check_programs()
{
	for file in $programs "$operate"; do
		case $file in /*) ;; *) file=$programs_dir/$file ;; esac
		[ -x "$file" ] || {
			finding error programs "$file is not there" "install urlmode"
			return 1
		}
	done
	if is_root && ! can_be_user; then
		finding warning programs "there is no user $user" "urlmode setup creates the user that the programs run as"
	else
		finding ok programs "$programs_dir"
	fi
}

check_configuration()
{
	# shellcheck disable=SC2016,SC2086 # for the shell of that user; the names of the programs
	as_programs sh -c 'folder=$1
		shift
		for name do
			said=$("$folder/$name" --check 2>&1 </dev/null) || { printf %s "$said"; exit 1; }
		done
		printf %s "$said"' sh "$programs_dir" $programs >"$scratch/said" 2>&1 || {
		if [ -e "$config" ]; then
			advice="correct $config, or who may read it: see urlmode-config(5)"
		else
			advice="urlmode setup https://HOST writes it"
		fi
		finding error configuration "$(said "$scratch/said")" "$advice"
		return 1
	}
	check_signatures
	read_configuration
	check_descriptions
	check_approvals
	check_deprecated
	finding ok configuration "$config, $providers providers, for $base_url"
}

# What goes with the next MAJOR version: a member of the configuration and what takes its place, one a line. nginx/UPGRADING.md names each.
deprecated_members=''

check_deprecated()
{
	while read -r member instead; do
		[ -n "$member" ] && grep -q "\"$member\"[[:space:]]*:" "$config" || continue
		finding warning configuration "$member is deprecated, and goes with the next major version" "$instead"
	done <<END
$deprecated_members
END
}

# Sets what the other checks look at.
read_configuration()
{
	base_url='' keys_file='' log_file='' user_check='' needed='' provider='' approvals='' providers=0
	ask config base_url keys_file log_file user_check programs providers openid >"$scratch/configuration"
	while read -r key value; do
		case $key in
		base_url) base_url=$value ;;
		keys_file) keys_file=$value ;;
		log_file) log_file=$value ;;
		user_check) user_check=$value ;;
		programs) needed="$needed $value" ;;
		providers)
			providers=$((providers + 1))
			name=${value%% *}
			provider=${provider:-$name}
			case $value in "$name approval "*) approvals=${approvals:+$approvals, }$name ;; esac
			;;
		esac
	done <"$scratch/configuration"
	sed -n 's/^openid //p' "$scratch/configuration" >"$scratch/openid"
	read_keys_of_environment
}

# Sets `keys_file` to the one with the keys, and `keys_name` to what it is called. Keys of
# the environment are in one that lives as long as the command.
read_keys_of_environment()
{
	keys_name=$keys_file
	[ -z "$keys_file" ] || return 0
	keys_file=$scratch/keys
	keys_name=URLMODE_KEYS
	printf '%s\n' "$URLMODE_KEYS" | tr ',' '\n' >"$keys_file"
}

# What the last program has said of the certificates of providers.
check_signatures()
{
	if [ -s "$scratch/said" ]; then
		finding warning signatures "$(said "$scratch/said")" "see $config for the file, and restart the programs then"
	else
		finding ok signatures "no certificate of a provider expires soon"
	fi
}

# A provider that has changed what it signs or sends would be refused.
check_descriptions()
{
	ask compared "$today" >"$scratch/compared"
	old=
	while read -r name day file; do
		old="${old:+$old, }$name since $day ($file)"
	done <"$scratch/compared"
	if [ -n "$old" ]; then
		finding warning descriptions "$(printable "not compared with the provider's documents: $old")" \
			"install a newer version, which may follow the provider, or compare the description and set its day: see urlmode delivery --help for a trial"
	else
		finding ok descriptions "each was compared within a year, or names no day"
	fi
}

# A link to an approval is for others than its starter, and proves nothing.
check_approvals()
{
	if [ -n "$approvals" ] && [ "$user_check" = confirm ]; then
		finding warning approvals "with user_check confirm nobody knows who decides: of $approvals only the starter's own approvals work, and others get 403 (approval_needs_sign_in)" \
			"choose another user_check, in $config, if others than the starter must decide: see urlmode-config(5)"
	else
		finding ok approvals "${approvals:-no provider} of kind approval, with user_check $user_check"
	fi
}

# check_mode FILE GROUP_BITS: nobody but the owner, and the group with at most
# these bits: 4 it may read, 0 nothing.
check_mode()
{
	mode=$(stat -L -c '%a %U' -- "$1")
	owner=${mode#* }
	mode=${mode%% *}
	others=$((mode % 10))
	group=$((mode / 10 % 10))
	if [ $others -ne 0 ]; then
		finding error permissions "$1 has mode $mode: every user has a right on it" "chmod o= $1"
	elif [ $((group & ~$2)) -ne 0 ]; then
		finding error permissions "$1 has mode $mode: its group has more rights than it needs" "chmod $3 $1"
	elif is_root && [ "$owner" != root ]; then
		finding warning permissions "$1 belongs to $owner, who can change it" "chown root $1"
	else
		return 0
	fi
	wrong=1
}

check_permissions()
{
	wrong=0
	check_mode "$config" 4 640
	[ "$keys_name" = URLMODE_KEYS ] || check_mode "$keys_file" 4 640
	environment_files | sed 's/^-//' >"$scratch/files"
	while read -r file; do
		[ ! -e "$file" ] || check_mode "$file" 0 600
	done <"$scratch/files"
	for file in operator.env server.env; do
		file=${config%/*}/$file
		[ ! -e "$file" ] || check_mode "$file" 0 600
	done
	[ $wrong -eq 1 ] ||
		finding ok permissions "$config and $keys_name can be read by those who need them"
}
