// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

const (
	sqlStore = `SELECT urlmode.store_account($1::text, $2::text, $3::text, $4::text[], $5::text[], $6::bytea, $7::bigint,
		$8::text::uuid, $9::bigint) IS NOT NULL`
	sqlStoreExchanged = `SELECT urlmode.store_exchanged($1::uuid, $2::bytea, $3::text, $4::text[], $5::text[], $6::bytea, $7::bigint, $8::bigint)`
	sqlRead           = `SELECT provider_name, account_id, state, reason, scopes, requested, connected_at, refreshed_at, expires_at, expires_in_ms,
		lifetime_ms, version, tokens FROM urlmode.read_accounts($1::text, $2::text, $3::text)`
	sqlBeginRefresh = `SELECT outcome, coalesce(lease, 0), coalesce(wait_ms, 0)
		FROM urlmode.begin_refresh($1::text, $2::text, $3::text, $4::bigint, $5::bigint)`
	sqlMarkSent        = `SELECT urlmode.mark_sent($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::boolean)`
	sqlCommitRefresh   = `SELECT urlmode.commit_refresh($1::text, $2::text, $3::text, $4::bigint, $5::text[], $6::bytea, $7::bigint)`
	sqlFailRefresh     = `SELECT coalesce(urlmode.fail_refresh($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::text, $7::boolean, $8::boolean)::text, '')`
	sqlBeginDisconnect = `SELECT outcome, coalesce(wait_ms, 0), coalesce(version, 0), tokens, first_version
		FROM urlmode.begin_disconnect($1::text, $2::text, $3::text, $4::bigint, $5::bigint)`
	sqlDelete     = `SELECT urlmode.delete_account($1::text, $2::text, $3::text, $4::bigint)`
	sqlKeys       = `SELECT kid, accounts FROM urlmode.vault_keys()`
	sqlListSealed = `SELECT subject, provider, account, tokens
		FROM urlmode.list_sealed($1::bigint::integer, $2::text, $3::text, $4::text)`
	sqlReseal       = `SELECT urlmode.reseal_account($1::text, $2::text, $3::text, $4::bytea, $5::bytea)`
	sqlForget       = `SELECT unclaimed::text, provider, reference, amount, currency FROM urlmode.forget_subject($1::text)`
	sqlReadExchange = `SELECT coalesce(urlmode.read_exchange($1::uuid, $2::bytea), 'unknown')`
	sqlEndExchange  = `SELECT urlmode.end_exchange($1::uuid, $2::bytea, $3::text)`
)

// lasting is what is said of the statement or of its data, and would be said again: data, constraints, syntax and rights, a
// missing schema. Everything else can pass, such as a password that is being changed.
var lasting = regexp.MustCompile(`^(22|23|42|3F)`)

type database struct{ internals internals.Instance }

