// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

// refreshable are tokens with a refresh token.
type refreshable struct {
	place
	version int64
	tokens  tokens
	scopes  []string
	// tell keeps what the listener is told when the refresh has ended: it may ask for a token of this account.
	report func(Event)
}

// refreshed is how a refresh has ended. changed: the row says more. leased: another instance is at it. failed: with a detail.
type refreshed struct {
	outcome string
	wait    time.Duration
	detail  string
}

var rowHasChanged = refreshed{outcome: "changed"}

// refresher refreshes the tokens of an account: one instance at a time, and in an instance one call at a time (PROTOCOL.md, "The vault").
type refresher struct {
	vault *Vault

	mu      sync.Mutex
	running map[place]*refreshing
}

type refreshing struct {
	done   chan struct{}
	result refreshed
	err    error
}

// refresh refreshes the tokens of an account. The end of the context ends this call and not the refresh: what the provider gives is stored.
func (r *refresher) refresh(ctx context.Context, given refreshable) (refreshed, error) {
	running, err := r.join(given)
	if err != nil {
		return refreshed{}, err
	}
	select {
	case <-running.done:
		return running.result, running.err
	case <-ctx.Done():
		return refreshed{}, ctx.Err()
	}
}

// refreshAhead refreshes them in the background, so that an error is an event.
func (r *refresher) refreshAhead(given refreshable) {
	running, err := r.join(given)
	if err != nil {
		return // It is closed.
	}
	go func() {
		<-running.done
		if running.err != nil {
			r.vault.report(Event{Name: EventFailed, Detail: codeOf(running.err)}, given.place)
		}
	}()
}

// join begins a refresh, or finds the one that is under way.
func (r *refresher) join(given refreshable) (*refreshing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if running := r.running[given.place]; running != nil {
		return running, nil
	}
	// Nothing is sent after Close has begun.
	if err := r.vault.internals.CheckOpen(); err != nil {
		return nil, err
	}
	end, err := r.vault.internals.Start()
	if err != nil {
		return nil, err
	}
	running := &refreshing{done: make(chan struct{})}
	r.running[given.place] = running
	var events []Event
	given.report = func(event Event) { events = append(events, event) }
	go func() {
		defer end()
		running.result, running.err = r.run(context.Background(), given)
		r.mu.Lock()
		delete(r.running, given.place)
		r.mu.Unlock()
		for _, each := range events {
			r.vault.report(each, given.place)
		}
		close(running.done)
	}()
	return running, nil
}

func (r *refresher) run(ctx context.Context, given refreshable) (refreshed, error) {
	o, err := r.vault.optionsOf(given.provider, given.tokens)
	if err != nil {
		return refreshed{}, err
	}
	var before *refreshed
	for until := time.Now().Add(limits.RefreshLease); ; {
		result, isAgain, err := r.try(ctx, given, o, before)
		if err != nil || !isAgain || time.Now().After(until) || timing.Sleep(ctx, timing.Jittered(limits.CommitRetryMin)) != nil {
			return result, err
		}
		before = &result
	}
}

// try is one request under a lease. before: how the one before has failed, if there was one. isAgain: its answer was lost. Whether the token
// may be sent again, and at once, the row says.
func (r *refresher) try(ctx context.Context, given refreshable, o options, before *refreshed) (result refreshed, isAgain bool, err error) {
	v, at := r.vault, given.place
	begun, release, err := r.begin(ctx, given, false)
	defer release()
	if err != nil {
		return refreshed{}, false, err
	}
	switch begun.outcome {
	case "leased":
		return refreshed{outcome: "leased", wait: time.Duration(begun.waitMs) * time.Millisecond}, false, nil
	case "paused":
		if before == nil {
			return refreshed{outcome: "failed", detail: "paused"}, false, nil
		}
		return *before, false, nil
	case "lost":
		given.report(Event{Name: EventReconnect, Reason: "refresh_lost"})
	}
	if begun.outcome != "begun" {
		return rowHasChanged, false, nil
	}
	from, err := v.open(ctx, o)
	if err != nil {
		// A provider that fails is not asked for its metadata each time either.
		failed, failing := r.fail(ctx, given, begun.lease, codeOf(err), "", nil)
		if errors.Is(err, urlmode.ErrProviderUnavailable) {
			return failed, false, failing
		}
		return refreshed{}, false, err
	}
	isMarked, err := r.markSent(ctx, at, begun.lease, from)
	if err != nil || !isMarked {
		return rowHasChanged, false, err
	}
	sentAt := time.Now()
	refreshToken, _ := given.tokens["refresh_token"].(string)
	came, err := refreshWith(ctx, from, refreshToken, before == nil)
	if err != nil {
		why := failureOf(err)
		result, err = r.fail(ctx, given, begun.lease, why.detail, why.reason(), why)
		return result, result.outcome == "failed" && why.lost != "" && !from.oauth.isReusable(), err
	}
	result, err = r.store(ctx, given, begun.lease, from, came, sentAt)
	return result, false, err
}

