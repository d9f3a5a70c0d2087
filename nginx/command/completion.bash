# shellcheck shell=bash
# Completion of urlmode(8) for bash: into /usr/share/bash-completion/completions/,
# by the name urlmode.

# What there is to complete stands in the help of the command, and nowhere else.
_urlmode()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=

	COMPREPLY=()
	case $previous in
	--server-keys | --etc | --nginx | --sockets | --description | --certificate)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		compopt -o filenames 2>/dev/null
		return
		;;
	--user | --api-user | --console-user)
		mapfile -t COMPREPLY < <(compgen -u -- "$current")
		return
		;;
	--user-check) words='oauth2-proxy basic remote-user openid session-ticket confirm' ;;
	--only) words=$("${COMP_WORDS[0]}" help check 2>/dev/null | sed -n 's/^  \([a-z][a-z_]*\)  .*/\1/p') ;;
	--kind) words='oauth payment signature input approval result stored' ;;
	--older-than) words='30d 90d 365d' ;;
	--oauth | --operator | --issuer | --client-id | --database-host | --provider | --tenant | --since | --limit | --tries | --note | --secret | --constant | --at | --today | --api-url | --api-port | --console-port | --deployment) return ;;
	*)
		case ${COMP_WORDS[1]}:$COMP_CWORD in
		*:1 | help:2) words="$("${COMP_WORDS[0]}" help 2>/dev/null | sed -n 's/^  \([a-z-]*\)  .*/\1/p') --help --version" ;;
		keys:2) words='list rotate drop --help' ;;
		api-key:2) words='add list remove --help' ;;
		jwks:2) words='refresh --help' ;;
		*) words="$("${COMP_WORDS[0]}" help "${COMP_WORDS[1]}" 2>/dev/null | grep -o -e '--[a-z-]*' | sort -u) --deployment --help" ;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _urlmode urlmode
