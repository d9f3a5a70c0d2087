// SPDX-License-Identifier: MIT

// Package vault keeps the accounts that users have connected, in the database of urlmode: their tokens are sealed, and refreshed
// when they are needed, by one instance at a time across all, in each language. lib/node/VAULT.md describes what it does. In a tool
// of an MCP server, UseAccount of the adapters uses it. It is a module of its own: id tokens need go-jose.
package vault

import (
	"context"
	"errors"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

const (
	// onlyAccount is that of a provider that does not say whose it is.
	onlyAccount = "default"
)

// Vault has the accounts of an Instance. It is safe for use by any number of goroutines, and one in each process is enough.
type Vault struct {
	instance  *urlmode.Instance
	internals internals.Instance
	keys      internals.Keys
	database  database
	requester *requester
	discovery *discovery
	refresher *refresher
	providers map[string]options
	onEvent   func(Event)
}

// New checks the configuration, with the descriptions of the providers and the keys. The Close of the instance waits for what the
// vault has begun; nothing else needs to be closed.
//
// Errors: ErrArgument, ErrKeysFile.
func New(instance *urlmode.Instance, config Config) (*Vault, error) {
	descriptions, err := readDescriptions()
	if err != nil {
		return nil, err
	}
	return newVault(instance, config, descriptions)
}

func newVault(instance *urlmode.Instance, config Config, descriptions map[string]description) (*Vault, error) {
	if instance == nil {
		return nil, refuse("the instance is required")
	}
	v := &Vault{instance: instance, internals: instance.Internals(internals.Permit{}), requester: newRequester(limits.AccountRequest, config.HTTPClient), providers: map[string]options{}, onEvent: config.OnEvent}
	v.database = database{v.internals}
	v.discovery = &discovery{requester: v.requester, known: map[string]known{}}
	v.refresher = &refresher{vault: v, running: map[place]*refreshing{}}
	for name, given := range config.Providers {
		made, err := v.checkProvider(name, given, descriptions)
		if err != nil {
			return nil, refuse("Providers[%q]: %s", name, err)
		}
		v.providers[name] = made
	}
	var err error
	v.keys, err = v.internals.OpenKeys(config.KeysFile, config.Keys)
	return v, err
}

func (v *Vault) checkProvider(name string, given Provider, descriptions map[string]description) (made options, err error) {
	described := given.Description
	if described == "" {
		described = name
	}
	found, is := descriptions[described]
	if !is {
		return made, refuse("there is no description %q of how an account is connected in lib/providers", described)
	}
	if given.ReuseWithin != NeverReused && (given.ReuseWithin < 0 || given.ReuseWithin > limits.ReuseMax) {
		return made, refuse("ReuseWithin must be up to %s, or NeverReused", limits.ReuseMax)
	}
	made = options{provider: name, reuseWithin: given.ReuseWithin, described: given.Description, description: found, scopes: given.Scopes, required: given.RequiredScopes,
		variables: merged(given.Variables, nil), parameters: merged(given.Parameters, nil)}
	if made.client, err = readClient(given.Client, found); err != nil {
		return made, err
	}
	for _, err := range []error{v.internals.CheckProvider(name), checkScopes("Scopes", given.Scopes),
		checkScopes("RequiredScopes", given.RequiredScopes), checkParameters(given.Parameters)} {
		if err != nil {
			return made, err
		}
	}
	return made, found.checkGiven(given.Variables)
}

// optionsOf returns the options of a provider for tokens that were stored, with the variables of their account.
func (v *Vault) optionsOf(provider string, of tokens) (options, error) {
	made, is := v.providers[provider]
	if !is {
		return made, refuse("Providers has no %s", provider)
	}
	kept := map[string]string{}
	members, _ := of[variablesMember].(map[string]any)
	for name, value := range members {
		if text, isText := value.(string); isText {
			kept[name] = text
		}
	}
	return made.with(kept), nil
}

func (v *Vault) report(event Event, at place) {
	if v.onEvent != nil {
		_, event.Subject = whoseAccount(at.subject)
		event.Provider, event.Account = at.provider, at.account
		v.onEvent(event)
	}
}

func (v *Vault) checkPlace(subject, provider, account string) (place, error) {
	for _, err := range []error{v.internals.CheckOpen(), v.internals.CheckText("Subject", subject, 1, limits.SubjectMax), v.internals.CheckProvider(provider),
		v.internals.CheckText("Account", account, 0, limits.AccountMax)} {
		if err != nil {
			return place{}, err
		}
	}
	return place{v.owner(subject), provider, account}, nil
}

// owner is whose an account of this subject is.
func (v *Vault) owner(subject string) string { return accountOwner(v.internals.Tenant(), subject) }

func (v *Vault) find(ctx context.Context, at place) (storedAccount, error) {
	rows, err := v.database.read(ctx, at)
	if err == nil && len(rows) == 0 {
		err = &urlmode.AccountError{Code: urlmode.ErrAccountNotConnected, Provider: at.provider, Account: at.account}
	}
	if err != nil {
		return storedAccount{}, err
	}
	return rows[0], nil
}

// Accounts lists those of a user, without tokens, the one that was connected last first. An empty provider: of all.
func (v *Vault) Accounts(ctx context.Context, subject, provider string) ([]urlmode.Account, error) {
	checked := provider
	if checked == "" {
		checked = "any"
	}
	if _, err := v.checkPlace(subject, checked, ""); err != nil {
		return nil, err
	}
	rows, err := v.database.read(ctx, place{subject: v.owner(subject), provider: provider})
	listed := make([]urlmode.Account, len(rows))
	for i, row := range rows {
		listed[i] = row.Account
	}
	return listed, err
}

// Disconnect revokes the tokens at the provider, if it has an endpoint for it (RFC 7009), and deletes them in any case. It waits for
// a refresh that is under way. The end of the context ends the call, and not what has begun. Without an account it is the one
// that was connected last. Errors: ErrAccountNotConnected.
func (v *Vault) Disconnect(ctx context.Context, subject, provider, account string) (Disconnected, error) {
	asked, err := v.checkPlace(subject, provider, account)
	if err != nil {
		return Disconnected{}, err
	}
	row, err := v.find(ctx, asked)
	if err != nil {
		return Disconnected{}, err
	}
	return inBackground(ctx, v, func(ctx context.Context) (Disconnected, error) {
		return v.disconnect(ctx, place{asked.subject, provider, row.Account.Account})
	})
}

// inBackground does work in a goroutine of its own. The end of the context ends the call, and not the work, for which Close waits.
func inBackground[T any](ctx context.Context, v *Vault, work func(context.Context) (T, error)) (T, error) {
	var made T
	end, err := v.internals.Start()
	if err != nil {
		return made, err
	}
	type ending struct {
		made T
		err  error
	}
	ended := make(chan ending, 1)
	go func() {
		defer end()
		made, err := work(context.WithoutCancel(ctx))
		ended <- ending{made, err}
	}()
	select {
	case got := <-ended:
		return got.made, got.err
	case <-ctx.Done():
		return made, ctx.Err()
	}
}

func (v *Vault) disconnect(ctx context.Context, at place) (Disconnected, error) {
	detail, hasBegun := "", false
	var first *int64
	for {
		begun, err := v.database.beginDisconnect(ctx, at, first)
		if err != nil {
			return Disconnected{}, err
		}
		if first == nil {
			first = begun.firstVersion
		}
		if begun.outcome == "leased" {
			if !hasBegun {
				if err := v.internals.CheckOpen(); err != nil {
					return Disconnected{}, err
				}
			}
			timing.Sleep(ctx, min(time.Duration(begun.waitMs)*time.Millisecond, timing.Jittered(limits.AccountLook)))
			continue
		}
		if begun.outcome == "gone" {
			if !hasBegun {
				return Disconnected{}, &urlmode.AccountError{Code: urlmode.ErrAccountNotConnected, Provider: at.provider, Account: at.account}
			}
			break
		}
		hasBegun = true
		// Tokens that were stored meanwhile are revoked as well.
		why := string(urlmode.ErrAccountSeal)
		if opened, err := openTokens(v.keys, at, begun.tokens); err == nil {
			why = v.revoke(ctx, at.provider, opened)
		}
		if why != "" {
			detail = why
		}
		isDeleted, err := retried(ctx, limits.RefreshLease, func() (bool, error) {
			return one(ctx, v.database, sqlDeleteAccount, deleteAccountValues{place: at, version: begun.version})
		})
		if err != nil {
			return Disconnected{}, err
		}
		if isDeleted {
			break
		}
	}
	v.report(Event{Name: EventDisconnected, Revoked: detail == ""}, at)
	return Disconnected{detail == "", detail}, nil
}

// revoke says why they could not be revoked.
func (v *Vault) revoke(ctx context.Context, provider string, of tokens) string {
	options, err := v.optionsOf(provider, of)
	if err != nil {
		return "not_configured" // Providers is not what the account was connected with.
	}
	from, err := v.open(ctx, options)
	switch {
	case errors.Is(err, urlmode.ErrArgument):
		return "not_configured"
	case err != nil:
		return codeOf(err)
	}
	return from.revokeAll(ctx, of)
}

// ForgetSubject deletes all that is stored of a user, but references and amounts of payments. It revokes nothing: disconnect the
// accounts first. An *urlmode.UnclaimedPaymentsError has the payments that must be claimed or refunded before; then nothing was deleted.
func (v *Vault) ForgetSubject(ctx context.Context, subject string) error {
	if _, err := v.checkPlace(subject, "any", ""); err != nil {
		return err
	}
	unclaimed, err := many(ctx, v.database, sqlForgetOwner, forgetOwnerValues{tenant: v.internals.Tenant(), subject: subject})
	if err != nil || len(unclaimed) == 0 {
		return err
	}
	payments := make([]urlmode.UnclaimedReference, len(unclaimed))
	for i, u := range unclaimed {
		payments[i] = urlmode.UnclaimedReference{ElicitationID: u.unclaimed, Provider: u.provider, Reference: u.reference, Amount: u.amount,
			Currency: u.currency}
	}
	return &urlmode.UnclaimedPaymentsError{Payments: payments}
}

// KeysInUse are the keys that the vault still needs. Another one can be removed from the keys file.
func (v *Vault) KeysInUse(ctx context.Context) ([]KeyInUse, error) {
	found, err := many(ctx, v.database, sqlVaultKeysOf, vaultKeysOfValues{tenant: v.internals.Tenant()})
	all := make([]KeyInUse, len(found))
	for i, k := range found {
		all[i] = KeyInUse{KID: k.kid, Accounts: k.accounts}
	}
	return all, err
}

// Reseal seals everything with the first key of the file, in batches, while all goes on. An account whose tokens do not open stays
// as it is (EventUnopened).
func (v *Vault) Reseal(ctx context.Context) (done Resealed, err error) {
	for last, with := (place{}), v.keys.Minting(); ; {
		rows, err := many(ctx, v.database, sqlListSealed, listSealedValues{minting: int(with), afterSubject: last.subject,
			afterProvider: last.provider, afterAccount: last.account})
		if err != nil || len(rows) == 0 {
			return done, err
		}
		for _, each := range rows {
			last = place{each.subject, each.provider, each.account}
			if tenant, _ := whoseAccount(each.subject); tenant != v.internals.Tenant() {
				continue
			}
			text, err := openText(v.keys, last, each.tokens)
			var made []byte
			if err == nil {
				made, err = sealText(v.keys, last, text, nil)
			}
			var about *urlmode.AccountError
			if errors.As(err, &about) {
				done.Unopened++
				v.report(Event{Name: EventUnopened, Reason: about.Reason}, last)
				continue
			}
			isSealed, err := one(ctx, v.database, sqlResealAccount, resealAccountValues{place: last, old: each.tokens, tokens: made})
			if err != nil {
				return done, err
			}
			if isSealed {
				done.Sealed++
			}
		}
	}
}
