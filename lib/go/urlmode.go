// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/seals"
	"urlmode.example/urlmode/internal/texts"
)

// Instance creates elicitations and waits for them. It is safe for use by any number of
// goroutines, and one in each process is enough. Make one with New.
type Instance struct {
	ring       keys
	baseURL    string
	name       string
	tenant     tenant
	kept       kept
	described  map[string]string
	pool       *pool
	db         *database
	listener   *listener
	waits      *waits
	purger     *purger
	claims     *claims
	rechecks   *rechecks
	ledger     *ledger
	events     *events
	background *background
	log        *slog.Logger

	stop    context.CancelFunc
	closing sync.Once
}

// New checks the configuration. It opens no connection: the first call does. ctx ends only New itself.
func New(ctx context.Context, config Config) (*Instance, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	baseURL, host, err := checkBaseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	m := &Instance{baseURL: baseURL, name: config.Name}
	if m.name == "" {
		m.name = host
	}
	if err := checkText("Name", m.name, 1, limits.NameMax); err != nil {
		return nil, err
	}
	if !tenantForm.MatchString(config.Tenant) {
		return nil, argumentError(texts.TenantName)
	}
	m.tenant = tenant(config.Tenant)
	if m.kept, err = checkKept(config); err != nil {
		return nil, err
	}
	functions, err := checkRechecks(config.Rechecks)
	if err != nil {
		return nil, err
	}
	if err := checkDescriptions(config.Descriptions); err != nil {
		return nil, err
	}
	m.described = maps.Clone(config.Descriptions)
	log := config.Logger
	if log == nil {
		log = slog.Default()
	}
	if m.ring, err = openKeys(config, log); err != nil {
		return nil, err
	}
	opened, server, several, err := openPool(config)
	if err != nil {
		return nil, err
	}
	m.log, m.background = log, newBackground()
	running, stop := context.WithCancel(context.Background())
	m.pool, m.stop = opened, stop
	m.db = newDatabase(opened)
	m.purger = &purger{db: m.db, kept: m.kept, log: log, ctx: running}
	m.claims = &claims{pool: opened, ring: m.ring, keep: m.kept.results, ctx: running}
	m.ledger = &ledger{readings: map[*reading]struct{}{}}
	m.listener = &listener{server: server, noListen: config.NoListen, backoffMax: limits.BackoffMax, db: m.db, log: log, ctx: running,
		lock: rand.Int64()}
	if opened.leadership != nil {
		opened.leadership.leave = append(opened.leadership.leave, m.listener.leave)
	}
	if several {
		m.listener.backoffMax = limits.BackoffOfSeveralMax
	}
	m.waits = &waits{tenant: m.tenant, ring: m.ring, db: m.db, listener: m.listener, purger: m.purger, log: log, ctx: running,
		start: time.Now(), recheckLimit: limits.RecheckLease,
		entries: map[string]*entry{}, asking: map[asked]Status{}, closing: make(chan struct{}), ends: map[string]int{}}
	m.waits.complete = func(ctx context.Context, k rowKey, answer Answer) error {
		_, err := m.settle(ctx, k, answer)
		return err
	}
	m.listener.waits = m.waits
	m.events = m.newEvents(config.OnEvent, running)
	m.claims.waits = m.waits
	m.rechecks = &rechecks{functions: functions, tenant: m.tenant, pool: opened, waits: m.waits, ctx: running}
	m.waits.rechecks = m.rechecks
	m.claims.listener = m.listener
	return m, nil
}

func openKeys(config Config, log *slog.Logger) (keys, error) {
	switch {
	case config.Keys != "" && config.KeysFile != "":
		return nil, argumentError(texts.KeysOrFile)
	case config.KeysFile != "":
		return openKeysFile(config.KeysFile, log)
	case len(config.Keys) > limits.KeysFileMax:
		return nil, argumentError("Keys "+texts.MustHaveBytesAtMost, limits.KeysFileMax)
	case config.Keys != "":
		return parseKeys(config.Keys, "Keys")
	}
	return nil, argumentError("KeysFile is required, or Keys")
}

// Wait waits until the elicitation is completed, by any process and on any instance, or until
// the context ends. The end of the context does not change the elicitation.
//
// Errors: ErrTimeout after the deadline of the context, which is context.DeadlineExceeded too; context.Canceled;
// ErrNotFound, ErrSeal, ErrClosed.
func (m *Instance) Wait(ctx context.Context, id string, owner Owner) (Outcome, error) {
	if ctx == nil {
		return Outcome{}, checkContext(ctx)
	}
	w := newWait(ctx, defaultWaitOptions)
	if m.events != nil {
		m.events.follow(w, owner)
	}
	m.waits.begin(w, id, owner)
	if err := m.waits.await(w); err != nil {
		return Outcome{}, err
	}
	if t := w.options.events; t != nil {
		t.completed(w)
	}
	return *w.outcome, nil
}

