// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"urlmode.example/urlmode/internal/limits"
)

// leadership is what the connections of one instance know of the host that leads.
//
// A primary that was cut off from its cluster still takes writes, but its commits wait for a standby without end. So a statement
// that is not answered for ten seconds has its server asked, on another connection, what its process does, and again every ten
// seconds. One that is only slow, or waits for a lock, goes on: it would be slow on another connection as well. Where it waits
// in its commit, or where nobody answers, all connections are closed, and never cancelled: PostgreSQL commits what waits for a
// standby when it is cancelled. The next connection is made to the host that leads: that with the highest timeline of those that
// take writes. Only a promotion raises a timeline, so that no load makes connections go to and fro.
type leadership struct {
	server *pgx.ConnConfig
	// leave closes the connections that were made before.
	leave []func()

	// isDoubted: a commit was not answered, so that the leader is looked for, until all hosts have answered and one takes writes.
	isDoubted atomic.Bool
}

// hostsOf are the hosts of a connection string, each with a configuration of its own.
func hostsOf(server *pgx.ConnConfig) []*pgx.ConnConfig {
	var hosts []*pgx.ConnConfig
	for _, one := range append([]*pgconn.FallbackConfig{{Host: server.Host, Port: server.Port, TLSConfig: server.TLSConfig}}, server.Fallbacks...) {
		last := len(hosts) - 1
		if last >= 0 && hosts[last].Host == one.Host && hosts[last].Port == one.Port {
			// The second attempt at the same host, where TLS is optional.
			hosts[last].Fallbacks = append(hosts[last].Fallbacks, one)
			continue
		}
		host := server.Copy()
		host.Host, host.Port, host.TLSConfig, host.Fallbacks = one.Host, one.Port, one.TLSConfig, nil
		hosts = append(hosts, host)
	}
	return hosts
}

// askLeader is on a connection of its own, which does not last.
func askLeader(ctx context.Context, host *pgx.ConnConfig, process uint32) (answer leaderRow, isPooled bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limits.ConnectOfSeveral)
	defer cancel()
	host = host.Copy()
	host.ValidateConnect = nil
	conn, err := pgx.ConnectConfig(ctx, host)
	if err != nil {
		return answer, false, err
	}
	defer closeSoon(conn)
	found, err := conn.Query(ctx, sqlLeader.Text, append([]any{pgx.QueryExecModeExec}, sqlLeader.Values(leaderValues{process: int(int32(process))})...)...)
	if err == nil {
		answer, err = pgx.CollectExactlyOneRow(found, sqlLeader.Read)
	}
	return answer, uint32(answer.pid) != conn.PgConn().PID(), err
}

// isAtWork reports whether one of the hosts says that it carries the statement of this process out. A pooler has process ids of its
// own, and follows a failover itself.
func (l *leadership) isAtWork(ctx context.Context, process uint32) bool {
	return slices.ContainsFunc(askAll(ctx, hostsOf(l.server), process), func(one leaderAnswer) bool {
		if one.answer.works != nil {
			return *one.answer.works
		}
		return one.isPooled || one.cannotSay
	})
}

type leaderAnswer struct {
	answer   leaderRow
	isPooled bool
	// cannotSay: the server answers, but has no connection left, or its functions are older.
	cannotSay bool
}

// askAll asks all at the same time, so that one that is dead delays nothing. The answers are in their order, empty where there is none.
func askAll(ctx context.Context, hosts []*pgx.ConnConfig, process uint32) []leaderAnswer {
	answers := make([]leaderAnswer, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		all.Go(func() {
			answer, isPooled, err := askLeader(ctx, host, process)
			var said *pgconn.PgError
			switch {
			case err == nil:
				answers[i] = leaderAnswer{answer: answer, isPooled: isPooled}
			case errors.As(err, &said) && (said.Code[:2] == "42" || said.Code[:2] == "53"):
				answers[i] = leaderAnswer{cannotSay: true}
			}
		})
	}
	all.Wait()
	return answers
}

