// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"math"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

// AccessToken is a token that is valid for a while. It is refreshed if it is not, by one instance at a time. The end of the context
// ends the call, and not the refresh.
//
// Errors: an *urlmode.AccountError of ErrAccountNotConnected, ErrAccountReconnect (the provider refuses to refresh it: only the user
// can help), ErrAccountUnavailable (it has expired, and cannot be refreshed just now) and ErrAccountSeal; ErrArgument, ErrClosed.
func (v *Vault) AccessToken(ctx context.Context, r urlmode.AccountRequest) (urlmode.AccessToken, error) {
	asked, err := v.checkPlace(r.Subject, r.Provider, r.Account)
	if err != nil {
		return urlmode.AccessToken{}, err
	}
	if r.ValidFor == 0 {
		r.ValidFor = limits.ValidFor
	}
	if r.ValidFor < 0 || r.ValidFor > limits.ValidForMax {
		return urlmode.AccessToken{}, refuse("ValidFor must be from 0 to %s", limits.ValidForMax)
	}
	if _, err := v.optionsOf(r.Provider, nil); err != nil {
		return urlmode.AccessToken{}, err
	}
	use := &using{vault: v, asked: asked, validFor: r.ValidFor, until: time.Now().Add(limits.RefreshLease)}
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
	vault    *Vault
	asked    place
	validFor time.Duration
	until    time.Time
	// first is the version that this call has read first of this account.
	account string
	first   int64
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
	left, half := math.Inf(1), 0.0
	if row.leftMs != nil {
		left = float64(*row.leftMs)
	}
	if row.lifetimeMs != nil {
		half = float64(*row.lifetimeMs) / 2
	}
	refreshToken, isRefreshable := opened["refresh_token"].(string)
	// A long-lived token is renewed with itself, while it is valid.
	isItsOwn := isRefreshable && refreshToken == opened["access_token"]
	least := half
	if !isItsOwn {
		least = min(float64(u.validFor.Milliseconds()), half)
	}
	// One refresh is enough, however short a time the provider makes its tokens valid.
	if row.version != u.first || left >= least && left > 0 {
		return toToken(row, opened), true, nil
	}
	if !isRefreshable || isItsOwn && left <= 0 {
		if left > 0 {
			return toToken(row, opened), true, nil
		}
		return none, false, reconnect(at, "expired")
	}
	result, err := v.refresher.refresh(ctx, refreshable{place: at, version: row.version, tokens: opened, scopes: row.Scopes})
	if err != nil {
		return none, false, err
	}
	isStuck := result.outcome == "leased" && time.Now().After(u.until)
	switch {
	case (result.outcome == "failed" || isStuck) && left > 0:
		return toToken(row, opened), true, nil
	case isStuck:
		return none, false, unavailable(at, "timeout")
	case result.outcome == "failed":
		return none, false, unavailable(at, result.detail)
	case result.outcome == "leased":
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
