# shellcheck shell=sh disable=SC2154 # of common.sh and check.sh
# What urlmode check sees of the keys that seal: on this host, of a server, and in the database.

check_keys()
{
	if [ "$keys_name" = URLMODE_KEYS ]; then
		ask keys "$keys_file"
	else
		as_programs "$operate" keys "$keys_file"
	fi >"$scratch/kids" 2>"$scratch/said" || {
		finding error keys "$(said "$scratch/said")" "see urlmode help keys"
		return 0
	}
	kid=$(head -n 1 "$scratch/kids")
	since=$(sed -n "s/^# \([0-9TZ:-]*\) key $kid seals\$/\1/p" "$keys_file" | tail -n 1)
	since=$(date -u -d "${since:-@$(stat -L -c %Y -- "$keys_file")}" +%s)
	age=$(($(date +%s) - since))
	if [ $((age / 86400)) -gt $key_days ]; then
		finding warning keys "key $kid has sealed for $(days $age)" "urlmode keys rotate"
	else
		finding ok keys "key $kid of $(wc -l <"$scratch/kids") seals, of $keys_name"
	fi
}

# The keys of a file, in one spelling and order.
canonical_keys()
{
	awk '/^[ \t]*[0-9]/ { gsub(/-/, "+", $2); gsub(/_/, "/", $2); sub(/=+$/, "", $2); print $1 + 0, $2 }' "$1" | sort
}

check_server_keys()
{
	if [ -z "$server_keys" ] || [ "$(readlink -f -- "$server_keys")" = "$(readlink -f -- "$keys_file")" ]; then
		finding skipped server_keys "no keys file of an MCP server to compare with" \
			"urlmode check --server-keys FILE compares a copy of it"
		return
	fi
	ask keys "$server_keys" >"$scratch/server-kids" 2>"$scratch/said" || {
		finding error server_keys "$(said "$scratch/said")" "copy $keys_name there"
		return 0
	}
	canonical_keys "$keys_file" >"$scratch/ours"
	canonical_keys "$server_keys" >"$scratch/theirs"
	ours=$(head -n 1 "$scratch/kids")
	theirs=$(head -n 1 "$scratch/server-kids")
	comm -12 "$scratch/ours" "$scratch/theirs" | cut -d ' ' -f 1 >"$scratch/both"
	if ! grep -qx -- "$theirs" "$scratch/both"; then
		finding error server_keys "$server_keys seals with key $theirs, which $keys_name does not have: every link is state_invalid" \
			"copy one file to all hosts"
	elif ! grep -qx -- "$ours" "$scratch/both"; then
		finding error server_keys "$keys_name seals with key $ours, which $server_keys does not have: no result can be opened" \
			"copy one file to all hosts"
	elif ! cmp -s "$scratch/ours" "$scratch/theirs" || [ "$ours" != "$theirs" ]; then
		finding warning server_keys "$server_keys and $keys_name differ, and open what each other seals" \
			"finish the rotation: see urlmode help keys"
	else
		finding ok server_keys "$server_keys has the same keys"
	fi
}

# Those with which MCP servers have made links that are still open.
check_minted()
{
	reach_operator && ! has_error migrations || return 0
	unknown=$(operator_value kid | grep -vxFf "$scratch/kids" | tr '\n' ' ') || :
	if [ -n "$unknown" ]; then
		finding error keys "links that are open were made with key ${unknown% }, which $keys_name does not have: their users get state_invalid" \
			"copy one file of keys to all hosts and MCP servers: see urlmode help keys"
	fi
}