// WaitWith is Wait with options.
func (m *Instance) WaitWith(ctx context.Context, id string, owner Owner, o WaitOptions) (Outcome, error) {
	if ctx == nil {
		return Outcome{}, checkContext(ctx)
	}
	w := newWait(ctx, &o)
	if m.events != nil {
		m.events.follow(w, owner)
	}
	m.waits.begin(w, id, owner)
	if err := m.waits.await(w); err != nil {
		return Outcome{}, err
	}
	if t := w.options.events; t != nil {
		t.completed(w)
	}
	return *w.outcome, nil
}

// Complete completes an elicitation from outside a wait, for a server that has learned the outcome in another way.
// completed is false if it was completed before, and true also if the payment of an elicitation that had ended otherwise was recorded.
//
// Errors: ErrNotFound, ErrMismatch, ErrReference.
func (m *Instance) Complete(ctx context.Context, id string, owner Owner, answer Answer) (completed bool, err error) {
	if err := checkContext(ctx); err != nil {
		return false, err
	}
	k, err := m.tenant.checkRow(id, owner)
	if err != nil {
		return false, err
	}
	outcome, err := m.settle(ctx, k, answer)
	if err == nil && outcome == "completed" {
		m.reportCompleted(ctx, k, owner)
	}
	return err == nil && outcome != "already", err
}

func (m *Instance) settle(ctx context.Context, k rowKey, answer Answer) (string, error) {
	checked, err := checkAnswer(answer)
	if err != nil {
		return "", err
	}
	var result []byte
	if checked.text != nil {
		result = seal(m.ring, useResult, k, checked.text, nil)
	}
	return m.db.settle(ctx, k, checked, result)
}

// Cancel is Complete with the action Cancel. It also ends an elicitation that a user has opened. An empty reason is "cancelled".
func (m *Instance) Cancel(ctx context.Context, id string, owner Owner, reason string) (completed bool, err error) {
	if reason == "" {
		reason = "cancelled"
	}
	return m.Complete(ctx, id, owner, Answer{Action: Cancel, Reason: reason})
}

// Abandon ends an elicitation that nobody waits for any more, unless a user has opened it. action is Decline or Cancel; an
// empty action is Cancel, and an empty reason is "abandoned". completed: this call has ended it.
func (m *Instance) Abandon(ctx context.Context, id string, owner Owner, action Action, reason string) (completed bool, err error) {
	if err := checkContext(ctx); err != nil {
		return false, err
	}
	k, err := m.tenant.checkRow(id, owner)
	if err != nil {
		return false, err
	}
	if action == "" {
		action = Cancel
	}
	if reason == "" {
		reason = "abandoned"
	}
	if err := checkAction(action, Decline, Cancel); err != nil {
		return false, err
	}
	if err := checkReason(reason); err != nil {
		return false, err
	}
	outcome, err := m.db.abandon(ctx, abandoned{k, action, reason})
	if err == nil && outcome == "completed" {
		m.reportCompleted(ctx, k, owner)
	}
	return outcome == "completed", err
}

// Claim claims the outcome of a completed elicitation. Only the first call gets true, and delivers. ErrOpen: it is not completed.
// Once PostgreSQL was asked, the end of the context does not end the call, which alone may deliver. Before that it does, and nothing
// is claimed.
func (m *Instance) Claim(ctx context.Context, id string, owner Owner, o ClaimOptions) (claimed bool, err error) {
	if err := checkContext(ctx); err != nil {
		return false, err
	}
	k, err := m.tenant.checkRow(id, owner)
	if err != nil {
		return false, err
	}
	if o.Action == "" {
		o.Action = Accept
	}
	if err := checkAction(o.Action, actions...); err != nil {
		return false, err
	}
	if err := checkReference(o.Reference); err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if o.RecheckAfter, err = checkRecheckAfter(o.RecheckAfter); err != nil {
		return false, err
	}
	m.rechecks.start()
	return m.claims.atOnce(ctx, k, o)
}

