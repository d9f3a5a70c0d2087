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
	v, at := r.vault, given.place
	options, err := v.optionsOf(at.provider, given.tokens)
	if err != nil {
		return refreshed{}, err
	}
	begun, err := v.database.beginRefresh(ctx, at, given.version)
	if err != nil {
		return refreshed{}, err
	}
	switch begun.outcome {
	case "begun":
		return r.request(ctx, given, begun.lease, options)
	case "leased":
		return refreshed{outcome: "leased", wait: time.Duration(begun.waitMs) * time.Millisecond}, nil
	case "paused":
		return refreshed{outcome: "failed", detail: "paused"}, nil
	case "lost":
		given.report(Event{Name: EventReconnect, Reason: "refresh_lost"})
	}
	return rowHasChanged, nil
}

func (r *refresher) request(ctx context.Context, given refreshable, number int64, o options) (refreshed, error) {
	v, at := r.vault, given.place
	from, err := v.open(ctx, o)
	if err != nil {
		// A provider that fails is not asked for its metadata each time either.
		failed, failing := r.fail(ctx, given, number, codeOf(err), "", nil)
		if errors.Is(err, urlmode.ErrProviderUnavailable) {
			return failed, failing
		}
		return refreshed{}, err
	}
	isMarked, err := r.markSent(ctx, at, number, from.oauth.isReusable())
	if err != nil || !isMarked {
		return rowHasChanged, err
	}
	sentAt := time.Now()
	refreshToken, _ := given.tokens["refresh_token"].(string)
	came, err := from.refresh(ctx, refreshToken)
	if err != nil {
		var failed *failure
		reason := ""
		if errors.As(err, &failed) && failed.code == "invalid_grant" {
			reason = failed.code
		}
		return r.fail(ctx, given, number, err.Error(), reason, failed)
	}
	stored, err := v.sealRefreshed(given, came)
	end := ""
	if err == nil {
		end, err = retried(ctx, limits.Commit, func() (string, error) {
			return v.database.commitRefresh(ctx, at, given.version, stored, sentAt)
		})
	}
	switch {
	case err != nil && isRefused(err):
		return r.notStored(ctx, given, number, from, came, codeOf(err))
	case err != nil:
		return refreshed{}, err
	case end == "stored":
		given.report(Event{Name: EventRefreshed})
	case end == "gone":
		// It was disconnected while this refresh was under way, and its lease lost.
		given.report(Event{Name: EventDisconnected, Revoked: from.revokeAll(ctx, came) == ""})
	}
	return rowHasChanged, nil
}

// markSent is false if the lease is lost. If the answer is lost, nobody else sends the token before the lease ends: it can be asked
// again. If it comes late, it is asked again, because what is left of the lease must be enough for the request.
func (r *refresher) markSent(ctx context.Context, at place, number int64, isReusable bool) (bool, error) {
	for {
		var asked time.Time
		isMarked, err := retried(ctx, limits.RefreshLease, func() (bool, error) {
			asked = time.Now()
			return r.vault.database.markSent(ctx, at, number, isReusable)
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
	// After that the lease has ended, and nobody knows that there was an answer.
	_, err := retried(ctx, limits.RefreshLease, func() (bool, error) {
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
