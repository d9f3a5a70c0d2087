// SPDX-License-Identifier: MIT

package vault

import (
	"cmp"
	"context"
	"math"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

// AccessToken is a token that is valid, at once if the stored one is. Otherwise it is refreshed, by one instance at a time. Near its end
// it is refreshed in the background. The end of the context ends the call, and not the refresh.
//
// Errors: an *urlmode.AccountError of ErrAccountNotConnected, ErrAccountReconnect (the provider refuses to refresh it, or its API refuses
// what came of that: only the user can help), ErrAccountUnavailable (it has expired or was refused, and cannot be refreshed just now) and
// ErrAccountSeal; ErrArgument, ErrClosed.
func (v *Vault) AccessToken(ctx context.Context, r urlmode.AccountRequest) (urlmode.AccessToken, error) {
	asked, err := v.checkPlace(r.Subject, r.Provider, r.Account)
	if err != nil {
		return urlmode.AccessToken{}, err
	}
	if r.ValidFor < 0 || r.ValidFor > limits.ValidForMax {
		return urlmode.AccessToken{}, refuse("ValidFor must be from 0 to %s", limits.ValidForMax)
	}
	if _, err := v.optionsOf(r.Provider, nil); err != nil {
		return urlmode.AccessToken{}, err
	}
	use := &using{vault: v, asked: asked, validFor: r.ValidFor, refused: r.Refused, until: time.Now().Add(limits.RefreshLease)}
	for {
		token, isDone, err := use.try(ctx)
		if err != nil || isDone {
			return token, err
		}
		if err := v.internals.CheckOpen(); err != nil {
			return urlmode.AccessToken{}, err
		}
	}
}

// using is one call for a token.
type using struct {
	vault *Vault
	asked place
	// validFor is zero if the call has not said it, and refused is empty.
	validFor time.Duration
	refused  string
	until    time.Time
	// first is the version that this call has read first of this account.
	account string
	first   int64
}

type verdict int

const (
	judgedUse           verdict = iota
	judgedUseAndRefresh         // in the background
	judgedRefresh
	judgedRefused // Only the user can help, as with judgedExpired.
	judgedExpired
)

// judge says whether a call uses the stored token. isGood: it has not expired, and it is not the one that was refused.
func (u *using) judge(row storedAccount, opened tokens) (is verdict, isGood bool) {
	left, half := math.Inf(1), 0.0
	if row.leftMs != nil {
		left = float64(*row.leftMs)
	}
	if row.lifetimeMs != nil {
		half = float64(*row.lifetimeMs) / 2
	}
	hasChanged := row.version != u.first
	refreshToken, isRefreshable := opened["refresh_token"].(string)
	// A long-lived token is renewed with itself, while it is valid.
	isItsOwn := isRefreshable && refreshToken == opened["access_token"]
	isRefreshable = isRefreshable && !(isItsOwn && left <= 0)
	if u.refused != "" && opened["access_token"] == u.refused {
		isNew := hasChanged || row.sinceRefreshMs != nil && *row.sinceRefreshMs < limits.RefusedNew.Milliseconds()
		if isRefreshable && !isNew {
			return judgedRefresh, false
		}
		return judgedRefused, false
	}
	isGood = left > 0
	ahead := half
	if !isItsOwn {
		ahead = min(half, float64(limits.ValidFor.Milliseconds()))
	}
	least := min(half, float64(cmp.Or(u.validFor, limits.ValidLeast).Milliseconds()))
	switch {
	case hasChanged: // One refresh is enough, however short a time the provider makes its tokens valid.
		return judgedUse, isGood
	case isGood && left >= least && isRefreshable && left < ahead:
		return judgedUseAndRefresh, true
	case isGood && (left >= least || !isRefreshable):
		return judgedUse, true
	case !isRefreshable:
		return judgedExpired, false
	}
	return judgedRefresh, isGood
}

// try reads the row, and refreshes the token where it has to. False: it is to be read again.
func (u *using) try(ctx context.Context) (none urlmode.AccessToken, isDone bool, err error) {
	v := u.vault
	row, err := v.find(ctx, u.asked)
	if err != nil {
		return none, false, err
	}
	at := place{u.asked.subject, u.asked.provider, row.Account.Account}
	if row.State == urlmode.AccountReconnect {
		return none, false, reconnect(at, row.Reason)
	}
	opened, err := openTokens(v.keys, at, row.sealed)
	if err != nil {
		return none, false, err
	}
	// Without a name it is the account that was connected last: that may be another one by now.
	if u.account != at.account {
		u.account, u.first = at.account, row.version
	}
	given := refreshable{place: at, version: row.version, tokens: opened, scopes: row.Scopes}
	is, isGood := u.judge(row, opened)
	switch is {
	case judgedUseAndRefresh:
		v.refresher.refreshAhead(given)
		return toToken(row, opened), true, nil
	case judgedUse:
		return toToken(row, opened), true, nil
	case judgedRefused:
		return none, false, reconnect(at, "refused")
	case judgedExpired:
		return none, false, reconnect(at, "expired")
	}
	result, err := v.refresher.refresh(ctx, given)
	if err != nil {
		return none, false, err
	}
	isLeased := result.outcome == "leased"
	isStuck := isLeased && time.Now().After(u.until)
	isOver := isStuck || result.outcome == "failed"
	switch {
	case isGood && (isOver || isLeased && u.validFor == 0):
		return toToken(row, opened), true, nil
	case isStuck:
		return none, false, unavailable(at, "timeout")
	case isOver:
		return none, false, unavailable(at, result.detail)
	case isLeased:
		return none, false, timing.Sleep(ctx, min(result.wait, timing.Jittered(limits.AccountLook)))
	}
	return none, false, nil
}

func reconnect(at place, reason string) error {
	return &urlmode.AccountError{Code: urlmode.ErrAccountReconnect, Provider: at.provider, Account: at.account, Reason: reason}
}

func unavailable(at place, why string) error {
	return &urlmode.AccountError{Code: urlmode.ErrAccountUnavailable, Provider: at.provider, Account: at.account, Reason: why}
}

func toToken(row storedAccount, opened tokens) urlmode.AccessToken {
	token, _ := opened["access_token"].(string)
	kind, isSaid := opened["token_type"].(string)
	if !isSaid {
		kind = "bearer"
	}
	return urlmode.AccessToken{Token: token, Type: kind, Account: row.Account.Account, Scopes: row.Scopes, Requested: row.Requested, ExpiresAt: row.ExpiresAt}
}
