// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func TestLinkAndVerifier(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	request := account(me)
	request.PKCE, request.TTL = true, 10*time.Minute
	request.TargetURL = "https://provider.example/a?scope=openid+x"
	asked := create(t, m, request)
	link, _ := url.Parse(asked.URL)
	if id, kid, err := openLink(p.ring, "connect", "github", link.Query().Get("state")); err != nil || id != asked.ElicitationID || kid != 1 {
		t.Fatalf("the link is %s: %v", asked.URL, err)
	}
	if rest := time.Until(asked.ExpiresAt); rest < 9*time.Minute || rest > 11*time.Minute || asked.Resumed || asked.CancelURL != "" {
		t.Fatalf("%+v", asked)
	}
	wait := begin(t, t.Context(), m, asked.ElicitationID, me, WaitOptions{})
	p.open(t, asked.ElicitationID, me)
	p.comeBack(t, asked.ElicitationID, me, "é<&>")
	got := <-wait
	if got.err != nil || got.outcome.Result["code"] != "é<&>" || len(got.outcome.CodeVerifier) != 43 || len(got.outcome.Nonce) != 22 {
		t.Fatalf("%#v, %v", got.outcome, got.err)
	}
	for _, text := range []string{fmt.Sprint(got.outcome), fmt.Sprintf("%+v %#v", got.outcome, got.outcome)} {
		if strings.Contains(text, "é") || strings.Contains(text, got.outcome.CodeVerifier) {
			t.Fatalf("it prints as %s", text)
		}
	}
	again, err := m.Wait(t.Context(), asked.ElicitationID, me)
	if err != nil || again.CodeVerifier != got.outcome.CodeVerifier || again.Result["code"] != "é<&>" {
		t.Fatalf("%#v, %v", again, err)
	}
}

