// SPDX-License-Identifier: MIT

package urlmode

import (
	"bytes"
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// A proxy that stops answering, and comes back: waits continue.
func TestWaitOutlivesItsServer(t *testing.T) {
	p, me, log := openPrograms(t), someone(), &lines{}
	gate := openGate(t)
	// Without kept statements, as for some poolers.
	m := open(t, func(c *Config) {
		c.DatabaseURL, c.Logger = gate.url+"&lock_timeout=20&statement_cache_capacity=0", log.logger()
	})
	elicitation, second := create(t, m, account(me)), create(t, m, account(me))
	wait := begin(t, t.Context(), m, elicitation.ElicitationID, me, WaitOptions{})
	gate.shut(true)
	until(t, "the lost connection is logged", func() bool { return log.count("URLMODE_RECONNECTING") == 1 })
	p.comeBack(t, elicitation.ElicitationID, me, "c")
	gate.shut(false)
	if got := <-wait; got.err != nil || got.outcome.Result["code"] != "c" {
		t.Fatalf("%#v, %v", got.outcome, got.err)
	}
	wait = begin(t, t.Context(), m, second.ElicitationID, me, WaitOptions{})
	operator := asOperator(t)
	unlock := lock(t, operator, "LOCK TABLE urlmode.elicitation")
	m.waits.wakeAll()
	until(t, "it is logged that nothing can be read", func() bool { return log.count("URLMODE_RECONNECTING") == 2 })
	unlock()
	p.comeBack(t, second.ElicitationID, me, "d")
	if got := <-wait; got.err != nil || got.outcome.Result["code"] != "d" {
		t.Fatalf("%#v, %v", got.outcome, got.err)
	}
}

// Other waits that begin all the time do not delay the next poll.
func TestPollsWhileWaitsBegin(t *testing.T) {
	m, p, me := open(t, func(c *Config) { c.NoListen = true }), openPrograms(t), someone()
	elicitation, other := create(t, m, account(me)), create(t, m, account(me))
	wait := begin(t, t.Context(), m, elicitation.ElicitationID, me, WaitOptions{})
	p.comeBack(t, elicitation.ElicitationID, me, "c")
	for giveUp := time.Now().Add(limits.Routine / 2); len(wait) == 0; {
		if _, err := m.WaitWith(t.Context(), other.ElicitationID, me, WaitOptions{Once: true}); !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
		if time.Now().After(giveUp) {
			t.Fatal("no poll before that of all rows")
		}
	}
}

// gate passes connections on to PostgreSQL, ends all of them, or lets them die in silence.
type gate struct {
	url    string
	mu     sync.Mutex
	isShut bool
	open   map[net.Conn]bool
	silent map[net.Conn]bool
	// How often a connection was asked whether it is alive.
	questions atomic.Int32
}

func openGate(t testing.TB) *gate {
	server, err := url.Parse(required(t, "URLMODE_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listening.Close() })
	network, address := "tcp", server.Host
	if folder := server.Query().Get("host"); folder != "" {
		port := server.Query().Get("port")
		if port == "" {
			port = "5432"
		}
		network, address = "unix", folder+"/.s.PGSQL."+port
	}
	through := *server
	through.Host = listening.Addr().String()
	query := through.Query()
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	through.RawQuery = query.Encode()
	g := &gate{url: through.String(), open: map[net.Conn]bool{}, silent: map[net.Conn]bool{}}
	go func() {
		for {
			near, err := listening.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(network, address)
			g.mu.Lock()
			if err != nil || g.isShut {
				near.Close()
				g.mu.Unlock()
				continue
			}
			g.open[near], g.open[far] = true, true
			g.mu.Unlock()
			go g.pass(near, far)
			go g.pass(far, near)
		}
	}()
	return g
}

func (g *gate) pass(from, to net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32_768)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], []byte("-- ping")) {
			g.questions.Add(1)
		}
		g.mu.Lock()
		isSilent := g.silent[from]
		g.mu.Unlock()
		if isSilent {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// silence passes on nothing more of the connections that there are.
func (g *gate) silence() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for each := range g.open {
		g.silent[each] = true
	}
}

func (g *gate) shut(isShut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isShut = isShut
	for each := range g.open {
		if isShut {
			each.Close()
			delete(g.open, each)
		}
	}
}
