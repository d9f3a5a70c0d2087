// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/statements"
	"urlmode.example/urlmode/internal/texts"
	"urlmode.example/urlmode/internal/timing"
)

// listener has the one connection of an instance that listens for notifications,
// and that reads the rows of all waits. One goroutine owns it. It is opened for
// the first user, and opened again, with increasing delays, when it is lost while somebody uses it.
//
// Rows are read over the same connection for two reasons. An answer shows that
// the connection is alive, so notifications can arrive as well; and many calls of
// Create at once, which use the pool, do not delay the reads.
//
// A pooler between the two ends may send each transaction to another server.
// LISTEN then succeeds, but no notification arrives. Such a pooler reports process
// ids of its own. Where the process id does not match, a NOTIFY over another
// connection tests whether notifications arrive.
type listener struct {
	server     *pgxpool.Config
	noListen   bool
	backoffMax time.Duration
	db         *database
	log        *slog.Logger
	waits      *waits
	audience   audience
	ctx        context.Context
	running    sync.WaitGroup
	warned     bool  // of polling; only its goroutine uses this
	lock       int64 // the key of the advisory lock of this instance

	mu        sync.Mutex
	users     int
	keeping   bool
	kicked    bool
	left      bool               // the host may not be the one that leads
	interrupt context.CancelFunc // ends the wait for a notification
	receiving bool               // notifications are known to arrive
	held      holding            // whether the connection has the lock of this instance
	lost      int                // connections, for the metrics
	probeID   string
}

type holding int

const (
	notDecided holding = iota
	isHeld
	isNotHeld
)

// holder is the key of the advisory lock by which others see that this instance is there. There is none behind a pooler, or if
// the connection is not open in time. Only while it is used (acquire).
func (l *listener) holder(ctx context.Context, timeout time.Duration) *int64 {
	for until := time.Now().Add(timeout); !l.noListen; {
		l.mu.Lock()
		held := l.held
		l.mu.Unlock()
		switch {
		case held == isHeld:
			return &l.lock
		case held == isNotHeld || time.Now().After(until) || timing.Sleep(ctx, 20*time.Millisecond) != nil:
			return nil
		}
	}
	return nil
}

func (l *listener) setHeld(held holding) {
	l.mu.Lock()
	l.held = held
	l.mu.Unlock()
}

// acquire opens the connection if there is none.
func (l *listener) acquire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users++
	if !l.keeping && l.ctx.Err() == nil {
		l.keeping = true
		l.running.Add(1)
		go l.keep()
	}
}

func (l *listener) subscribe(who subscriber) {
	l.audience.add(who)
	l.acquire()
}

func (l *listener) unsubscribe(who subscriber) {
	l.audience.remove(who)
	l.release()
}

// release ends the use of the connection by one user. When nobody uses it any more, it stays open for the next user.
func (l *listener) release() {
	l.mu.Lock()
	l.users--
	l.mu.Unlock()
}

// kick interrupts the wait for a notification, because there is something to read.
func (l *listener) kick() {
	l.mu.Lock()
	l.kicked = true
	if l.interrupt != nil {
		l.interrupt()
	}
	l.mu.Unlock()
}

// leave has the connection made again.
func (l *listener) leave() {
	l.mu.Lock()
	l.left = true
	l.mu.Unlock()
	l.kick()
}

func (l *listener) isLeft() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

func (l *listener) isReceiving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.receiving
}

// ends says that nobody uses the connection, so that it is not opened again.
func (l *listener) ends() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users == 0 || l.ctx.Err() != nil {
		l.keeping = false
		return true
	}
	return false
}

func (l *listener) keep() {
	defer l.running.Done()
	for failures := 1; ; failures++ {
		isGood, err := l.serve()
		if isGood {
			failures = 1
		}
		l.mu.Lock()
		l.receiving, l.held, l.left = false, notDecided, false
		l.mu.Unlock()
		if l.ends() {
			return
		}
		l.mu.Lock()
		l.lost++
		l.mu.Unlock()
		if failures == 2 {
			warn(l.log, "URLMODE_RECONNECTING", "PostgreSQL cannot be reached; waits continue, and so do the attempts to connect",
				slog.String("error", err.Error()))
		}
		l.waits.lost(err)
		timing.Sleep(l.ctx, timing.Jittered(min(l.backoffMax, limits.BackoffMin<<min(failures-1, 10))))
	}
}