// doubt is called when a commit was not answered.
func (l *leadership) doubt() {
	l.isDoubted.Store(true)
	for _, leave := range l.leave {
		leave()
	}
}

// prepare is for each new connection: it goes to the host that leads first, and is never cancelled.
func (l *leadership) prepare(ctx context.Context, to *pgx.ConnConfig) error {
	if hosts := hostsOf(to); l.isDoubted.Load() && len(hosts) > 1 {
		l.putFirst(ctx, hosts, to)
	}
	neverCancel(to)
	return nil
}

func (l *leadership) putFirst(ctx context.Context, hosts []*pgx.ConnConfig, to *pgx.ConnConfig) {
	leader, leaders, highest := 0, 0, ""
	answers := askAll(ctx, hosts, 0)
	for i, one := range answers {
		if one.answer.timeline != "" {
			leaders++
		}
		if one.answer.timeline > highest {
			leader, highest = i, one.answer.timeline
		}
	}
	// Who says nothing may be the old primary, and come back as it was.
	if leaders == 1 && !slices.ContainsFunc(answers, func(one leaderAnswer) bool { return one.answer.pid == 0 }) {
		l.isDoubted.Store(false)
	}
	first := hosts[leader]
	rest := slices.Delete(slices.Clone(hosts), leader, leader+1)
	to.Host, to.Port, to.TLSConfig, to.Fallbacks = first.Host, first.Port, first.TLSConfig, slices.Clone(first.Fallbacks)
	for _, other := range rest {
		to.Fallbacks = append(to.Fallbacks, &pgconn.FallbackConfig{Host: other.Host, Port: other.Port, TLSConfig: other.TLSConfig})
		to.Fallbacks = append(to.Fallbacks, other.Fallbacks...)
	}
}

// NeverCancel is for the configuration of a pool of your own. pgx cancels each statement whose connection is lost or whose
// context ends. PostgreSQL then commits what waits for a standby, on that server alone.
func NeverCancel(config *pgxpool.Config) {
	before := config.BeforeConnect
	config.BeforeConnect = func(ctx context.Context, to *pgx.ConnConfig) error {
		if before != nil {
			if err := before(ctx, to); err != nil {
				return err
			}
		}
		neverCancel(to)
		return nil
	}
}

// neverCancel keeps pgx from opening another connection to cancel the statement of each one that is lost.
func neverCancel(to *pgx.ConnConfig) {
	var isMade atomic.Bool
	dial, after := to.DialFunc, to.AfterConnect
	to.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if isMade.Load() {
			return nil, net.ErrClosed
		}
		return dial(ctx, network, address)
	}
	to.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		isMade.Store(true)
		if after != nil {
			return after(ctx, conn)
		}
		return nil
	}
}

// judged is a statement that was sent and may not be answered.
type judged struct {
	mu       sync.Mutex
	isOver   bool
	isLeft   bool // its connection was closed
	watching *time.Timer
}

// judge closes the connection of a statement that is not answered in time, unless it is carried out.
func (l *leadership) judge(ctx context.Context, conn *pgx.Conn) *judged {
	one, process := &judged{}, conn.PgConn().PID()
	one.mu.Lock()
	defer one.mu.Unlock()
	one.watching = time.AfterFunc(limits.CommitUnanswered, func() {
		if one.decide(conn, l.isAtWork(ctx, process)) {
			l.doubt()
		}
	})
	return one
}

// decide reports whether the connection was closed.
func (one *judged) decide(conn *pgx.Conn, isAtWork bool) bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.isOver {
		return false
	}
	if isAtWork {
		// It may wait in its commit when it is asked again.
		one.watching.Reset(limits.CommitUnanswered)
		return false
	}
	one.isLeft = true
	sever(conn)
	return true
}

// end is called when the statement has ended, and reports whether its connection was given up.
func (one *judged) end() bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	one.watching.Stop()
	one.isOver = true
	return one.isLeft
}
