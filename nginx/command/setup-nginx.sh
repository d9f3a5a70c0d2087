# shellcheck shell=sh disable=SC2154 # of common.sh and setup.sh
# urlmode setup: the snippets and the site of nginx.

setup_nginx()
{
	if [ ! -d "$nginx" ]; then
		say "There is no nginx in $nginx. Install it, and run setup again."
		return
	fi
	if [ -e "$nginx/$instance" ]; then
		keep "$nginx/$instance"
	else
		step "create $nginx/$instance" copy_snippets
	fi
	if [ -e "$site" ]; then
		keep "$site"
	else
		step "create $site" write_site
	fi
	# Two deployments have more variables than nginx has room for by itself, and it would warn of it.
	if [ -n "$deployment" ] && [ -d "$nginx/conf.d" ] && ! grep -rqs '^[[:blank:]]*variables_hash_max_size' "$nginx"; then
		step "create $nginx/conf.d/urlmode-variables.conf" write_room
	fi
	certificate=$(site_certificate)
	# nginx.org's packages have only conf.d.
	enabled=$nginx/sites-enabled/$instance.conf
	if [ ! -d "$nginx/sites-enabled" ] && [ -d "$nginx/conf.d" ]; then
		enabled=$nginx/conf.d/$instance.conf
	fi
	if [ -e "$enabled" ] || [ -L "$enabled" ]; then
		keep "$enabled"
	elif [ -r "$certificate" ]; then
		step "enable $site" enable "$enabled"
	else
		say "There is no certificate at $certificate yet: $site stays disabled."
	fi
}

copy_snippets()
{
	(
		umask 022
		rm -rf -- "$nginx/$instance.new"
		cp -R -- "$nginx_dir/urlmode" "$nginx/$instance.new"
		for file in "$nginx/$instance.new"/*.conf; do
			make_text nginx "$file"
			cat "$scratch/made" >"$file"
		done
		mv -- "$nginx/$instance.new" "$nginx/$instance"
	)
}

# nginx_is VERSION: or newer.
nginx_is()
{
	version=$(nginx -v 2>&1 | sed -n 's/^nginx version: nginx\/\([0-9.]*\).*/\1/p')
	[ -n "$version" ] && printf '%s\n' "$1" "$version" | sort -V -C
}

# Whether nginx can refuse who asks for another name. For an address, browsers send none.
by_name()
{
	case $host in
	\[*) return 1 ;;
	*[!0-9.]*) nginx_is 1.19.4 ;;
	*) return 1 ;;
	esac
}

# Whether a site already does so at this port: one per port is enough.
has_default()
{
	cat "$nginx/sites-available"/urlmode*.conf "$nginx/sites-enabled"/* "$nginx/conf.d"/*.conf 2>/dev/null |
		awk -v port="[ \t:]$port[ \t;]" '
			/^[ \t]*server[ \t]*\{/ { listens = refuses = 0 }
			/^[ \t]*listen[ \t]/ && $0 ~ port { listens = 1 }
			/^[ \t]*ssl_reject_handshake[ \t]+on;/ { refuses = 1 }
			listens && refuses { found = 1 }
			END { exit !found }'
}

write_site()
{
	(umask 022 && mkdir -p -- "$nginx/sites-available")
	case $user_check in
	oauth2-proxy) sign_in='\n\tinclude urlmode/auth-request.conf;' ;;
	basic) sign_in='\n\tinclude urlmode/auth-basic.conf;' ;;
	*) sign_in= ;;
	esac
	http2='s/^//'
	! nginx_is 1.25.1 || http2='s/^\(\tlisten .* ssl\) http2;/\1;/; s/^\tlisten \[::\].* ssl;/&\n\thttp2 on;/'
	others='s/^//'
	by_name && ! has_default || others='/^# Who asks for another name/,/^}/d'
	sed "$others; $http2; s/callback\.example\.com/$host/g; s/^\(\tlisten .*\)443 ssl/\1$port ssl/
		s|^\tinclude urlmode/server.conf;|&$sign_in|" \
		"$nginx_dir/urlmode.conf" | of_deployment nginx >"$scratch/new"
	write_new "$site" 644 root
}

write_room()
{
	say 'variables_hash_max_size 8192;' >"$scratch/new"
	write_new "$nginx/conf.d/urlmode-variables.conf" 644 root
}

# Of the site that is there, or of the one that a dry run would write.
site_certificate()
{
	certificate=/etc/letsencrypt/live/$host/fullchain.pem
	if [ -r "$site" ]; then
		certificate=$(sed -n 's/^[[:blank:]]*ssl_certificate[[:blank:]]*\([^;]*\);.*/\1/p' "$site" | head -n 1)
	fi
	case $certificate in
	/*) say "$certificate" ;;
	*) say "$nginx/$certificate" ;;
	esac
}

# enable LINK: to the site of its name.
enable()
{
	(umask 022 && mkdir -p -- "$(dirname -- "$1")")
	ln -s "../sites-available/${1##*/}" "$1"
}
