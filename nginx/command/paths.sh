# shellcheck shell=sh disable=SC2034 # the files that read this one use them
# Where the parts of urlmode are: here, in the checkout. `make install` makes
# this file of paths.sh.in.
tree=${command_dir%/*/*}
programs_dir=$tree/build/bin
operate=${OPERATE:-$tree/build/libexec/operate} # tests have one with sanitizers
sql_dir=$tree/sql
nginx_dir=$tree/nginx
units_dir=$tree/nginx/systemd
changelog=$tree/nginx/debian/changelog
etc_dir=/etc/urlmode
run_dir=/run/urlmode
state_dir=/var/lib/urlmode
