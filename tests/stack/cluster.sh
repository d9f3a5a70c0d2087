# shellcheck shell=bash disable=SC2154 # of lib.sh
# The PostgreSQL cluster of a stack: a copy of one that is kept, or a new one.

# The folder of the kept clusters belongs to the user that PostgreSQL runs as.
CLUSTERS=$TREE/build/clusters
claim_clusters()
{
	[[ -d $CLUSTERS ]] || mkdir -m 700 -- "$CLUSTERS" 2>/dev/null || return 0
	[[ $EUID -ne 0 ]] || chown postgres: -- "$CLUSTERS"
}

# make_cluster: in pg, with the database as sql/ wants it, and stopped. The superuser's
# password is in pg.password.
make_cluster()
{
	new_password >pg.password
	"$PGBIN/initdb" -D pg -U postgres -A scram-sha-256 --no-sync \
		--pwfile=pg.password --locale=C.UTF-8 -E UTF8 \
		>log/initdb.log 2>&1 || failed initdb failed
	printf "include 'stack.conf'\n" >>pg/postgresql.conf
	configure_cluster
	service_start postgres
	make_database >log/migrate.log 2>&1 || failed migrate failed
	service_stop postgres
}

make_database()
{
	local -x URLMODE_ADMIN_DATABASE_URL

	URLMODE_ADMIN_DATABASE_URL=postgresql://postgres:$(cat pg.password)@127.0.0.1:$PG_PORT/urlmode
	psql -Xq -v ON_ERROR_STOP=1 -d "${URLMODE_ADMIN_DATABASE_URL%urlmode}postgres" -c 'CREATE DATABASE urlmode' &&
		"$TREE/sql/migrate" --frameworks
}

configure_cluster()
{
	cat >pg/stack.conf <<-CONF
		listen_addresses = '127.0.0.1'
		port = $PG_PORT
		unix_socket_directories = '.'  # this folder
		max_connections = 200
	CONF
}

# A copy of the cluster of this version of PostgreSQL and of sql/. It is made once and
# kept beside the programs.
copy_cluster()
{
	local version kept

	version=$("$PGBIN/postgres" --version)
	version=${version//[^0-9A-Za-z.]/-}
	kept=$CLUSTERS/$version-$(cat -- "$TREE"/sql/migrate "$TREE"/sql/*.sql "$TREE"/sql/*/*.sql "$TREE"/sql/*/*/*.sql | sha256sum | head -c 16)
	(
		flock 8
		[[ -e $kept/pg.password ]] || {
			make_cluster
			rm -rf -- "$CLUSTERS/$version"-*
			mkdir -- "$kept"
			cp -a -- pg "$kept"
			mv -- pg.password "$kept"
			rm -rf -- pg
		}
		cp -a -- "$kept"/{pg,pg.password} .
	) 8>"$CLUSTERS/lock"
}

# A cluster of this stack, whose roles have passwords of their own.
prepare_postgres()
{
	cd -- "$RUN_DIR" || exit
	if [[ -w $CLUSTERS ]]; then copy_cluster; else make_cluster; fi
	configure_cluster
	service_start postgres
	set_passwords >log/passwords.log 2>&1 || failed passwords failed
}

set_passwords()
{
	PGPASSWORD=$(<pg.password) psql -Xq -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$PG_PORT" -U postgres -d urlmode \
		-f secrets/passwords.sql
}
