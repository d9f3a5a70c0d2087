// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

// pool has the connections for everything but waiting, and the calls that are in progress on them.
type pool struct {
	pgx *pgxpool.Pool
	own bool
	// How long a statement may take.
	limit time.Duration
	// Ends when calls are broken off. A call does not end with the context of its caller,
	// because PostgreSQL may have carried it out already.
	ctx      context.Context
	breakOff context.CancelFunc

	// nil: the pool is the caller's.
	leadership *leadership

	mu         sync.Mutex
	closed     bool
	inProgress int
	// When each of those that are idle last answered.
	idle  map[*pgx.Conn]time.Time
	calls sync.WaitGroup
}

// openPool also returns how the connection that listens is made, and whether there are several hosts.
func openPool(config Config) (*pool, *pgxpool.Config, bool, error) {
	made := &pool{pgx: config.Pool, limit: limits.Query, idle: map[*pgx.Conn]time.Time{}}
	var server *pgxpool.Config
	switch {
	case config.Pool != nil && config.DatabaseURL != "":
		return nil, nil, false, argumentError(texts.PoolOrURL)
	case config.Pool != nil:
		server = config.Pool.Config()
	default:
		own, err := pgxpool.ParseConfig(config.DatabaseURL)
		if err != nil || config.DatabaseURL == "" {
			// The error may quote the URL.
			return nil, nil, false, argumentError("DatabaseURL must be a PostgreSQL URL, " +
				"postgresql://user:password@host:port/database, with special characters percent-encoded")
		}
		setDefaults(own.ConnConfig, config.DatabaseURL)
		if !isSet(config.DatabaseURL, "pool_max_conns", "") {
			own.MaxConns = limits.PoolMax
		}
		made.leadership = &leadership{server: own.ConnConfig.Copy(), leave: []func(){func() { made.pgx.Reset() }}}
		own.BeforeConnect = made.leadership.prepare
		server = own.Copy()
		// What follows is not for the connection that listens.
		own.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
		own.AfterConnect = func(_ context.Context, conn *pgx.Conn) error { made.becomesIdle(conn); return nil }
		own.PrepareConn, own.AfterRelease, own.BeforeClose = made.isAlive, made.becomesIdle, func(conn *pgx.Conn) { made.leavesIdle(conn) }
		if made.pgx, err = pgxpool.NewWithConfig(context.Background(), own); err != nil {
			return nil, nil, false, argumentError("DatabaseURL: %v", err)
		}
		made.own = true
	}
	made.ctx, made.breakOff = context.WithCancel(context.Background())
	return made, server, hasSeveralHosts(server.ConnConfig), nil
}

func hasSeveralHosts(server *pgx.ConnConfig) bool {
	// There is a second attempt at the same host where TLS is optional.
	for _, other := range server.Fallbacks {
		if other.Host != server.Host || other.Port != server.Port {
			return true
		}
	}
	return false
}

func setDefaults(server *pgx.ConnConfig, databaseURL string) {
	if server.RuntimeParams["application_name"] == "" {
		server.RuntimeParams["application_name"] = "urlmode"
	}
	several := hasSeveralHosts(server)
	if !isSet(databaseURL, "connect_timeout", "PGCONNECT_TIMEOUT") {
		server.ConnectTimeout = limits.Connect
		if several {
			server.ConnectTimeout = limits.ConnectOfSeveral
		}
	}
	if several && !isSet(databaseURL, "target_session_attrs", "PGTARGETSESSIONATTRS") {
		server.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	server.DialFunc = (&net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: limits.Keepalive, Interval: limits.Keepalive, Count: limits.KeepaliveCount,
		},
		Control: limitUnacked,
	}).DialContext
}

// isAlive asks a connection whose last answer is some time ago whether it is alive, before a statement is sent on it: a NAT, a
// firewall or a host that went away ends connections without a word.
func (p *pool) isAlive(ctx context.Context, conn *pgx.Conn) (bool, error) {
	if hasJustAnswered(p.leavesIdle(conn)) {
		return true, nil
	}
	// A caller who gives up meanwhile has not found it dead.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.Ping)
	defer cancel()
	if conn.Ping(ctx) == nil {
		return true, nil
	}
	sever(conn)
	// Where one is dead, the others are, as a rule, unless they have just answered: none of them shall make a call wait.
	p.mu.Lock()
	defer p.mu.Unlock()
	for idle, answeredAt := range p.idle {
		if !hasJustAnswered(answeredAt) {
			sever(idle)
		}
	}
	return false, nil
}

func hasJustAnswered(answeredAt time.Time) bool { return time.Since(answeredAt) < limits.Alive }

func (p *pool) becomesIdle(conn *pgx.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle[conn] = time.Now()
	return true
}

// leavesIdle returns when a connection that is not idle any more last answered.
func (p *pool) leavesIdle(conn *pgx.Conn) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	answeredAt := p.idle[conn]
	delete(p.idle, conn)
	return answeredAt
}