// refreshWith sends a refresh token. isFirst: it was not sent before. Where the provider takes it again for a while, half of that is then
// left for another request, if the answer to this one does not come.
func refreshWith(ctx context.Context, from *provider, refreshToken string, isFirst bool) (tokens, error) {
	if reuse := from.reuseMs(); isFirst && reuse != nil && *reuse > 0 && !from.oauth.isReusable() {
		limited, cancel := limitedTo(ctx, time.Duration(*reuse)*time.Millisecond/2)
		defer cancel()
		ctx = limited
	}
	return from.refresh(ctx, refreshToken)
}

// begin takes a lease, while the listening session is used: until release.
func (r *refresher) begin(ctx context.Context, given refreshable, isLate bool) (begunRefresh, func(), error) {
	holder, release := r.vault.internals.Hold(ctx, limits.HoldWait)
	begun, err := r.vault.database.beginRefresh(ctx, given.place, given.version, holder, isLate)
	return begun, release, err
}

// store stores what came for a refresh token that was sent under this lease.
func (r *refresher) store(ctx context.Context, given refreshable, number int64, from *provider, came tokens, sentAt time.Time) (refreshed, error) {
	v, at := r.vault, given.place
	next := came["refresh_token"]
	isReplaced := next != nil && next != given.tokens["refresh_token"] && !from.oauth.isReusable()
	stored, err := v.sealRefreshed(given, came)
	end := ""
	if err == nil {
		end, err = retried(ctx, limits.Commit, func() (string, error) {
			return v.database.commitRefresh(ctx, at, given.version, number, stored, isReplaced, sentAt)
		})
	}
	switch {
	case err != nil && isRefused(err):
		return r.notStored(ctx, given, number, from, came, codeOf(err))
	case err != nil:
		return refreshed{}, err
	case end == "late":
		return r.tryLate(ctx, given, from, came)
	case end == "stored":
		given.report(Event{Name: EventRefreshed})
	case end == "gone":
		// It was disconnected while this refresh was under way, and its lease lost.
		given.report(Event{Name: EventDisconnected, Revoked: from.revokeAll(ctx, came) == ""})
	}
	return rowHasChanged, nil
}

// tryLate is for what came after another instance has sent the old refresh token: the provider may have ended the family. The new
// refresh token is tried once, under a new lease, and what comes of that is stored. Behind newer tokens it is dropped.
func (r *refresher) tryLate(ctx context.Context, given refreshable, from *provider, came tokens) (refreshed, error) {
	late := given
	late.tokens = maps.Clone(given.tokens)
	maps.Copy(late.tokens, came)
	pause := limits.AccountLook
	for until := time.Now().Add(limits.Commit); time.Now().Before(until); {
		result, isOver, err := r.tryLateOnce(ctx, given, late, from)
		if err != nil || isOver {
			return result, err
		}
		if result.outcome == "failed" {
			pause = min(2*pause, limits.CommitRetryMax)
		}
		if err := timing.Sleep(ctx, timing.Jittered(pause)); err != nil {
			return refreshed{}, err
		}
	}
	return rowHasChanged, nil
}