func TestTraceOfTheCallIsKept(t *testing.T) {
	m := open(t)
	operator, err := pgx.Connect(t.Context(), required(t, "URLMODE_ADMIN_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close(context.Background())
	for _, trace := range []string{"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", ""} {
		request := account(someone())
		request.Traceparent = trace
		var kept string
		err := operator.QueryRow(t.Context(), "SELECT coalesce(traceparent, '') FROM urlmode.elicitation WHERE id = $1::text::uuid",
			create(t, m, request).ElicitationID).Scan(&kept)
		if err != nil || kept != trace {
			t.Fatalf("%s, %v", kept, err)
		}
	}
}

func TestPaymentURLs(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	var seen TargetArguments
	asked := create(t, m, Request{Provider: "stripe", Kind: Payment, Owner: me, Expected: Expected{Amount: 5, Currency: "isk"},
		Target: func(_ context.Context, a TargetArguments) (Target, error) {
			seen = a
			return Target{URL: "https://checkout.example/pay", Checkout: "cs_1"}, nil
		}})
	if seen.Amount != "500" || seen.CallbackURLs != asked.CallbackURLs {
		t.Fatalf("%+v, %+v", seen, asked)
	}
	for purpose, address := range map[string]string{"return": asked.ReturnURL, "cancel": asked.CancelURL, "webhook": asked.WebhookURL} {
		parts, _ := url.Parse(address)
		if opened, err := openState(p.ring, purpose, "stripe", parts.Query().Get("state"), time.Now()); err != nil || opened.id != asked.ElicitationID {
			t.Errorf("%s: %v", purpose, err)
		}
	}
	wanted := errors.New("no checkout")
	if _, err := m.Create(t.Context(), Request{Provider: "stripe", Kind: Payment, Owner: me, Expected: Expected{Any: true},
		Target: func(context.Context, TargetArguments) (Target, error) { return Target{}, wanted }}); !errors.Is(err, wanted) {
		t.Fatalf("the error of Target: %v", err)
	}
}

// A pool of the caller, whose password comes from elsewhere, and whose connections get settings of their own.
func TestPoolOfTheCaller(t *testing.T) {
	config, err := pgxpool.ParseConfig(required(t, "URLMODE_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	password := config.ConnConfig.Password
	config.ConnConfig.Password = ""
	config.BeforeConnect = func(_ context.Context, to *pgx.ConnConfig) error {
		to.Password = password
		return nil
	}
	var prepared sync.Map
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		prepared.Store(conn.PgConn().PID(), true)
		_, err := conn.Exec(ctx, "SET application_name TO 'gateway'")
		return err
	}
	mine, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	m, p, me := open(t, func(c *Config) { c.DatabaseURL, c.Pool = "", mine }), openPrograms(t), someone()
	asked := create(t, m, account(me))
	wait := begin(t, t.Context(), m, asked.ElicitationID, me, WaitOptions{})
	until(t, "notifications arrive", func() bool { return samplesOf(t, m)["notifications_arrive"] == 1 })
	p.comeBack(t, asked.ElicitationID, me, "c")
	if got := <-wait; got.err != nil || got.outcome.Result["code"] != "c" {
		t.Fatalf("%#v, %v", got.outcome, got.err)
	}
	m.Close()
	count := 0
	prepared.Range(func(any, any) bool { count++; return true })
	if own := int(mine.Stat().TotalConns()); count != own+1 {
		t.Errorf("%d of %d connections were prepared", count, own+1)
	}
	if err := mine.Ping(t.Context()); err != nil {
		t.Errorf("Close has closed the pool of its caller: %v", err)
	}
	if _, err := New(t.Context(), Config{DatabaseURL: "postgresql://a/b", Pool: mine, Keys: testKeys, BaseURL: "https://callback.example"}); !errors.Is(err, ErrArgument) {
		t.Errorf("both: %v", err)
	}
}

func TestSizeOfThePool(t *testing.T) {
	for _, row := range []struct {
		url  string
		size int32
	}{
		{"postgresql://127.0.0.1:1/x", poolMax}, {"postgresql://127.0.0.1:1/x?pool_max_conns=9", 9}, {"host=127.0.0.1 port=1 pool_max_conns=2", 2},
	} {
		if got := open(t, func(c *Config) { c.DatabaseURL = row.url }).pool.pgx.Config().MaxConns; got != row.size {
			t.Errorf("%s: %d", row.url, got)
		}
	}
}

func TestManyWaitsOfManyGoroutines(t *testing.T) {
	m, p := open(t), openPrograms(t)
	const count = 200
	var group sync.WaitGroup
	owners, ids := make([]Owner, count), make([]string, count)
	for i := range count {
		owners[i] = someone()
		group.Go(func() {
			made, err := m.Create(t.Context(), account(owners[i]))
			if err != nil {
				t.Error(err)
			}
			ids[i] = made.ElicitationID
		})
	}
	group.Wait()
	ends := make([]<-chan ending, count)
	for i := range count {
		ends[i] = begin(t, t.Context(), m, ids[i], owners[i], WaitOptions{})
	}
	if m.OpenWaits() != count {
		t.Fatalf("%d waits are open", m.OpenWaits())
	}
	for i := range count {
		p.comeBack(t, ids[i], owners[i], fmt.Sprint(i))
	}
	for i, end := range ends {
		if got := <-end; got.err != nil || got.outcome.Result["code"] != fmt.Sprint(i) {
			t.Fatalf("%d: %#v, %v", i, got.outcome, got.err)
		}
	}
	until(t, "all waits have ended", func() bool { return m.OpenWaits() == 0 })
}

func TestOneBadCreateFailsAlone(t *testing.T) {
	m, me := open(t), someone()
	first := create(t, m, account(me))
	var group sync.WaitGroup
	errs := make([]error, 41)
	for i := range errs {
		group.Go(func() {
			request := account(someone())
			if i == 20 {
				request.ID = strings.ToUpper(first.ElicitationID)
			}
			_, errs[i] = m.Create(t.Context(), request)
		})
	}
	group.Wait()
	for i, err := range errs {
		if errors.Is(err, ErrExists) != (i == 20) || i != 20 && err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestEndsWithoutAnOutcome(t *testing.T) {
	m, other, p := open(t), open(t), openPrograms(t)
	endOf := func(id string, of Owner) string {
		t.Helper()
		outcome, err := other.WaitWith(t.Context(), id, of, WaitOptions{Once: true})
		var own *Error
		if errors.As(err, &own) {
			return string(own.Status)
		}
		if err != nil {
			t.Fatal(err)
		}
		return outcome.Reason
	}
	for _, row := range []struct {
		abandon, opened, deadline bool
		end                       string
	}{
		{false, false, false, "pending"}, {false, false, true, "pending"}, {true, false, false, "aborted"},
		{true, false, true, "timeout"}, {true, true, false, "opened"}, {true, true, true, "opened"},
	} {
		me := someone()
		asked := create(t, m, account(me))
		if row.opened {
			p.open(t, asked.ElicitationID, me)
		}
		ctx, cancel := context.WithCancel(t.Context())
		wanted := context.Canceled
		if row.deadline {
			ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
			wanted = context.DeadlineExceeded
		}
		wait := begin(t, ctx, m, asked.ElicitationID, me, WaitOptions{Abandon: row.abandon})
		if !row.deadline {
			cancel()
		}
		got := <-wait
		cancel()
		if !errors.Is(got.err, wanted) || errors.Is(got.err, ErrTimeout) != row.deadline {
			t.Errorf("%+v: %v", row, got.err)
		}
		until(t, fmt.Sprintf("the end of %+v", row), func() bool { return endOf(asked.ElicitationID, me) == row.end })
	}
	me := someone()
	asked := create(t, m, account(me))
	wait := begin(t, t.Context(), m, asked.ElicitationID, me, WaitOptions{Abandon: true})
	m.Close()
	if got := <-wait; !errors.Is(got.err, ErrClosed) {
		t.Errorf("closed: %v", got.err)
	}
	if end := endOf(asked.ElicitationID, me); end != "closed" {
		t.Errorf("closed: it is %s", end)
	}
}

// An error of PostgreSQL quotes no row.
func TestErrorsOfPostgreSQL(t *testing.T) {
	m := open(t, func(c *Config) { c.DatabaseURL = required(t, "URLMODE_PROGRAMS_DATABASE_URL") })
	_, err := m.Unclaimed(t.Context(), ListOptions{})
	if !isRefusal(err) {
		t.Fatalf("another role: %v", err)
	}
	if _, err := m.Wait(t.Context(), newID(), someone()); !isRefusal(err) {
		t.Fatalf("a wait of another role: %v", err)
	}
}

// A proxy that stops answering, and comes back: waits continue.
func TestWaitOutlivesItsServer(t *testing.T) {
	server, err := url.Parse(required(t, "URLMODE_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	p, me, log := openPrograms(t), someone(), &lines{}
	gate := openGate(t, server)
	// Without kept statements, as for some poolers.
	m := open(t, func(c *Config) {
		c.DatabaseURL, c.Logger = gate.url+"&lock_timeout=20&statement_cache_capacity=0", log.logger()
	})
	asked, second := create(t, m, account(me)), create(t, m, account(me))
	wait := begin(t, t.Context(), m, asked.ElicitationID, me, WaitOptions{})
	gate.shut(true)
	until(t, "the lost connection is logged", func() bool { return log.count("URLMODE_RECONNECTING") == 1 })
	p.comeBack(t, asked.ElicitationID, me, "c")
	gate.shut(false)
	if got := <-wait; got.err != nil || got.outcome.Result["code"] != "c" {
		t.Fatalf("%#v, %v", got.outcome, got.err)
	}
	wait = begin(t, t.Context(), m, second.ElicitationID, me, WaitOptions{})
	operator, err := pgx.Connect(t.Context(), required(t, "URLMODE_ADMIN_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close(context.Background())
	locking, err := operator.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locking.Exec(t.Context(), "LOCK TABLE urlmode.elicitation"); err != nil {
		t.Fatal(err)
	}
	m.waits.wakeAll()
	until(t, "it is logged that nothing can be read", func() bool { return log.count("URLMODE_RECONNECTING") == 2 })
	if err := locking.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.comeBack(t, second.ElicitationID, me, "d")
	if got := <-wait; got.err != nil || got.outcome.Result["code"] != "d" {
		t.Fatalf("%#v, %v", got.outcome, got.err)
	}
}

// Other waits that begin all the time do not delay the next poll.
func TestPollsWhileWaitsBegin(t *testing.T) {
	m, p, me := open(t, func(c *Config) { c.NoListen = true }), openPrograms(t), someone()
	asked, other := create(t, m, account(me)), create(t, m, account(me))
	wait := begin(t, t.Context(), m, asked.ElicitationID, me, WaitOptions{})
	p.comeBack(t, asked.ElicitationID, me, "c")
	for giveUp := time.Now().Add(routineEvery / 2); len(wait) == 0; {
		if _, err := m.WaitWith(t.Context(), other.ElicitationID, me, WaitOptions{Once: true}); !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
		if time.Now().After(giveUp) {
			t.Fatal("no poll before that of all rows")
		}
	}
}

// gate passes connections on to PostgreSQL, or ends all of them.
type gate struct {
	url    string
	mu     sync.Mutex
	isShut bool
	open   map[net.Conn]bool
}

func openGate(t testing.TB, server *url.URL) *gate {
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
	g := &gate{url: through.String(), open: map[net.Conn]bool{}}
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
			go pass(near, far)
			go pass(far, near)
		}
	}()
	return g
}

func pass(from, to net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32_768)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
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

func TestLeaseIsRenewed(t *testing.T) {
	m, other, me := open(t), open(t), someone()
	asked := create(t, m, Request{Provider: "stripe", Kind: Signature, Owner: me, TargetURL: "https://sign.example"})
	if _, err := m.Complete(t.Context(), asked.ElicitationID, me, Answer{Action: Accept}); err != nil {
		t.Fatal(err)
	}
	lease := LeaseOptions{Lease: time.Second}
	one, err := m.BeginClaim(t.Context(), asked.ElicitationID, me, lease)
	if err != nil || one.State != ClaimBegun {
		t.Fatalf("%v, %v", one, err)
	}
	lease.Wait = 3 * time.Second
	two, err := other.BeginClaim(t.Context(), asked.ElicitationID, me, lease)
	if err != nil {
		t.Fatal(err)
	}
	if two.State == ClaimBegun {
		<-one.Lost() // The machine was too slow to renew it. Then the other call may begin.
	} else if two.State != ClaimLeased {
		t.Fatalf("after three times the lease it is %s", two.State)
	}
	m.Close()
	<-one.Lost()
	if _, err := one.Fulfil(t.Context(), 1); !errors.Is(err, ErrClosed) {
		t.Fatalf("a claim of an instance that is closed: %v", err)
	}
}

// Close leaves no goroutine.
func TestNothingIsLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	m, me := open(t), someone()
	asked := create(t, m, account(me))
	wait := begin(t, t.Context(), m, asked.ElicitationID, me, WaitOptions{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range m.LatePayments(context.Background()) {
			t.Error("a late payment")
		}
	}()
	m.Close()
	<-wait
	<-done
	until(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}