// serve is from a new connection until it is lost, or could not be opened. isGood: it has read what was due.
func (l *listener) serve() (isGood bool, err error) {
	conn, err := l.connect()
	if err != nil {
		return false, err
	}
	defer closeSoon(conn)
	listens := !l.noListen
	if listens {
		err := l.execute(conn, "LISTEN "+statements.Channel, limits.ListenQuery)
		if state := sqlstate(err); len(state) == 5 && slices.Contains(unlistenableClasses, state[:2]) {
			listens = false // The server does not support it.
		} else if err != nil {
			return false, err
		}
	}
	l.waits.wakeAll()
	l.audience.listening()
	var probeEnds time.Time
	if listens {
		if probeEnds, err = l.probe(conn); err != nil {
			return false, err
		}
	} else {
		l.setHeld(isNotHeld)
		l.warnPolling("PostgreSQL is polled")
	}
	return l.loop(conn, probeEnds)
}

// connect makes a connection as the pool makes its own.
func (l *listener) connect() (*pgx.Conn, error) {
	config := l.server.ConnConfig.Copy()
	if before := l.server.BeforeConnect; before != nil {
		if err := before(l.ctx, config); err != nil {
			return nil, err
		}
	}
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { l.notified(n) }
	conn, err := pgx.ConnectConfig(l.ctx, config)
	if err != nil {
		return nil, err
	}
	if after := l.server.AfterConnect; after != nil {
		if err := after(l.ctx, conn); err != nil {
			closeSoon(conn)
			return nil, err
		}
	}
	return conn, nil
}

func closeSoon(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), limits.Disconnect)
	defer cancel()
	conn.Close(ctx)
}

// loop reads what is due, and waits for the next notification, kick or time.
func (l *listener) loop(conn *pgx.Conn, probeEnds time.Time) (isGood bool, err error) {
	routineAt := time.Now().Add(timing.Jittered(limits.Routine))
	checkAt := time.Now().Add(timing.Jittered(limits.ListenCheck))
	var polls polls
	for l.ctx.Err() == nil {
		if l.isLeft() {
			return isGood, unavailable(texts.CommitsUnanswered)
		}
		for l.waits.isDue() {
			if err := l.waits.read(l, conn); err != nil {
				return isGood, err
			}
		}
		isGood = true
		now := time.Now()
		if !probeEnds.IsZero() && now.After(probeEnds) {
			probeEnds = time.Time{}
			if !l.isReceiving() {
				l.warnPolling(texts.NoNotifications)
			}
		}
		closesAt, isWaited, isNew := l.waits.next()
		if now.After(routineAt) {
			// A lost notification delays a wait until here.
			routineAt = now.Add(timing.Jittered(limits.Routine))
			l.waits.readAll()
			continue
		}
		if now.After(checkAt) {
			// A connection that died in silence does not answer.
			checkAt = now.Add(timing.Jittered(limits.ListenCheck))
			if err := l.execute(conn, "SELECT", limits.Ping); err != nil {
				return isGood, err
			}
			continue
		}
		next := earliest(routineAt, checkAt)
		if isWaited && !l.isReceiving() {
			if isNew || polls.at.IsZero() {
				polls.start(now)
			}
			if polls.isDue(now) {
				l.waits.readAll()
				continue
			}
			next = earliest(next, polls.at)
		}
		if !closesAt.IsZero() {
			if !now.Before(closesAt) {
				l.waits.wakeOverdue()
				continue
			}
			next = earliest(next, closesAt)
		}
		if !probeEnds.IsZero() {
			next = earliest(next, probeEnds)
		}
		if err := l.await(conn, next); err != nil {
			return isGood, err
		}
	}
	return isGood, l.ctx.Err()
}

func earliest(one, other time.Time) time.Time {
	if other.Before(one) {
		return other
	}
	return one
}

