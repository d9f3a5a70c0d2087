// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package vault

import (
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
)

type endExchangeValues struct {
	id      string
	binding []byte
	reason  string
}

var sqlEndExchange = internals.StatementOf(
	`SELECT urlmode.end_exchange($1::text::uuid, $2::bytea, $3::text)`,
	func(of endExchangeValues) []any {
		return []any{of.id, of.binding, of.reason}
	},
	pgx.RowTo[bool],
)

type readExchangeValues struct {
	id      string
	binding []byte
}

var sqlReadExchange = internals.ReadingOf(
	`SELECT urlmode.read_exchange($1::text::uuid, $2::bytea)`,
	func(of readExchangeValues) []any {
		return []any{of.id, of.binding}
	},
	pgx.RowTo[*string],
)

type storeAccountValues struct {
	place
	scopes      []string
	requested   []string
	tokens      []byte
	expiresInMs *int64
	elicitation string
	// the version whose refresh token is stored again
	kept *int64
}

var sqlStoreAccount = internals.StatementOf(
	`SELECT urlmode.store_account($1::text, $2::text, $3::text, $4::text[], $5::text[], $6::bytea, $7::bigint, $8::text::uuid,
		$9::bigint)`,
	func(of storeAccountValues) []any {
		return []any{
			of.subject,
			of.provider,
			of.account,
			of.scopes,
			of.requested,
			of.tokens,
			of.expiresInMs,
			orNull(of.elicitation),
			of.kept,
		}
	},
	pgx.RowTo[*int64],
)

type storeExchangedValues struct {
	id          string
	binding     []byte
	account     string
	scopes      []string
	requested   []string
	tokens      []byte
	expiresInMs *int64
	// the version whose refresh token is stored again
	kept *int64
}

var sqlStoreExchanged = internals.StatementOf(
	`SELECT urlmode.store_exchanged($1::text::uuid, $2::bytea, $3::text, $4::text[], $5::text[], $6::bytea, $7::bigint, $8::bigint)`,
	func(of storeExchangedValues) []any {
		return []any{of.id, of.binding, of.account, of.scopes, of.requested, of.tokens, of.expiresInMs, of.kept}
	},
	pgx.RowTo[bool],
)

type readAccountsValues struct {
	subject  string
	provider string
	account  string
}

type accountRow struct {
	providerName string
	accountID    string
	state        string
	reason       string
	scopes       []string
	requested    []string
	connectedAt  time.Time
	refreshedAt  time.Time
	expiresAt    *time.Time
	// by PostgreSQL's clock; nil: not known
	expiresInMs *int64
	lifetimeMs  *int64
	version     int64
	// sealed
	tokens []byte
}

var sqlReadAccounts = internals.ReadingOf(
	`SELECT provider_name, account_id, state, reason, scopes, requested, connected_at, refreshed_at, expires_at, expires_in_ms,
		lifetime_ms, version, tokens FROM urlmode.read_accounts($1::text, $2::text, $3::text)`,
	func(of readAccountsValues) []any {
		return []any{of.subject, orNull(of.provider), orNull(of.account)}
	},
	func(from pgx.CollectableRow) (r accountRow, err error) {
		err = from.Scan(&r.providerName, &r.accountID, &r.state, &r.reason, &r.scopes, &r.requested, &r.connectedAt, &r.refreshedAt,
			&r.expiresAt, &r.expiresInMs, &r.lifetimeMs, &r.version, &r.tokens)
		return r, err
	},
)

type beginRefreshValues struct {
	place
	version int64
	leaseMs int64
}

type begunRefresh struct {
	outcome string
	// if it has begun
	lease int64
	// if another instance has the lease: for how long at most
	waitMs int64
}

var sqlBeginRefresh = internals.StatementOf(
	`SELECT outcome, coalesce(lease, 0), coalesce(wait_ms, 0) FROM urlmode.begin_refresh($1::text, $2::text, $3::text, $4::bigint,
		$5::bigint)`,
	func(of beginRefreshValues) []any {
		return []any{of.subject, of.provider, of.account, of.version, of.leaseMs}
	},
	func(from pgx.CollectableRow) (r begunRefresh, err error) {
		err = from.Scan(&r.outcome, &r.lease, &r.waitMs)
		return r, err
	},
)

type markSentValues struct {
	place
	lease int64
	// from now on
	leaseMs int64
	// the token can be sent again, whatever becomes of the answer
	staysGood bool
}

var sqlMarkSent = internals.StatementOf(
	`SELECT urlmode.mark_sent($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::boolean)`,
	func(of markSentValues) []any {
		return []any{of.subject, of.provider, of.account, of.lease, of.leaseMs, of.staysGood}
	},
	pgx.RowTo[bool],
)

