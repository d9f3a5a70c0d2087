// SPDX-License-Identifier: MIT

package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
	"urlmode.example/urlmode/internal/timing"
)

var pkceForm = regexp.MustCompile(`(?i)code.?challenge|pkce`)

// Connection is an account that is being connected: elicit its URL, and Wait.
type Connection struct {
	urlmode.Elicitation
	vault   *Vault
	request urlmode.ConnectRequest
	begun   *connecting
}

// Connect asks a user to connect an account, for a server without an adapter. In a tool, use UseAccount of the adapters.
//
// Errors: ErrArgument, ErrProviderUnavailable, and those of [urlmode.Instance.Create].
func (v *Vault) Connect(ctx context.Context, r urlmode.ConnectRequest) (*Connection, error) {
	r, err := v.WithDefaults(r)
	if err != nil {
		return nil, err
	}
	begun, err := v.connecting(ctx, r)
	if err != nil {
		return nil, err
	}
	made, err := v.instance.Create(ctx, begun.Request())
	return &Connection{made, v, r, begun}, err
}

// Wait waits until the user has come back, exchanges the code, proves whose account it is, and stores its tokens, sealed. If another
// call does that, it waits for its end, and looks at what was connected. The id of the account: empty if another call has connected
// it, and none was asked for.
//
// Errors: a *urlmode.NotConnectedError, and those of [urlmode.Instance.Wait].
func (c *Connection) Wait(ctx context.Context) (account string, err error) {
	id, m := c.ElicitationID, c.vault.instance
	for attempt := 1; attempt <= limits.ClaimAttempts; attempt++ {
		outcome, err := m.Wait(ctx, id, c.request.Owner)
		if err != nil {
			return "", err
		}
		if outcome.Action != urlmode.Accept {
			_, err := m.Claim(ctx, id, c.request.Owner, urlmode.ClaimOptions{Action: outcome.Action})
			return "", cmp.Or(err, error(&urlmode.NotConnectedError{Action: outcome.Action, Reason: outcome.Reason, Detail: c.vault.AuthorizationDetail(outcome)}))
		}
		// Close waits for what has begun: a code that was claimed is exchanged.
		end, err := c.vault.internals.Start()
		if err != nil {
			return "", err
		}
		claim, err := m.BeginClaim(ctx, id, c.request.Owner, urlmode.LeaseOptions{})
		if err != nil || claim.State != urlmode.ClaimBegun {
			end()
		}
		switch {
		case errors.Is(err, urlmode.ErrOpen):
			continue
		case err != nil:
			return "", err
		}
		switch claim.State {
		case urlmode.ClaimBegun:
			account, err := c.begun.Exchange(ctx, outcome, c.ReturnURL)
			end()
			if err == nil && c.request.Account != "" && account != c.request.Account {
				err = notConnected("other_account", "")
			}
			return account, err
		case urlmode.ClaimTaken:
			reason, isKnown, err := c.begun.Await(ctx, id)
			isGivenBack := errors.Is(err, urlmode.ErrOpen)
			if isGivenBack && attempt < limits.ClaimAttempts {
				continue
			}
			if isGivenBack || err == nil && (!isKnown || reason != "") {
				err = notConnected(cmp.Or(reason, "claimed"), "")
			}
			if err == nil {
				err = c.checkShared(ctx)
			}
			if err != nil {
				return "", err
			}
			return c.request.Account, nil
		}
	}
	return "", urlmode.Failure(internals.Permit{}, urlmode.ErrOpen, fmt.Sprintf("the outcome has changed %d times", limits.ClaimAttempts), nil)
}

// checkShared looks at what another call has connected: it may be another account than this call needs, or less than it requires.
func (c *Connection) checkShared(ctx context.Context) error {
	r := c.request
	accounts, err := c.vault.Accounts(ctx, r.Owner.Subject, r.Provider)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(accounts, func(each urlmode.Account) bool { return r.Account == "" || each.Account == r.Account })
	if at < 0 || accounts[at].State != urlmode.AccountConnected {
		if r.Account != "" {
			return notConnected("other_account", "")
		}
		return notConnected("claimed", "") // It was disconnected since.
	}
	found := accounts[at]
	isNotGranted := func(scope string) bool { return !slices.Contains(found.Scopes, scope) }
	isNew := func(scope string) bool { return isNotGranted(scope) && !slices.Contains(found.Requested, scope) }
	switch {
	case !slices.ContainsFunc(r.RequiredScopes, isNotGranted) && !slices.ContainsFunc(r.Scopes, isNew):
		return nil
	case at > 0:
		return notConnected("other_account", "")
	}
	missing := slices.DeleteFunc(slices.Clone(r.RequiredScopes), func(scope string) bool { return !isNotGranted(scope) })
	return notConnected("scope_missing", strings.Join(missing, " "))
}

// AuthorizationDetail is what the provider has said instead of a code (RFC 6749 section 4.1.2.1). Its words come by the browser, so
// that only codes are repeated. It is for an adapter.
func (v *Vault) AuthorizationDetail(outcome urlmode.Outcome) string {
	code, _ := outcome.Result["error"].(string)
	if outcome.Reason != "provider_error" || !codeForm.MatchString(code) {
		return ""
	}
	if words, _ := outcome.Result["error_description"].(string); pkceForm.MatchString(words) {
		return code + ", about PKCE"
	}
	return code
}

