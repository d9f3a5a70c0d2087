# shellcheck shell=sh disable=SC2154 # of common.sh and check.sh
# What urlmode check sees in the counters of the programs: what they have loaded, and who came through.

check_loaded()
{
	! has_error sockets || return 0
	printf 'GET /metrics HTTP/1.0\r\n\r\n' | (cd "$sockets" && ask program status.sock '') >"$scratch/metrics" 2>"$scratch/said" &&
		grep -q '^urlmode_metrics_shared 1$' "$scratch/metrics" || {
		finding warning loaded "the counters of the programs cannot be read: $(said "$scratch/said")$(sed -n 's/^# \(Of one process alone.*\)/\1/p' "$scratch/metrics")" \
			"without them nobody knows what the programs have loaded: see metrics_file in urlmode-config(5)"
		return 0
	}
	outdated=$(sed -n 's/^urlmode_configuration_outdated{program="\([a-z-]*\)"} [1-9].*/\1/p' "$scratch/metrics" | tr '\n' ' ')
	if [ -n "$outdated" ]; then
		finding error loaded "$config, or a description, has changed since these programs started, which run with the one of before: ${outdated% }" \
			"restart them: systemctl try-restart '$instance@*.service'"
	else
		finding ok loaded "the programs have the configuration that is on disk"
	fi
	check_sign_ins
}

# counted PROGRAM METRIC LABEL VALUES: the sum, of values with | between them.
counted()
{
	awk -v want="^urlmode_$2[{]program=\"($1)\",$3=\"($4)\"[}] " '$0 ~ want { sum += $NF } END { print sum + 0 }' "$scratch/metrics"
}

# Each user is refused where the claim, the client or the clock is wrong, and each part is well by itself.
check_sign_ins()
{
	[ "$user_check" = openid ] || return 0
	through=$(counted signin-return requests_total status 303)
	# Not those of HEAD, with which this command asks whether the program answers.
	of_tokens='id_token_invalid|issuer_mismatch|sign_in_refused|unknown_signing_key'
	refused=$(counted signin-return refusals_total reason "$of_tokens")
	wrong=$(counted 'connect|form' refusals_total reason wrong_user)
	ended=$(counted oauth-return requests_total status 303)
	if [ "$through" -eq 0 ] && [ "$refused" -ge 3 ]; then
		finding error sign_in "no sign-in has come through, and $refused were refused: $(reasons_of signin-return "$of_tokens")" \
			"compare claim, client_id and issuer of openid in $config with what the provider sends; the log of signin-return has each one"
	elif [ "$wrong" -ge 3 ] && [ "$ended" -eq 0 ] && case " $needed " in *' oauth-return '*) ;; *) false ;; esac; then
		finding error sign_in "each user who has signed in is another one than the link is for: $wrong were refused (wrong_user), and nobody came through" \
			"claim in $config names what MCP servers have as the subject: see OPENID.md"
	fi
}

# reasons_of PROGRAM REASONS: those of them that it has had, in one line.
reasons_of()
{
	sed -n "s/^urlmode_refusals_total{program=\"$1\",reason=\"\([a-z_]*\)\"} [1-9].*/\1/p" "$scratch/metrics" | grep -Ex "$2" | tr '\n' ' ' | sed 's/ $//; s/ /, /g'
}