type commitRefreshValues struct {
	place
	version     int64
	scopes      []string
	tokens      []byte
	expiresInMs *int64
}

var sqlCommitRefresh = internals.StatementOf(
	`SELECT urlmode.commit_refresh($1::text, $2::text, $3::text, $4::bigint, $5::text[], $6::bytea, $7::bigint)`,
	func(of commitRefreshValues) []any {
		return []any{of.subject, of.provider, of.account, of.version, of.scopes, of.tokens, of.expiresInMs}
	},
	pgx.RowTo[string],
)

type failRefreshValues struct {
	place
	version int64
	lease   int64
	// why it must be connected again; empty: it can be tried again
	reason     string
	answerLost bool
	byGateway  bool
}

var sqlFailRefresh = internals.StatementOf(
	`SELECT urlmode.fail_refresh($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::text, $7::boolean, $8::boolean)`,
	func(of failRefreshValues) []any {
		return []any{
			of.subject,
			of.provider,
			of.account,
			of.version,
			of.lease,
			orNull(of.reason),
			of.answerLost,
			of.byGateway,
		}
	},
	internals.Nothing,
)

type beginDisconnectValues struct {
	place
	leaseMs int64
	// what this has returned before as `first_version`
	first *int64
}

type begunDisconnect struct {
	outcome      string
	waitMs       int64
	version      int64
	tokens       []byte
	firstVersion *int64
}

var sqlBeginDisconnect = internals.StatementOf(
	`SELECT outcome, coalesce(wait_ms, 0), coalesce(version, 0), tokens, first_version FROM urlmode.begin_disconnect($1::text,
		$2::text, $3::text, $4::bigint, $5::bigint)`,
	func(of beginDisconnectValues) []any {
		return []any{of.subject, of.provider, of.account, of.leaseMs, of.first}
	},
	func(from pgx.CollectableRow) (r begunDisconnect, err error) {
		err = from.Scan(&r.outcome, &r.waitMs, &r.version, &r.tokens, &r.firstVersion)
		return r, err
	},
)

type deleteAccountValues struct {
	place
	version int64
}

var sqlDeleteAccount = internals.StatementOf(
	`SELECT urlmode.delete_account($1::text, $2::text, $3::text, $4::bigint)`,
	func(of deleteAccountValues) []any {
		return []any{of.subject, of.provider, of.account, of.version}
	},
	pgx.RowTo[bool],
)

type keyRow struct {
	kid      int
	accounts int64
}

var sqlVaultKeys = internals.ReadingOf(
	`SELECT kid, accounts FROM urlmode.vault_keys()`,
	func(_ struct{}) []any {
		return nil
	},
	func(from pgx.CollectableRow) (r keyRow, err error) {
		err = from.Scan(&r.kid, &r.accounts)
		return r, err
	},
)

type listSealedValues struct {
	minting       int
	afterSubject  string
	afterProvider string
	afterAccount  string
}

type sealedRow struct {
	subject  string
	provider string
	account  string
	tokens   []byte
}

var sqlListSealed = internals.ReadingOf(
	`SELECT subject, provider, account, tokens FROM urlmode.list_sealed($1::bigint::integer, $2::text, $3::text, $4::text)`,
	func(of listSealedValues) []any {
		return []any{of.minting, of.afterSubject, of.afterProvider, of.afterAccount}
	},
	func(from pgx.CollectableRow) (r sealedRow, err error) {
		err = from.Scan(&r.subject, &r.provider, &r.account, &r.tokens)
		return r, err
	},
)

type resealAccountValues struct {
	place
	old    []byte
	tokens []byte
}

var sqlResealAccount = internals.StatementOf(
	`SELECT urlmode.reseal_account($1::text, $2::text, $3::text, $4::bytea, $5::bytea)`,
	func(of resealAccountValues) []any {
		return []any{of.subject, of.provider, of.account, of.old, of.tokens}
	},
	pgx.RowTo[bool],
)

type forgetSubjectValues struct {
	subject string
}

type forgottenRow struct {
	unclaimed string
	provider  string
	reference string
	amount    int64
	currency  string
}

var sqlForgetSubject = internals.StatementOf(
	`SELECT unclaimed::text, provider, reference, amount, currency FROM urlmode.forget_subject($1::text)`,
	func(of forgetSubjectValues) []any {
		return []any{of.subject}
	},
	func(from pgx.CollectableRow) (r forgottenRow, err error) {
		err = from.Scan(&r.unclaimed, &r.provider, &r.reference, &r.amount, &r.currency)
		return r, err
	},
)
