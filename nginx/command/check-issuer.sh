# shellcheck shell=sh disable=SC2154 # of common.sh, check.sh and jwks.sh
# What urlmode check sees of the OpenID provider: its keys on this host, and what
# it publishes.

# Seconds of delay that do not yet mean that a timer does not run.
keys_late=3600
request_late=600

# Whether users sign in at an OpenID provider. Sets `issuer` and `jwks_file`.
uses_openid()
{
	[ "$user_check" = openid ] || return 1
	issuer=$(openid_value issuer)
	jwks_file=$(openid_value jwks_file)
}

# changed FILE, due FILE: the time of its last change, and the time that it is given; 0 where
# it is not there.
changed()
{
	stat -L -c %Z -- "$1" 2>/dev/null || say 0
}

due()
{
	stat -L -c %Y -- "$1" 2>/dev/null || say 0
}

check_issuer_keys()
{
	uses_openid || {
		finding ok issuer_keys "none are needed, with user_check $user_check"
		return 0
	}
	now=$(date +%s)
	late=$((now - $(due "$jwks_file.due")))
	asked=$(due "$(openid_value refresh_file)")
	if [ ! -e "$jwks_file.due" ]; then
		finding warning issuer_keys "$jwks_file is not from urlmode jwks refresh: nobody fetches the keys when they change" \
			"urlmode jwks refresh; and start its timer: systemctl enable --now $instance-jwks.timer"
	elif [ $late -gt $keys_late ]; then
		finding warning issuer_keys "the keys of $issuer have not been fetched for $(days $((now - $(changed "$jwks_file.due")))), and were due before" \
			"urlmode jwks refresh says why; journalctl -u $instance-jwks, and its timer"
	elif [ "$asked" -gt "$(changed "$jwks_file.due")" ] && [ $((now - asked)) -gt $request_late ]; then
		finding warning issuer_keys "a user came with a key that is not in $jwks_file, and the keys were not fetched after that" \
			"urlmode jwks refresh; and start what fetches them: systemctl enable --now $instance-jwks.path"
	else
		finding ok issuer_keys "$(ask jwks "$jwks_file") keys of $issuer, as fresh as they must be"
	fi
}

# key_ids FILE: of a set of keys, sorted.
key_ids()
{
	grep -o '"kid"[[:space:]]*:[[:space:]]*"[^"]*"' "$1" | sed 's/.*:[[:space:]]*//' | sort -u
}

check_issuer()
{
	uses_openid || {
		finding ok issuer "none is needed, with user_check $user_check"
		return 0
	}
	if ! (fetch_discovery "$issuer") 2>"$scratch/said" ||
		! (fetch_document "$(discovery_value jwks_uri)" "$scratch/published") 2>"$scratch/said"; then
		finding warning issuer "$(said "$scratch/said")" \
			"users sign in until the provider changes its keys, which this host must then be able to fetch"
		return 0
	fi
	key_ids "$scratch/published" >"$scratch/published-kids"
	key_ids "$jwks_file" >"$scratch/kept-kids" 2>/dev/null || :
	if [ "$(discovery_value id_token)$(discovery_value form_post)" != "" ]; then
		finding error issuer "$issuer does not answer with an id token by form_post any more" \
			"its discovery document says so: see OPENID.md"
	elif [ "$(discovery_value authorization_endpoint)" != "$(openid_value authorization_endpoint)" ]; then
		finding error issuer "the authorization_endpoint of $issuer is $(discovery_value authorization_endpoint), and not that of $config" \
			"change it in $config, and restart the programs: systemctl try-restart '$instance@*.service'"
	elif [ -n "$(comm -23 "$scratch/published-kids" "$scratch/kept-kids")" ]; then
		finding warning issuer "$issuer has keys that are not in $jwks_file: whose token is signed with one must sign in twice" \
			"urlmode jwks refresh"
	else
		finding ok issuer "$issuer is as $config says"
	fi
}
