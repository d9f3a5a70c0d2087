# shellcheck shell=sh disable=SC2154 # of paths.sh
# urlmode version: of the changelog, which Debian's package has as well.

help_version()
{
	cat <<'END'
usage: urlmode version [--changes]

Says which version of urlmode this is.

  --changes  what has changed, the newest version first
END
}

run_version()
{
	changes=0
	while [ $# -gt 0 ]; do
		case $1 in
		--changes) changes=1 ;;
		*) unknown_argument "$1" ;;
		esac
		shift
	done
	[ -r "$changelog" ] || die "the changelog is not at $changelog"
	if [ $changes -eq 1 ]; then
		zcat -f -- "$changelog"
	else
		zcat -f -- "$changelog" | sed -n '1s/^[^ ]* (\([^)]*\)).*/urlmode \1/p'
	fi
}