// BeginClaim claims an accept under a lease, for a call whose answer may be lost. The work is done
// once, and its result is given to the next call until an answer was written. The end of the context ends the wait for
// another call, and what was not sent to PostgreSQL yet. What was sent it does not end: a claim that has begun is this call's, which does the work or releases it.
//
// Errors: ErrOpen, ErrNotFound, ErrSeal.
func (m *Instance) BeginClaim(ctx context.Context, id string, owner Owner, o LeaseOptions) (*Claim, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	k, err := m.tenant.checkRow(id, owner)
	if err != nil {
		return nil, err
	}
	o.Lease = orDefault(o.Lease, limits.ClaimLease)
	if err := checkDuration("Lease", o.Lease, limits.ClaimLeaseMin, limits.ClaimLeaseMax); err != nil {
		return nil, err
	}
	if err := checkDuration("Wait", o.Wait, 0, limits.TTLMax); err != nil {
		return nil, err
	}
	if err := checkReference(o.Reference); err != nil {
		return nil, err
	}
	if o.ClaimID = strings.ToLower(o.ClaimID); o.ClaimID != "" && !isID(o.ClaimID) {
		return nil, argumentError("ClaimID must be a UUID")
	}
	if o.RecheckAfter, err = checkRecheckAfter(o.RecheckAfter); err != nil {
		return nil, err
	}
	m.rechecks.start()
	return m.claims.begin(ctx, k, o)
}

func checkRecheckAfter(after time.Duration) (time.Duration, error) {
	after = max(0, orDefault(after, limits.RecheckAfter))
	return after, checkDuration("RecheckAfter", after, 0, limits.RecheckAfterMax)
}

// Purge deletes purgeable data in batches: elicitations to which nothing can happen any more, and expired data.
func (m *Instance) Purge(ctx context.Context, o PurgeOptions) (deleted int64, err error) {
	if err := checkContext(ctx); err != nil {
		return 0, err
	}
	keep := o.OlderThan
	if keep == 0 {
		if keep = m.kept.rows; keep < 0 {
			keep = limits.Retention
		}
	}
	if err := checkDuration("OlderThan", keep, limits.RetentionMin, limits.RetentionMax); err != nil {
		return 0, err
	}
	if o.Kind != "" && !slices.Contains(purgeKinds, o.Kind) {
		return 0, argumentError("Kind "+texts.MustBeOneOf, purgeKinds)
	}
	return m.db.purge(ctx, keep, o.Kind)
}

// Ticket is a cookie that tells callback programs with "user_check": "session-ticket" who the user is. Send it only to a
// browser whose web session identifies the user. ttl is up to an hour; zero is five minutes.
func (m *Instance) Ticket(subject string, ttl time.Duration) (Ticket, error) {
	if err := checkText("Subject", subject, 1, limits.SubjectMax); err != nil {
		return Ticket{}, err
	}
	ttl = orDefault(ttl, limits.Ticket)
	if err := checkDuration("the ttl of a ticket", ttl, time.Millisecond, limits.TicketMax); err != nil {
		return Ticket{}, err
	}
	seconds := int64((ttl + time.Second - 1) / time.Second)
	value := mintTicket(m.ring.minting(), subject, time.Now().Unix()+seconds, nil)
	header := fmt.Sprintf(texts.TicketCookie, seals.TicketCookie, value, seconds)
	return Ticket{Name: seals.TicketCookie, Value: value, Header: header}, nil
}

// OpenWaits is how many waits are open in this instance, for the metrics of a server.
func (m *Instance) OpenWaits() int {
	m.waits.mu.Lock()
	defer m.waits.mu.Unlock()
	return m.waits.size
}

// Close ends open waits with ErrClosed, waits for other calls, and closes all connections. Calls that PostgreSQL has
// not answered after about two seconds are ended as well; what a vault has begun is awaited for as long as it takes. Later calls get
// ErrClosed; Close can be called again.
func (m *Instance) Close() error {
	m.closing.Do(func() {
		m.waits.close()
		waitBriefly(&m.waits.open)
		m.ledger.close()
		m.background.close()
		m.stop()
		overdue := time.AfterFunc(limits.Close, m.pool.breakOff)
		defer overdue.Stop()
		m.listener.running.Wait()
		m.purger.done.Wait()
		m.purger.markAll()
		waitBriefly(&m.rechecks.done)
		waitBriefly(&m.waits.tasks)
		m.pool.close()
		m.claims.done.Wait()
	})
	return nil
}

// waitBriefly waits for a group, but not for long: functions of the caller may take any time.
func waitBriefly(group *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	timer := time.NewTimer(limits.Abandon)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
