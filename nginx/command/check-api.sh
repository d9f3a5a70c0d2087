# shellcheck shell=sh disable=SC2154 # of common.sh, check.sh and api-key.sh
# What urlmode check sees of the api: its files, its unit, and a walk through nginx with a
# key of its own, which is there for as long as the walk.

walk_name=urlmode-check

check_api()
{
	if [ ! -e "$api_config" ]; then
		finding ok api "the api is not set up here"
		return
	fi
	wrong=0
	if check_api_files && check_own_runs api; then
		walk_api
	fi
	drop_walk_key
	[ -z "${walk_id-}" ] || ! reach_operator || leave_walk
}

# Whoever has a callback program must not have what the api has.
check_api_files()
{
	ask api-config "$api_config" >"$scratch/api" 2>"$scratch/said" || {
		finding error api "$(said "$scratch/said")" "correct $api_config, or who may read it: see urlmode-config(5); urlmode check sees it as root"
		return 1
	}
	set_api_keys_file
	api_copy=$(sed -n 's/^keys_file //p' "$scratch/api")
	for file in "$api_config" "$api_copy" "$api_keys_file"; do
		[ -z "$file" ] || [ ! -e "$file" ] || check_mode "$file" 4 640
		if can_be_user && [ "$api_config" != "${config%/*}/api.json" ] && as_programs test -r "$file"; then
			finding error permissions "the callback programs can read $file" "chgrp $instance-api $file, with the group of the api's user"
		fi
	done
	ask api-keys "$api_keys_file" 2>"$scratch/said" || {
		finding error api "$(said "$scratch/said")" "correct the file; urlmode api-key adds and removes keys"
		return 1
	}
	if [ -n "$api_copy" ] && [ -r "$api_copy" ]; then
		canonical_keys "$api_copy" >"$scratch/theirs"
		canonical_keys "$keys_file" | cmp -s - "$scratch/theirs" || {
			finding error api "$api_copy and $keys_name have different keys: what one seals the other may not open" \
				"copy $keys_name there; urlmode keys changes both"
			return 1
		}
	fi
}

# check_own_runs NAME: the unit and the socket of the api or the console.
check_own_runs()
{
	if has_units && look_at_unit "$instance-$1.service"; then
		check_unit "$instance-$1.service"
	fi
	socket=$sockets/$1.sock
	[ -S "$socket" ] || socket=$sockets-$1/$1.sock
	if [ ! -S "$socket" ]; then
		finding error sockets "there is no socket $socket" "start it: systemctl start $instance-$1.service"
	elif mode=$(stat -c %a -- "$socket" 2>/dev/null) && [ $((mode % 10)) -ne 0 ]; then
		finding error sockets "every user can connect to $socket" "its mode is 0660, and its group that of nginx"
	fi
}

# find_own_url NAME: sets `own_url`, and `own_socket` where it is one, to where nginx of this
# host has the api or the console, by the site that setup has written.
find_own_url()
{
	own_listen=
	own_socket=
	for file in "$nginx/sites-enabled/$instance-$1.conf" "$nginx/conf.d/$instance-$1.conf"; do
		[ ! -r "$file" ] || own_listen=$(sed -n 's/^[[:blank:]]*listen[[:blank:]]*\([^;]*\);.*/\1/p' "$file" | head -n 1)
	done
	case $own_listen in
	'' | *ssl*) return 1 ;;
	unix:*)
		own_socket=${own_listen#unix:}
		own_url=http://localhost
		;;
	*:*) own_url=http://${own_listen%% *} ;;
	*) own_url=http://127.0.0.1:${own_listen%% *} ;;
	esac
}

# Sets `api_url`, unless an option says it.
find_api_url()
{
	[ -z "$api_url" ] || return 0
	find_own_url api || return 1
	api_url=$own_url
	api_socket=$own_socket
}

# A key that nobody knows; one that a check has left that was killed goes.
add_walk_key()
{
	name=$walk_name
	tenant=$walk_name
	lock_api_keys
	! has_key || drop_api_key
	walk_key=$(new_api_key)
	has_walk_key=1
	write_api_key "$walk_key"
	printf 'Authorization: Bearer %s\nContent-Type: application/json\n' "$walk_key" >"$scratch/headers"
}

