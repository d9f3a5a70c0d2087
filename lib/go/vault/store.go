// SPDX-License-Identifier: MIT

package vault

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
	"urlmode.example/urlmode/internal/timing"
)

// changedState is the SQLSTATE of a store whose refresh token was replaced meanwhile.
const changedState = "40001"

// Store stores tokens that come from elsewhere, over what there is of the same account, and returns the account: default if
// Connected.Account is empty. An ErrNotFound: the user was forgotten since its elicitation was created.
func (v *Vault) Store(ctx context.Context, subject, provider string, connected Connected) (account string, err error) {
	at, err := v.checkPlace(subject, provider, connected.Account)
	if err != nil {
		return "", err
	}
	id := ""
	if connected.ElicitationID != "" {
		if id, err = v.internals.CheckID(connected.ElicitationID); err != nil {
			return "", err
		}
	}
	at.account = cmp.Or(at.account, onlyAccount)
	if connected.Scopes == nil {
		connected.Scopes = scopesOf(connected.Tokens)
	}
	if connected.Requested == nil {
		connected.Requested = connected.Scopes
	}
	until := time.Now().Add(limits.Commit)
	for {
		made, kept, err := v.sealConnected(ctx, at, connected)
		if err != nil {
			return "", err
		}
		isStored, err := v.database.store(ctx, at, made, connected.Requested, id, kept)
		if isChanged(err) && time.Now().Before(until) && timing.Sleep(ctx, timing.Jittered(limits.CommitRetryMin)) == nil {
			continue
		}
		if err == nil && !isStored {
			err = v.internals.NotFound(id)
		}
		if err == nil {
			v.report(Event{Name: EventConnected, Scopes: connected.Scopes}, at)
		}
		return at.account, err
	}
}

// isChanged reports whether the account has changed since it was read.
func isChanged(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == changedState
}

// sealConnected also returns the version of the account whose refresh token is stored again. Some providers give one at the first
// consent only, which can be used again and again.
func (v *Vault) sealConnected(ctx context.Context, at place, connected Connected) (made stored, kept *int64, err error) {
	all := tokens{}
	maps.Copy(all, connected.Tokens)
	if token, _ := all["access_token"].(string); token == "" {
		return made, nil, refuse(texts.AccessTokenRequired)
	}
	for _, name := range []string{"access_token", "refresh_token"} {
		if token, _ := all[name].(string); unusable.MatchString(token) {
			return made, nil, refuse("Tokens: %s must have no control characters", name)
		}
	}
	if all["refresh_token"] == nil {
		var refreshToken string
		if kept, refreshToken, err = v.readKept(ctx, at, connected.Scopes); err != nil {
			return made, nil, err
		}
		if kept != nil {
			all["refresh_token"] = refreshToken
		}
	}
	if len(connected.Variables) > 0 {
		all[variablesMember] = connected.Variables
	}
	sealed, err := sealTokens(v.keys, at, all, nil)
	return stored{connected.Scopes, sealed, lifetimeOf(connected.Tokens)}, kept, err
}

// readKept reads the refresh token that the account keeps. One for fewer scopes than these could not replace the new access token.
func (v *Vault) readKept(ctx context.Context, at place, scopes []string) (*int64, string, error) {
	rows, err := v.database.read(ctx, at)
	if err != nil || len(rows) == 0 || rows[0].State != urlmode.AccountConnected {
		return nil, "", err
	}
	for _, each := range scopes {
		if !slices.Contains(rows[0].Scopes, each) {
			return nil, "", nil
		}
	}
	opened, err := openTokens(v.keys, at, rows[0].sealed)
	refreshToken, isText := opened["refresh_token"].(string)
	// A long-lived token is renewed with itself.
	if err != nil || !isText || refreshToken == opened["access_token"] {
		return nil, "", nil
	}
	return &rows[0].version, refreshToken, nil
}

// keep stores what the code of an elicitation was exchanged for, and returns the account. Nobody can exchange it again: it is tried
// for some time, and what is not stored is revoked.
func (v *Vault) keep(ctx context.Context, connected Connected, id string, binding []byte, at place) (string, error) {
	since := time.Now()
	at.account = cmp.Or(connected.Account, onlyAccount)
	err := v.internals.CheckText("Account", at.account, 1, limits.AccountMax)
	isStored := false
	if err == nil {
		isStored, err = retried(ctx, limits.Commit, func() (bool, error) {
			made, kept, err := v.sealConnected(ctx, at, connected)
			if err != nil {
				return false, err
			}
			return v.database.storeExchanged(ctx, id, binding, at.account, made, connected.Requested, kept, since)
		})
	}
	if err == nil && isStored {
		v.report(Event{Name: EventConnected, Scopes: connected.Scopes}, at)
		return at.account, nil
	}
	if err == nil {
		err = v.internals.NotFound(id)
	} else if !isRefused(err) {
		return "", err // Nobody knows whether they are stored.
	}
	v.report(Event{Name: EventNotStored, Detail: codeOf(err), Revoked: v.revokeUnstored(ctx, at, connected)}, at)
	return "", err
}

func (v *Vault) revokeUnstored(ctx context.Context, at place, connected Connected) bool {
	if v.isInUse(ctx, at) {
		return false
	}
	all := tokens{}
	maps.Copy(all, connected.Tokens)
	members := map[string]any{}
	for name, value := range connected.Variables {
		members[name] = value
	}
	all[variablesMember] = members
	return v.revoke(ctx, at.provider, all) == ""
}

// isInUse reports whether the account has tokens, which some providers would revoke with others of the same account. Without an
// account it reports whether any has. It returns true also if nobody knows.
func (v *Vault) isInUse(ctx context.Context, at place) bool {
	rows, err := v.database.read(ctx, at)
	return err != nil || slices.ContainsFunc(rows, func(row storedAccount) bool { return row.State == urlmode.AccountConnected })
}