func (r *refresher) tryLateOnce(ctx context.Context, given, late refreshable, from *provider) (result refreshed, isOver bool, err error) {
	release := func() {}
	defer func() { release() }()
	begun, err := retried(ctx, limits.Commit, func() (begunRefresh, error) {
		release()
		begun, end, err := r.begin(ctx, given, true)
		release = end
		return begun, err
	})
	switch {
	case err != nil:
		return refreshed{}, true, err
	case begun.outcome == "leased":
		return refreshed{outcome: "leased"}, false, nil
	case begun.outcome != "begun":
		return rowHasChanged, true, nil
	}
	if isMarked, err := r.markSent(ctx, given.place, begun.lease, from); err != nil || !isMarked {
		return refreshed{outcome: "leased"}, err != nil, err
	}
	sentAt := time.Now()
	refreshToken, _ := late.tokens["refresh_token"].(string)
	came, err := from.refresh(ctx, refreshToken)
	if err != nil {
		why := failureOf(err)
		reason := why.reason()
		if reason == "" && why.lost == lostAnswer {
			reason = "refresh_lost" // What is dead must not be connected. Nobody knows what has become of it.
		}
		result, err = r.fail(ctx, given, begun.lease, why.detail, reason, why)
		return result, reason != "", err
	}
	result, err = r.store(ctx, late, begun.lease, from, came, sentAt)
	return result, true, err
}

// markSent is false if the lease is lost. If the answer is lost, nobody else sends the token before the lease ends: it can be asked
// again. If it comes late, it is asked again, because what is left of the lease must be enough for the request.
func (r *refresher) markSent(ctx context.Context, at place, number int64, from *provider) (bool, error) {
	for {
		var asked time.Time
		isMarked, err := retried(ctx, limits.RefreshLease, func() (bool, error) {
			asked = time.Now()
			return r.vault.database.markSent(ctx, at, number, from.oauth.isReusable(), from.reuseMs())
		})
		if err != nil || !isMarked || time.Since(asked) < limits.RefreshLate {
			return isMarked, err
		}
	}
}

// notStored is about new tokens that cannot be stored, whenever that is tried.
func (r *refresher) notStored(ctx context.Context, given refreshable, number int64, from *provider, came tokens, detail string) (refreshed, error) {
	if next := came["refresh_token"]; next == nil || next == given.tokens["refresh_token"] {
		return r.fail(ctx, given, number, detail, "", nil)
	}
	// The old refresh token is not good any more. Sent again, it could end all that the user has granted.
	result, err := r.fail(ctx, given, number, detail, "not_stored", nil)
	// If they are the last that the account has got: with them some providers would revoke newer ones.
	rows, reading := r.vault.database.read(ctx, given.place)
	isLast := reading == nil && (len(rows) == 0 || rows[0].version == given.version)
	given.report(Event{Name: EventNotStored, Detail: detail, Revoked: isLast && from.revokeAll(ctx, came) == ""})
	return result, err
}

// fail ends a refresh that has failed. With a reason, the account must be connected again; otherwise it can be tried again.
func (r *refresher) fail(ctx context.Context, given refreshable, number int64, detail, reason string, why *failure) (refreshed, error) {
	// For as long as new tokens are kept: after that the lease has ended, and nobody knows that there was an answer.
	_, err := retried(ctx, limits.Commit, func() (bool, error) {
		return r.vault.database.failRefresh(ctx, given.place, given.version, number, reason, why)
	})
	if err != nil {
		return refreshed{}, err
	}
	if reason != "" {
		given.report(Event{Name: EventReconnect, Reason: reason})
		return rowHasChanged, nil
	}
	given.report(Event{Name: EventFailed, Detail: detail})
	return refreshed{outcome: "failed", detail: detail}, nil
}

// sealRefreshed seals the tokens of an answer. What the answer leaves out stays as it was (RFC 6749 sections 5.1 and 6).
func (v *Vault) sealRefreshed(given refreshable, came tokens) (stored, error) {
	all := maps.Clone(given.tokens)
	delete(all, "expires_in")
	maps.Copy(all, came)
	scopes := given.scopes
	if came["scope"] != nil {
		scopes = scopesOf(came)
	}
	sealed, err := sealTokens(v.keys, given.place, all, nil)
	return stored{scopes, sealed, lifetimeOf(came)}, err
}