// sever closes the socket. pgx would wait for the end of a connection that does not answer, and not make another one.
func sever(conn *pgx.Conn) { conn.PgConn().Conn().Close() }

// isSet reports whether the URL or a variable of the environment sets a value: pgx does not say whether a value is its default.
// variable is empty if there is none.
func isSet(databaseURL, name, variable string) bool {
	if variable != "" && os.Getenv(variable) != "" {
		return true
	}
	if parts, err := url.Parse(databaseURL); err == nil && parts.Scheme != "" {
		return parts.Query().Has(name)
	}
	return strings.Contains(databaseURL, name+"=") || strings.Contains(databaseURL, name+" ")
}

// close waits for the calls in progress first, which breakOff ends.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.calls.Wait()
	if p.own {
		p.pgx.Close()
	}
	p.breakOff()
}

func (p *pool) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errorClosed()
	}
	if p.inProgress >= limits.CallsMax {
		return errorBusy(texts.CallsInProgress)
	}
	p.inProgress++
	p.calls.Add(1)
	return nil
}

func (p *pool) end() {
	p.mu.Lock()
	p.inProgress--
	p.mu.Unlock()
	p.calls.Done()
}

// call runs one that close waits for. It goes on when the context of its caller ends, who then does not know whether it was carried out.
// What was not sent by then leaves the queue, and is not carried out.
func call[T any](ctx context.Context, p *pool, ask func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if err := checkContext(ctx); err != nil {
		return none, err
	}
	caller := callerOf(ctx)
	if caller == nil {
		caller = ctx
	}
	if err := caller.Err(); err != nil {
		return none, err
	}
	if err := p.begin(); err != nil {
		return none, err
	}
	asking := lastingOf(p.ctx, context.WithValue(ctx, callerKey{}, caller))
	answered := make(chan answer, 1)
	go func() {
		defer p.end()
		value, err := ask(asking)
		if err != nil && p.ctx.Err() != nil {
			err = errorClosed()
		}
		answered <- answer{value, err}
	}()
	select {
	case got := <-answered:
		return got.value, got.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// rows runs one statement, and reads its rows. What only reads is repeated once if its connection is lost before the
// answer: whether a change was made is not known.
func rows[T any](ctx context.Context, p *pool, read pgx.RowToFunc[T], reads bool, statement string, values ...any) ([]T, error) {
	return rowsOf(ctx, p, read, reads, statement, func() ([]any, bool) { return values, true })
}

// rowsOf is rows with values that are made when there is a connection. False: nothing is to be sent.
func rowsOf[T any](ctx context.Context, p *pool, read pgx.RowToFunc[T], reads bool, statement string, values func() ([]any, bool)) ([]T, error) {
	all, isLost, err := rowsOnce(ctx, p, read, statement, values)
	if isLost && ctx.Err() == nil && reads {
		all, _, err = rowsOnce(ctx, p, read, statement, values)
	}
	return all, err
}

// rowsOnce also returns whether the connection was lost after the statement was sent.
func rowsOnce[T any](ctx context.Context, p *pool, read pgx.RowToFunc[T], statement string, values func() ([]any, bool)) (all []T, isLost bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	conn, err := p.acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	defer conn.Release()
	given, isWanted := values()
	if !isWanted {
		return nil, false, nil
	}
	// A pooler in transaction mode does not keep prepared statements.
	var limit *judged
	if p.leadership != nil {
		limit = p.leadership.judge(p.ctx, conn.Conn())
	}
	found, err := conn.Query(ctx, statement, append([]any{pgx.QueryExecModeExec}, given...)...)
	if err == nil {
		all, err = pgx.CollectRows(found, read)
	}
	isLeft := limit != nil && limit.end()
	if isLost = err != nil && conn.Conn().IsClosed(); isLost {
		sever(conn.Conn())
	}
	if isLeft && err != nil {
		return nil, isLost, unavailable(texts.UnavailableNotAnswered)
	}
	return all, isLost, cleaned(ctx, err, texts.UnavailableNotAnswered)
}

// acquire waits for a connection, until the caller gives up.
func (p *pool) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	caller := callerOf(ctx)
	acquiring, cancel := context.WithCancel(ctx)
	defer cancel()
	if caller != nil {
		defer context.AfterFunc(caller, cancel)()
	}
	conn, err := p.pgx.Acquire(acquiring)
	if caller != nil && caller.Err() != nil && ctx.Err() == nil {
		if err == nil {
			conn.Release()
		}
		return nil, caller.Err()
	}
	return conn, cleaned(ctx, err, texts.UnavailableNotSent)
}

// cleaned hides a deadline: it is not the caller's.
func cleaned(ctx context.Context, err error, why string) error {
	if err != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded)) {
		return unavailable(why)
	}
	return withoutDetail(err)
}
