# shellcheck shell=sh
# urlmode pages: nginx's own pages.

help_pages()
{
	cat <<'END'
usage: urlmode pages

Prints the pages that nginx shows when it answers by itself (429, 502 ...), in
the look of the configuration, as configuration for nginx:

  urlmode pages >/etc/nginx/urlmode/pages.conf
END
}

run_pages()
{
	[ $# -eq 0 ] || unknown_argument "$1"
	make_scratch
	ask pages >"$scratch/pages"
	of_deployment nginx <"$scratch/pages"
}