// accountRow is an account as it is stored.
type accountRow struct {
	urlmode.Account
	leftMs     *int64 // by PostgreSQL's clock; nil: not known
	lifetimeMs *int64
	version    int64
	sealed     []byte
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

func texts(list []string) []string {
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

func one[T any](ctx context.Context, d database, statement string, values ...any) (answer T, err error) {
	found, err := many(ctx, d, pgx.RowTo[T], statement, values...)
	if err != nil {
		return answer, err
	}
	if len(found) != 1 {
		return answer, errors.New("PostgreSQL has answered with another number of rows than one")
	}
	return found[0], nil
}

func many[T any](ctx context.Context, d database, read pgx.RowToFunc[T], statement string, values ...any) ([]T, error) {
	found, err := d.internals.Query(ctx, func(row pgx.CollectableRow) (any, error) { return read(row) }, statement, values...)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(found))
	for i, each := range found {
		all[i] = each.(T)
	}
	return all, nil
}

// read finds the accounts of a user, the one that was connected last first.
func (d database) read(ctx context.Context, at place) ([]accountRow, error) {
	return many(ctx, d, func(row pgx.CollectableRow) (r accountRow, err error) {
		var expiresAt *time.Time
		err = row.Scan(&r.Provider, &r.Account.Account, &r.State, &r.Reason, &r.Scopes, &r.Requested, &r.ConnectedAt, &r.RefreshedAt, &expiresAt,
			&r.leftMs, &r.lifetimeMs, &r.version, &r.sealed)
		r.ConnectedAt, r.RefreshedAt = r.ConnectedAt.UTC(), r.RefreshedAt.UTC()
		if expiresAt != nil {
			r.ExpiresAt = expiresAt.UTC()
		}
		return r, err
	}, sqlRead, at.subject, orNull(at.provider), orNull(at.account))
}

// store is false if the user was forgotten after this elicitation was created: nothing was stored.
func (d database) store(ctx context.Context, at place, s stored, requested []string, id string, kept *int64) (bool, error) {
	return one[bool](ctx, d, sqlStore, at.subject, at.provider, at.account, texts(s.scopes), texts(requested), s.sealed, s.lifetimeMs, orNull(id), kept)
}

// storeExchanged ends the exchange of this elicitation as well. False: nothing was stored, because the user was forgotten.
func (d database) storeExchanged(ctx context.Context, id string, binding []byte, account string, s stored, requested []string, kept *int64, since time.Time) (bool, error) {
	return one[bool](ctx, d, sqlStoreExchanged, id, binding, account, texts(s.scopes), texts(requested), s.sealed, s.lessWaited(since), kept)
}

type begunRefresh struct {
	outcome string
	lease   int64
	wait    time.Duration
}

func (d database) beginRefresh(ctx context.Context, at place, version int64) (begunRefresh, error) {
	found, err := many(ctx, d, func(row pgx.CollectableRow) (b begunRefresh, err error) {
		var waitMs int64
		err = row.Scan(&b.outcome, &b.lease, &waitMs)
		b.wait = time.Duration(waitMs) * time.Millisecond
		return b, err
	}, sqlBeginRefresh, at.subject, at.provider, at.account, version, limits.RefreshLease.Milliseconds())
	if err != nil || len(found) != 1 {
		return begunRefresh{}, err
	}
	return found[0], nil
}

func (d database) markSent(ctx context.Context, at place, number int64, isReusable bool) (bool, error) {
	return one[bool](ctx, d, sqlMarkSent, at.subject, at.provider, at.account, number, limits.RefreshLease.Milliseconds(), isReusable)
}

func (d database) commitRefresh(ctx context.Context, at place, version int64, s stored, since time.Time) (string, error) {
	return one[string](ctx, d, sqlCommitRefresh, at.subject, at.provider, at.account, version, texts(s.scopes), s.sealed, s.lessWaited(since))
}

// failRefresh ends a refresh that failed. With a reason, the account must be connected again. failure is nil if no request was made.
func (d database) failRefresh(ctx context.Context, at place, version, number int64, reason string, why *failure) (bool, error) {
	isGateway := why != nil && why.isOfGateway()
	isLost := isGateway || why != nil && why.isAnswerLost
	_, err := one[string](ctx, d, sqlFailRefresh, at.subject, at.provider, at.account, version, number, orNull(reason), isLost, isGateway)
	return err == nil, err
}

type begunDisconnect struct {
	outcome string
	wait    time.Duration
	version int64
	sealed  []byte
	first   *int64
}

func (d database) beginDisconnect(ctx context.Context, at place, first *int64) (begunDisconnect, error) {
	found, err := many(ctx, d, func(row pgx.CollectableRow) (b begunDisconnect, err error) {
		var waitMs int64
		err = row.Scan(&b.outcome, &waitMs, &b.version, &b.sealed, &b.first)
		b.wait = time.Duration(waitMs) * time.Millisecond
		return b, err
	}, sqlBeginDisconnect, at.subject, at.provider, at.account, limits.RefreshLease.Milliseconds(), first)
	if err != nil || len(found) != 1 {
		return begunDisconnect{}, err
	}
	return found[0], nil
}

// retried repeats a change of a row while PostgreSQL is away. It may be made twice, if the answer to the first was lost.
func retried[T any](ctx context.Context, timeout time.Duration, change func() (T, error)) (T, error) {
	until := time.Now().Add(timeout)
	for delay := limits.CommitRetryMin; ; delay = min(2*delay, limits.CommitRetryMax) {
		made, err := change()
		if err == nil || isRefused(err) || errors.Is(err, urlmode.ErrClosed) || time.Now().After(until) {
			return made, err
		}
		if waiting := timing.Sleep(ctx, timing.Jittered(delay)); waiting != nil {
			return made, waiting
		}
	}
}

// isRefused reports whether it is certain that nothing is stored, and will not be: the tokens are too large, or refused for what they are.
func isRefused(err error) bool {
	var refused *pgconn.PgError
	return errors.Is(err, urlmode.ErrAccountSize) || errors.Is(err, urlmode.ErrArgument) || errors.As(err, &refused) && lasting.MatchString(refused.Code)
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