has_walk_key=
drop_walk_key()
{
	[ -n "$has_walk_key" ] || return 0
	has_walk_key=
	name=$walk_name
	! has_key || drop_api_key
	rm -f -- "$scratch/headers"
	exec 9<&-
}

# call METHOD BODY: sets `status` and `code`, the code of an error, and leaves the answer in
# scratch. The key is no argument of a process.
call()
{
	status=$(printf '%s' "$2" | curl -sS -q --noproxy '*' -m 20 ${api_socket:+--unix-socket "$api_socket"} -H "@$scratch/headers" \
		--data-binary @- -o "$scratch/answer" -w '%{http_code}' "$api_url/v1/$1" 2>"$scratch/said") || status=000
	code=
	[ ! -e "$scratch/answer" ] || code=$(answer_value code)
}

# answer_value NAME: a text of the answer, which has no escapes.
answer_value()
{
	sed -n "s/.*\"$1\":\"\([^\"\\\\]*\)\".*/\1/p" "$scratch/answer" | head -n 1
}

walk_api()
{
	if ! command -v curl >/dev/null; then
		finding skipped api "the api cannot be asked without curl" "install curl"
		return
	elif ! find_api_url; then
		finding skipped api "no site $instance-api.conf of nginx says where the api listens without TLS" \
			"urlmode setup --api writes one; or urlmode check --api-url URL"
		return
	elif [ ! -w "${api_keys_file%/*}" ]; then
		finding skipped api "only root can add the key with which the api is asked" "run urlmode check as root"
		return
	fi
	add_walk_key
	walk_create && walk_wait && walk_end &&
		finding ok api "it creates, shows and ends an elicitation, at $api_url"
	return 0
}

# The program looks at its file once a second.
walk_create()
{
	for attempt in 1 2 3 4 5 6 7 8 9 10; do
		call create "{\"provider\":\"$walk_name\",\"kind\":\"approval\",\"subject\":\"$walk_name\",\"form\":{\"title\":\"$walk_name\"},\"ttl_ms\":60000}"
		[ "$status" = 401 ] && [ "$attempt" -lt 10 ] || break
		sleep 0.5
	done
	walk_id=$(answer_value id)
	[ "$status" = 201 ] && [ -n "$walk_id" ] || failed_step create
}

walk_wait()
{
	call wait "{\"of\":[{\"id\":\"$walk_id\",\"subject\":\"$walk_name\"}],\"for_ms\":5000}"
	[ "$status" = 200 ] && [ "$(answer_value status)" = pending ] || failed_step wait
}

walk_end()
{
	call cancel "{\"id\":\"$walk_id\",\"subject\":\"$walk_name\"}"
	[ "$status" = 200 ] && [ "$(answer_value outcome)" = completed ] || failed_step cancel
}

# failed_step METHOD: why, as far as the answer says it. False.
failed_step()
{
	what="$1 of the api"
	case $status-$code in
	000-*)
		finding error api "$what: nothing answers at $api_url: $(said "$scratch/said")" \
			"is its site enabled in nginx, and nginx reloaded?"
		;;
	401-unauthorized)
		finding error api "$what: the program does not know the key that was added to $api_keys_file" \
			"it reads another file, or has refused this one: journalctl -u $instance-api"
		;;
	50[24]-unavailable | 503-unavailable)
		if grep -q 'nginx did not pass' "$scratch/answer"; then
			finding error api "$what: nginx gets no answer from the program" \
				"systemctl status $instance-api.service; may nginx's group connect to $socket?"
		else
			finding error api "$what: its database does not answer the program, or refuses what it asks" \
				"journalctl -u $instance-api says what PostgreSQL answers: check database_url in $api_config; urlmode migrate"
		fi
		;;
	20?-)
		if grep -q '^{"' "$scratch/answer"; then
			finding error api "$what: the program does not answer with the elicitation that was created" \
				"journalctl -u $instance-api says what PostgreSQL refuses; urlmode migrate"
		else
			finding error api "$what: what answers at $api_url with $status is not the api" "which server of nginx listens there? See $instance-api.conf"
		fi
		;;
	*-?*)
		finding error api "$what: $status ($code): $(answer_value message)" "journalctl -u $instance-api says more; is the schema of this version? urlmode migrate"
		;;
	*)
		finding error api "$what: what answers at $api_url with $status is not the api" "which server of nginx listens there? See $instance-api.conf"
		;;
	esac
	return 1
}
