// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

type database struct{ internals internals.Instance }

// storedAccount is an account as it is stored.
type storedAccount struct {
	urlmode.Account
	leftMs     *int64 // by PostgreSQL's clock; nil: not known
	lifetimeMs *int64
	// sinceRefreshMs is nil if no refresh has stored the tokens since the user has connected the account.
	sinceRefreshMs *int64
	version        int64
	sealed         []byte
}

// stored are tokens to be stored.
type stored struct {
	scopes     []string
	sealed     []byte
	lifetimeMs *int64
}

// lessWaited returns the time for which tokens are valid, less the time that has passed: it began when they were asked for, and not
// when they could be stored.
func (s stored) lessWaited(since time.Time) *int64 {
	if s.lifetimeMs == nil {
		return nil
	}
	rest := *s.lifetimeMs - time.Since(since).Milliseconds()
	return &rest
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func one[A, R any](ctx context.Context, d database, statement internals.Statement[A, R], of A) (answer R, err error) {
	found, err := many(ctx, d, statement, of)
	if err != nil {
		return answer, err
	}
	if len(found) != 1 {
		return answer, urlmode.Failure(internals.Permit{}, urlmode.ErrUnavailable, fmt.Sprintf("PostgreSQL has answered with %d rows", len(found)), nil)
	}
	return found[0], nil
}

func many[A, R any](ctx context.Context, d database, statement internals.Statement[A, R], of A) ([]R, error) {
	read := func(row pgx.CollectableRow) (any, error) { return statement.Read(row) }
	found, err := d.internals.Query(ctx, read, statement.Reads, statement.Text, statement.Values(of)...)
	if err != nil {
		return nil, err
	}
	all := make([]R, len(found))
	for i, each := range found {
		all[i] = each.(R)
	}
	return all, nil
}

// read finds the accounts of a user, the one that was connected last first.
func (d database) read(ctx context.Context, at place) ([]storedAccount, error) {
	found, err := many(ctx, d, sqlFindAccounts, findAccountsValues(at))
	all := make([]storedAccount, len(found))
	for i, r := range found {
		all[i] = storedAccount{
			Account: urlmode.Account{
				Provider: r.providerName, Account: r.accountID, State: urlmode.AccountState(r.state), Reason: r.reason, Scopes: r.scopes,
				Requested: r.requested, ConnectedAt: r.connectedAt.UTC(), RefreshedAt: r.refreshedAt.UTC(),
			},
			leftMs: r.expiresInMs, lifetimeMs: r.lifetimeMs, sinceRefreshMs: r.sinceRefreshMs, version: r.version, sealed: r.tokens,
		}
		if r.expiresAt != nil {
			all[i].ExpiresAt = r.expiresAt.UTC()
		}
	}
	return all, err
}

// store is false if the user was forgotten after this elicitation was created: nothing was stored.
func (d database) store(ctx context.Context, at place, s stored, requested []string, id string, kept *int64) (bool, error) {
	version, err := one(ctx, d, sqlStoreAccount, storeAccountValues{place: at, scopes: orEmpty(s.scopes), requested: orEmpty(requested),
		tokens: s.sealed, expiresInMs: s.lifetimeMs, elicitation: id, kept: kept})
	return version != nil, err
}

// storeExchanged ends the exchange of this elicitation as well. False: nothing was stored, because the user was forgotten.
func (d database) storeExchanged(ctx context.Context, id string, binding []byte, account string, s stored, requested []string, kept *int64, since time.Time) (bool, error) {
	return one(ctx, d, sqlStoreExchanged, storeExchangedValues{id: id, binding: binding, account: account, scopes: orEmpty(s.scopes),
		requested: orEmpty(requested), tokens: s.sealed, expiresInMs: s.lessWaited(since), kept: kept})
}

// beginRefresh begins to refresh the tokens of this version. holder: of the lock of the listening session, or nil. late: to try a
// refresh token that came late.
func (d database) beginRefresh(ctx context.Context, at place, version int64, holder *int64, late bool) (begunRefresh, error) {
	return one(ctx, d, sqlBeginLeaseOf, beginLeaseOfValues{place: at, version: version, leaseMs: limits.RefreshLease.Milliseconds(),
		holder: holder, late: late})
}

// markSent also says for how long the provider takes the token again: nil, if that is not known.
func (d database) markSent(ctx context.Context, at place, number int64, isReusable bool, reuseMs *int64) (bool, error) {
	lease := limits.RefreshSent
	if isReusable {
		lease = limits.RefreshLease
	}
	return one(ctx, d, sqlMarkSending, markSendingValues{place: at, lease: number, leaseMs: lease.Milliseconds(), staysGood: isReusable,
		reuseMs: reuseMs})
}

// commitRefresh is late if another instance has sent the old refresh token since, and isReplaced, there is a new one.
func (d database) commitRefresh(ctx context.Context, at place, version, number int64, s stored, isReplaced bool, since time.Time) (string, error) {
	return one(ctx, d, sqlStoreRefreshed, storeRefreshedValues{place: at, version: version, lease: number, replaced: isReplaced,
		scopes: orEmpty(s.scopes), tokens: s.sealed, expiresInMs: s.lessWaited(since)})
}

// failRefresh ends a refresh that failed. With a reason, the account must be connected again. failure is nil if no request was made.
func (d database) failRefresh(ctx context.Context, at place, version, number int64, reason string, why *failure) (bool, error) {
	of := endRefreshValues{place: at, version: version, lease: number, reason: reason}
	if why != nil {
		of.lost = string(why.lost)
		if after := why.retryAfter.Milliseconds(); after > 0 {
			of.retryAfterMs = &after
		}
	}
	_, err := one(ctx, d, sqlEndRefresh, of)
	return err == nil, err
}

func (d database) beginDisconnect(ctx context.Context, at place, first *int64) (begunDisconnect, error) {
	return one(ctx, d, sqlBeginDisconnect, beginDisconnectValues{place: at, leaseMs: limits.RefreshLease.Milliseconds(), first: first})
}

// retried repeats a change of a row while PostgreSQL is away. It may be made twice, if the answer to the first was lost. The last
// attempt begins after the time is over: the process may have stood still in the one before.
func retried[T any](ctx context.Context, timeout time.Duration, change func() (T, error)) (T, error) {
	until := time.Now().Add(timeout)
	for delay := limits.CommitRetryMin; ; delay = min(2*delay, limits.CommitRetryMax) {
		isLast := time.Now().After(until)
		made, err := change()
		if err == nil || isRefused(err) || errors.Is(err, urlmode.ErrClosed) || isLast {
			return made, err
		}
		if waiting := timing.Sleep(ctx, timing.Jittered(delay)); waiting != nil {
			return made, waiting
		}
	}
}

// isLasting reports whether it would be said again. Everything else can pass, such as a password that is being changed.
func isLasting(state string) bool { return slices.Contains(lastingClasses, state[:min(2, len(state))]) }

// isRefused reports whether it is certain that nothing is stored, and will not be: the tokens are too large, or refused for what they are.
func isRefused(err error) bool {
	var refused *pgconn.PgError
	return errors.Is(err, urlmode.ErrAccountSize) || errors.Is(err, urlmode.ErrArgument) || errors.As(err, &refused) && isLasting(refused.Code)
}

// codeOf is without anything of what was refused.
func codeOf(err error) string {
	var refused *pgconn.PgError
	var about *urlmode.AccountError
	var own *urlmode.Error
	switch {
	case errors.As(err, &refused):
		return refused.Code
	case errors.As(err, &about):
		return string(about.Code)
	case errors.As(err, &own):
		return string(own.Code)
	case errors.Is(err, urlmode.ErrArgument):
		return string(urlmode.ErrArgument)
	}
	return "ERROR"
}
