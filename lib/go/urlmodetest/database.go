// SPDX-License-Identifier: MIT

package urlmodetest

import (
	"context"
	"crypto/rand"
	"embed"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/shipped"
	"urlmode.example/urlmode/internal/statements"
)

//go:embed sql
var copied embed.FS

// Database makes a new database with the schema, which is dropped with the test, whoever is connected to it, and returns its
// DatabaseURL. admin is a URL of PostgreSQL, as a superuser. Sessions of the new one have the role urlmode_server, as a server has it.
// The roles urlmode_owner, urlmode_cgi, urlmode_server and urlmode_operator are made if they are missing, and stay.
func Database(t testing.TB, admin string) string {
	t.Helper()
	name := "urlmode_test_" + strings.ToLower(rand.Text())[:16]
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	owner := connect(ctx, t, admin)
	defer owner.Close(ctx)
	// As migrations wait for each other: the roles are those of the cluster.
	execute(ctx, t, owner, statements.LockMigrations)
	execute(ctx, t, owner, "CREATE DATABASE "+name)
	t.Cleanup(func() {
		ctx := context.Background()
		conn := connect(ctx, t, admin)
		defer conn.Close(ctx)
		execute(ctx, t, conn, "DROP DATABASE "+name+" WITH (FORCE)")
	})
	conn := connect(ctx, t, withDatabase(admin, name, ""))
	defer conn.Close(ctx)
	makeSchema(ctx, t, conn)
	return withDatabase(admin, name, "-c role=urlmode_server")
}

func connect(ctx context.Context, t testing.TB, to string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(ctx, to)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func execute(ctx context.Context, t testing.TB, conn *pgx.Conn, statements string) {
	t.Helper()
	if _, err := conn.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
}

// withDatabase is the same server, with options beside those that it has.
func withDatabase(admin, name, options string) string {
	parts, err := url.Parse(admin)
	if err != nil || parts.Scheme == "" {
		return admin + " dbname=" + name + " options='" + options + "'"
	}
	parts.Path = "/" + name
	given := parts.Query()
	given.Del("dbname")
	if options != "" {
		given.Set("options", strings.TrimSpace(given.Get("options")+" "+options))
	}
	parts.RawQuery = strings.ReplaceAll(given.Encode(), "+", "%20") // as all clients read it
	return parts.String()
}

var (
	roleName = regexp.MustCompile(`(?m)^\\set (\w+) :prefix (\w+)$`)
	used     = regexp.MustCompile(`([^:]):(["'])(\w+)["']`)
)

// makeSchema applies all of them.
func makeSchema(ctx context.Context, t testing.TB, conn *pgx.Conn) {
	t.Helper()
	copies, err := fs.Sub(copied, "sql")
	if err != nil {
		t.Fatal(err)
	}
	files := shipped.Files(copies, "../../../sql")
	read := func(name string) string {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	names := map[string]string{"prefix": "urlmode", "owner": "urlmode_owner", "revoke_others": "false", "digests": "{}"}
	for _, found := range roleName.FindAllStringSubmatch(read("roles.sql"), -1) {
		names[found[1]] = names["prefix"] + found[2]
	}
	apply := func(more string, all ...string) {
		var text strings.Builder
		for _, name := range all {
			text.WriteString(used.ReplaceAllStringFunc(read(name)+"\n", func(found string) string {
				parts := used.FindStringSubmatch(found)
				return parts[1] + parts[2] + names[parts[3]] + parts[2]
			}))
		}
		execute(ctx, t, conn, "BEGIN; "+text.String()+more+"; COMMIT")
	}
	in := func(folder string) []string {
		found, err := fs.Glob(files, folder+"/[0-9]*.sql") // sorted
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	execute(ctx, t, conn, "SET client_min_messages = warning")
	apply("", "begin.sql")
	for _, table := range in("tables") {
		apply("RESET ROLE; INSERT INTO urlmode.migration (name) VALUES ('"+path.Base(table)+"')", table)
	}
	apply("", "logins.sql")
	apply("", append(in("functions"), "end.sql")...)
}
