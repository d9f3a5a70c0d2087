# shellcheck shell=bash
# Completion of urlmode(8) for bash: into /usr/share/bash-completion/completions/,
# by the name urlmode.

_urlmode()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W 'setup check keys show events purge migrate version help --help --version' -- "$current")
		return
	fi
	case $previous in
	--server-keys | --etc | --nginx | --sockets)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		compopt -o filenames 2>/dev/null
		return
		;;
	--user)
		mapfile -t COMPREPLY < <(compgen -u -- "$current")
		return
		;;
	--user-check) words='remote-user session-ticket confirm' ;;
	--kind) words='oauth payment signature result stored' ;;
	--older-than) words='30d 90d 365d' ;;
	--oauth | --database-host | --provider | --since | --limit) return ;;
	*)
		case ${COMP_WORDS[1]}:$COMP_CWORD in
		setup:*) words='--dry-run --oauth --user-check --database-host --user --etc --nginx --help https://' ;;
		check:*) words='--json --server-keys --user --nginx --sockets --help' ;;
		keys:2) words='list rotate drop --help' ;;
		keys:*)
			case ${COMP_WORDS[2]} in
			rotate) words='--promote --dry-run' ;;
			drop) words='--force --dry-run' ;;
			esac
			;;
		show:*) words='--json --help' ;;
		events:*) words='--late --unclaimed --provider --since --limit --json --help' ;;
		purge:*) words='--older-than --kind --help' ;;
		migrate:*) words='--dry-run --help' ;;
		version:*) words='--changes --help' ;;
		help:2) words='setup check keys show events purge migrate version' ;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _urlmode urlmode
