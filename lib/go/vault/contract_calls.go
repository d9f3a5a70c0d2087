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

type findAccountsValues struct {
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
	// how long ago a refresh has stored them; nil: none has since the user has connected the account
	sinceRefreshMs *int64
}

var sqlFindAccounts = internals.ReadingOf(
	`SELECT provider_name, account_id, state, reason, scopes, requested, connected_at, refreshed_at, expires_at, expires_in_ms,
		lifetime_ms, version, tokens, since_refresh_ms FROM urlmode.find_accounts($1::text, $2::text, $3::text)`,
	func(of findAccountsValues) []any {
		return []any{of.subject, orNull(of.provider), orNull(of.account)}
	},
	func(from pgx.CollectableRow) (r accountRow, err error) {
		err = from.Scan(&r.providerName, &r.accountID, &r.state, &r.reason, &r.scopes, &r.requested, &r.connectedAt, &r.refreshedAt,
			&r.expiresAt, &r.expiresInMs, &r.lifetimeMs, &r.version, &r.tokens, &r.sinceRefreshMs)
		return r, err
	},
)

type beginLeaseOfValues struct {
	place
	version int64
	leaseMs int64
	// of the lock of the listening session; nil: there is none
	holder *int64
	// to try a refresh token that came late
	late bool
}

type begunRefresh struct {
	outcome string
	// if it has begun
	lease int64
	// if another instance has the lease: for how long at most
	waitMs int64
}

var sqlBeginLeaseOf = internals.StatementOf(
	`SELECT outcome, coalesce(lease, 0), coalesce(wait_ms, 0) FROM urlmode.begin_lease_of($1::text, $2::text, $3::text, $4::bigint,
		$5::bigint, $6::bigint, $7::boolean)`,
	func(of beginLeaseOfValues) []any {
		return []any{of.subject, of.provider, of.account, of.version, of.leaseMs, of.holder, of.late}
	},
	func(from pgx.CollectableRow) (r begunRefresh, err error) {
		err = from.Scan(&r.outcome, &r.lease, &r.waitMs)
		return r, err
	},
)

type markSendingValues struct {
	place
	lease int64
	// from now on
	leaseMs int64
	// the token can be sent again, whatever becomes of the answer
	staysGood bool
	// for how long the provider takes it again; 0: never; nil: not known
	reuseMs *int64
}

var sqlMarkSending = internals.StatementOf(
	`SELECT urlmode.mark_sending($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::boolean, $7::bigint)`,
	func(of markSendingValues) []any {
		return []any{of.subject, of.provider, of.account, of.lease, of.leaseMs, of.staysGood, of.reuseMs}
	},
	pgx.RowTo[bool],
)

type storeRefreshedValues struct {
	place
	version int64
	lease   int64
	// there is a new refresh token
	replaced    bool
	scopes      []string
	tokens      []byte
	expiresInMs *int64
}

var sqlStoreRefreshed = internals.StatementOf(
	`SELECT urlmode.store_refreshed($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::boolean, $7::text[], $8::bytea,
		$9::bigint)`,
	func(of storeRefreshedValues) []any {
		return []any{
			of.subject,
			of.provider,
			of.account,
			of.version,
			of.lease,
			of.replaced,
			of.scopes,
			of.tokens,
			of.expiresInMs,
		}
	},
	pgx.RowTo[string],
)

type endRefreshValues struct {
	place
	version int64
	lease   int64
	// why it must be connected again; empty: it can be tried again
	reason string
	// the provider may have replaced the token; empty: it has not
	lost string
	// as the provider says it
	retryAfterMs *int64
}

var sqlEndRefresh = internals.StatementOf(
	`SELECT urlmode.end_refresh($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::text, $7::text, $8::bigint)`,
	func(of endRefreshValues) []any {
		return []any{
			of.subject,
			of.provider,
			of.account,
			of.version,
			of.lease,
			orNull(of.reason),
			orNull(of.lost),
			of.retryAfterMs,
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

type vaultKeysOfValues struct {
	tenant string
}

type keyRow struct {
	kid      int
	accounts int64
}

var sqlVaultKeysOf = internals.ReadingOf(
	`SELECT kid, accounts FROM urlmode.vault_keys_of($1::text)`,
	func(of vaultKeysOfValues) []any {
		return []any{of.tenant}
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

type forgetOwnerValues struct {
	tenant  string
	subject string
}

type forgottenRow struct {
	unclaimed string
	provider  string
	reference string
	amount    int64
	currency  string
}

var sqlForgetOwner = internals.StatementOf(
	`SELECT unclaimed::text, provider, reference, amount, currency FROM urlmode.forget_owner($1::text, $2::text)`,
	func(of forgetOwnerValues) []any {
		return []any{of.tenant, of.subject}
	},
	func(from pgx.CollectableRow) (r forgottenRow, err error) {
		err = from.Scan(&r.unclaimed, &r.provider, &r.reference, &r.amount, &r.currency)
		return r, err
	},
)