// WithDefaults fills in what the vault has, for an adapter.
func (v *Vault) WithDefaults(r urlmode.ConnectRequest) (urlmode.ConnectRequest, error) {
	o, err := v.optionsOf(r.Provider, nil)
	if err != nil {
		return r, err
	}
	if r.Scopes == nil {
		r.Scopes = o.scopes
	}
	if r.RequiredScopes == nil {
		r.RequiredScopes = o.required
	}
	r.Variables, r.Parameters = merged(o.variables, r.Variables), merged(o.parameters, r.Parameters)
	return r, nil
}

// Connecting begins to connect an account, for an adapter. WithDefaults has filled in the request.
//
// Errors: ErrArgument, ErrProviderUnavailable.
func (v *Vault) Connecting(ctx context.Context, r urlmode.ConnectRequest) (urlmode.Connecting, error) {
	return v.connecting(ctx, r)
}

type connecting struct {
	vault   *Vault
	request urlmode.ConnectRequest
	at      *provider
}

func (v *Vault) connecting(ctx context.Context, r urlmode.ConnectRequest) (*connecting, error) {
	if err := v.internals.CheckContext(ctx); err != nil {
		return nil, err
	}
	o, err := v.optionsOf(r.Provider, nil)
	if err != nil {
		return nil, err
	}
	if _, err := v.checkPlace(r.Owner.Subject, r.Provider, r.Account); err != nil {
		return nil, err
	}
	for _, err := range []error{checkScopes("Scopes", r.Scopes), checkScopes("RequiredScopes", r.RequiredScopes)} {
		if err != nil {
			return nil, err
		}
	}
	// A scope that is required is asked for.
	o.scopes = slices.Clone(r.Scopes)
	for _, each := range r.RequiredScopes {
		if !slices.Contains(o.scopes, each) {
			o.scopes = append(o.scopes, each)
		}
	}
	o.required, o.variables, o.parameters = r.RequiredScopes, merged(r.Variables, nil), merged(r.Parameters, nil)
	at, err := v.open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &connecting{v, r, at}, nil
}

// Request is that of Create. A call that asks for other scopes, or as another client, is about something else.
func (c *connecting) Request() urlmode.Request {
	r, options, about := c.request, c.request.RequestOptions, map[string]any{}
	maps.Copy(about, r.About)
	if r.Account != "" {
		about["account"] = r.Account
	}
	if c.at.described != "" {
		about["description"] = c.at.described
	}
	about["client"], about["variables"], about["scopes"], about["parameters"] = c.at.client.ID, c.at.variables, orEmpty(c.at.scopes), c.at.parameters
	options.About = about
	return urlmode.Request{
		Provider: r.Provider, Kind: urlmode.OAuth, Owner: r.Owner, PKCE: c.at.usesPKCE(), RequestOptions: options, CannotRecheck: true,
		Target: func(_ context.Context, urls urlmode.TargetArguments) (urlmode.Target, error) {
			return urlmode.Target{URL: c.at.authorizationURL(urls.ReturnURL)}, nil
		},
	}
}

func (c *connecting) Exchange(ctx context.Context, outcome urlmode.Outcome, returnURL string) (account string, err error) {
	if err := c.vault.internals.CheckContext(ctx); err != nil {
		return "", err
	}
	v, at := c.vault, place{c.vault.owner(c.request.Owner.Subject), c.request.Provider, ""}
	id, err := v.internals.CheckID(outcome.ElicitationID)
	if err != nil {
		return "", err
	}
	binding := v.internals.Binding(c.request.Owner.Subject, c.request.Owner.Session)
	end, err := v.internals.Start()
	if err != nil {
		c.fail(context.WithoutCancel(ctx), id, binding, err)
		return "", err
	}
	defer end()
	return inBackground(ctx, v, func(ctx context.Context) (string, error) {
		connected, err := c.at.connect(ctx, outcome, returnURL, func() bool { return v.isInUse(ctx, at) })
		account := ""
		if err == nil {
			account, err = v.keep(ctx, connected, id, binding, at)
		}
		if err != nil {
			c.fail(ctx, id, binding, err)
		}
		return account, err
	})
}

// fail tells the page that no account is connected, and why. If that is not stored, the page stays neutral.
func (c *connecting) fail(ctx context.Context, id string, binding []byte, why error) {
	reason := exchangeFailed
	var not *urlmode.NotConnectedError
	if errors.As(why, &not) {
		reason = not.Reason
		c.vault.internals.Warn("URLMODE_ACCOUNT", fmt.Sprintf(texts.NoAccount, c.request.Provider, reason, not.Detail, id))
	}
	one(ctx, c.vault.database, sqlEndExchange, endExchangeValues{id: id, binding: binding, reason: reason})
}

func (c *connecting) Await(ctx context.Context, elicitationID string) (reason string, isKnown bool, err error) {
	binding := c.vault.internals.Binding(c.request.Owner.Subject, c.request.Owner.Session)
	for until := time.Now().Add(limits.Exchange); ; {
		exchange, err := one(ctx, c.vault.database, sqlReadExchange, readExchangeValues{id: elicitationID, binding: binding})
		switch {
		case err != nil:
			return "", false, err
		case exchange == nil:
			return "", false, urlmode.Failure(internals.Permit{}, urlmode.ErrOpen, "no call exchanges the code", nil)
		case *exchange != "exchanging":
			return *exchange, true, nil
		case time.Now().After(until):
			return "", false, nil
		}
		if err := timing.Sleep(ctx, timing.Jittered(limits.AccountLook)); err != nil {
			return "", false, err
		}
		if err := c.vault.internals.CheckOpen(); err != nil {
			return "", false, err
		}
	}
}