// await returns after a notification, a kick, or at a time.
func (l *listener) await(conn *pgx.Conn, until time.Time) error {
	waiting, cancel := context.WithDeadline(l.ctx, until)
	defer cancel()
	l.mu.Lock()
	kicked := l.kicked
	l.kicked = false
	if !kicked {
		l.interrupt = cancel
	}
	l.mu.Unlock()
	if kicked {
		return nil
	}
	err := conn.PgConn().WaitForNotification(waiting)
	l.mu.Lock()
	l.interrupt = nil
	l.kicked = false
	l.mu.Unlock()
	if err != nil && waiting.Err() != nil && !conn.IsClosed() {
		return nil
	}
	return err
}

func (l *listener) execute(conn *pgx.Conn, statement string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(l.ctx, limit)
	defer cancel()
	_, err := conn.Exec(ctx, statement, pgx.QueryExecModeExec)
	return err
}

// probe finds out whether notifications arrive, after LISTEN was sent. Until the time that it returns they may.
func (l *listener) probe(conn *pgx.Conn) (time.Time, error) {
	ctx, cancel := context.WithTimeout(l.ctx, limits.ListenQuery)
	defer cancel()
	var pid uint32
	if err := conn.QueryRow(ctx, statements.BackendPid, pgx.QueryExecModeExec).Scan(&pid); err != nil {
		return time.Time{}, err
	}
	if pid == conn.PgConn().PID() {
		l.mu.Lock()
		l.receiving = true
		l.mu.Unlock()
		var isTaken bool
		row := conn.QueryRow(ctx, sqlHold.Text, append([]any{pgx.QueryExecModeExec}, sqlHold.Values(holdValues{l.lock})...)...)
		if err := row.Scan(&isTaken); err != nil && conn.IsClosed() {
			return time.Time{}, err
		}
		if isTaken {
			l.setHeld(isHeld)
		} else {
			l.setHeld(isNotHeld)
		}
		return time.Time{}, nil
	}
	l.setHeld(isNotHeld)
	if err := l.execute(conn, "LISTEN "+statements.ProbeChannel, limits.ListenQuery); err != nil {
		return time.Time{}, err
	}
	id := newID()
	l.mu.Lock()
	l.probeID = id
	l.mu.Unlock()
	go l.db.notify(l.ctx, statements.ProbeChannel, id) // Without an answer, rows are polled.
	return time.Now().Add(limits.Probe), nil
}

// notified is called by the goroutine that uses the connection, which must not be used here.
func (l *listener) notified(n *pgconn.Notification) {
	switch n.Channel {
	case statements.Channel:
		notified := parseNotifications([]byte(n.Payload))
		l.waits.notified(notified)
		l.audience.notified(notified)
	case statements.ProbeChannel:
		l.mu.Lock()
		defer l.mu.Unlock()
		if n.Payload == l.probeID {
			l.receiving = true
		}
	}
}

// query reads rows over the connection that listens. A prepared statement only where no pooler is in between, and
// where statements may be kept (statement_cache_capacity of the URL).
func (l *listener) query(conn *pgx.Conn, rowKeys []rowKey) ([]row, error) {
	ctx, cancel := context.WithTimeout(l.ctx, limits.ListenQuery)
	defer cancel()
	mode := pgx.QueryExecModeExec
	if l.isReceiving() && conn.Config().StatementCacheCapacity > 0 {
		mode = pgx.QueryExecModeCacheStatement
	}
	found, err := conn.Query(ctx, sqlReadPaid.Text, append([]any{mode}, sqlReadPaid.Values(rowKeys)...)...)
	if err != nil {
		return nil, withoutDetail(err)
	}
	all, err := pgx.CollectRows(found, sqlReadPaid.Read)
	return all, withoutDetail(err)
}

func (l *listener) warnPolling(cause string) {
	if !l.warned {
		l.warned = true
		warn(l.log, "URLMODE_POLLING", fmt.Sprintf(texts.Polling, cause))
	}
}

// warn logs a problem that makes no call fail. code does not change between versions.
func warn(log *slog.Logger, code, message string, more ...any) {
	log.Warn(message, append([]any{slog.String("code", code)}, more...)...)
}
