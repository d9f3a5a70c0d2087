// SPDX-License-Identifier: MIT

package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

// Accounts is a vault: a *vault.Vault of urlmode.example/urlmode/vault.
type Accounts interface {
	AccessToken(context.Context, urlmode.AccountRequest) (urlmode.AccessToken, error)
	Accounts(ctx context.Context, subject, provider string) ([]urlmode.Account, error)
	// WithDefaults fills in what the vault has.
	WithDefaults(urlmode.ConnectRequest) (urlmode.ConnectRequest, error)
	Connecting(context.Context, urlmode.ConnectRequest) (urlmode.Connecting, error)
	// AuthorizationDetail is what the provider has said instead of a code.
	AuthorizationDetail(urlmode.Outcome) string
}

// otherAccount is the reason if the user has connected another account than the one that is needed.
const otherAccount = "other_account"

// errConnectedMeanwhile means that another call has connected the account, so that the user need not be asked.
var errConnectedMeanwhile = errors.New(texts.ConnectedMeanwhile)

// errGivenBack means that the call that had claimed an account has given it back.
var errGivenBack = errors.New("the account was given back")

// AccountToolRequest is the account that a tool uses.
type AccountToolRequest struct {
	// Vault is required.
	Vault Accounts
	// ConnectRequest says whose account it is, and what the user is asked if there is none. ResumeKey, ClientID and Traceparent
	// are as in a ToolRequest. A scope of Scopes is missing if it was neither granted nor asked for, because some providers do not say
	// what they have granted; one of RequiredScopes if it was not granted.
	urlmode.ConnectRequest
	// Message tells the user and the model what is asked for, and why. It is required.
	Message string
	// ValidFor is how long the token must be valid. See [urlmode.AccountRequest].
	ValidFor time.Duration
	// Round is how long a call waits: 45 seconds by default.
	Round time.Duration
	// ByError means that a client of 2025-11-25 gets the error -32042, as with Require.
	ByError bool

	refused string // the last token of which the body has said it
}

// AccountBody uses an account, and returns the result of the tool as JSON. Its context is that of the call. An error that is
// [urlmode.ErrTokenRefused] says that the provider's API has refused the token, as with status 401: the body runs once more, with a
// refreshed one. If that is refused as well, the user is asked to connect the account again.
type AccountBody func(context.Context, urlmode.AccessToken) (json.RawMessage, error)

// UseAccount runs the body with a token of the user's account. It asks the user only where that is necessary: to connect the account, to
// connect it again, or for scopes that are missing, beside those that there are. Waiting, resuming and errors are as with Elicit.
//
// Errors: also an [urlmode.AccountError] of ErrAccountUnavailable, ErrAccountSeal or ErrProviderUnavailable.
func (a *Adapter) UseAccount(ctx context.Context, call Call, request AccountToolRequest, body AccountBody) (End, error) {
	if err := a.instance.Internals(internals.Permit{}).CheckContext(ctx); err != nil {
		return End{}, err
	}
	if request.Vault == nil {
		return End{}, refuse("Vault is required")
	}
	var err error
	if request.ConnectRequest, err = request.Vault.WithDefaults(request.ConnectRequest); err != nil {
		return End{}, err
	}
	token, known, err := request.find(ctx)
	if err != nil {
		return End{}, err
	}
	if token != nil && !request.lacks(*token) {
		if made, err := request.run(ctx, *token, body); !errors.Is(err, urlmode.ErrTokenRefused) {
			return checked(call, made, err)
		}
	}
	end, used, err := a.connect(ctx, call, request, known)
	if err != nil || used == nil {
		return end, err
	}
	made, err := request.run(ctx, *used, body)
	if errors.Is(err, urlmode.ErrTokenRefused) {
		err = &urlmode.AccountError{Code: urlmode.ErrAccountReconnect, Provider: request.Provider, Account: used.Account, Reason: "refused"}
	}
	return checked(call, made, err)
}

func checked(call Call, made json.RawMessage, err error) (End, error) {
	if err == nil {
		err = call.Output.Check(made)
	}
	return End{Result: made}, err
}

// run runs the body; once more, with a refreshed token, if it says that the provider's API has refused the first one. The error
// ErrTokenRefused: the token cannot be replaced without the user.
func (r *AccountToolRequest) run(ctx context.Context, token urlmode.AccessToken, body AccountBody) (json.RawMessage, error) {
	made, err := body(ctx, token)
	if !errors.Is(err, urlmode.ErrTokenRefused) {
		return made, err
	}
	r.refused = token.Token
	fresh, err := r.token(ctx, token.Account)
	switch {
	case errors.Is(err, urlmode.ErrAccountReconnect):
		return nil, urlmode.ErrTokenRefused
	case err != nil:
		return nil, err
	}
	if made, err = body(ctx, fresh); errors.Is(err, urlmode.ErrTokenRefused) {
		r.refused = fresh.Token
	}
	return made, err
}

// find returns a token, or nil; and the scopes that the account was asked for before.
func (r AccountToolRequest) find(ctx context.Context) (*urlmode.AccessToken, []string, error) {
	token, err := r.token(ctx, r.Account)
	var about *urlmode.AccountError
	switch {
	case err == nil:
		return &token, known(token.Requested, token.Scopes), nil
	case errors.Is(err, urlmode.ErrAccountNotConnected):
		return nil, nil, nil
	case !errors.Is(err, urlmode.ErrAccountReconnect) || !errors.As(err, &about):
		return nil, nil, err
	}
	accounts, err := r.Vault.Accounts(ctx, r.Owner.Subject, r.Provider)
	for _, each := range accounts {
		if each.Account == about.Account {
			return nil, known(each.Requested, each.Scopes), err
		}
	}
	return nil, nil, err
}

func (r AccountToolRequest) token(ctx context.Context, account string) (urlmode.AccessToken, error) {
	return r.Vault.AccessToken(ctx, urlmode.AccountRequest{Subject: r.Owner.Subject, Provider: r.Provider, Account: account, ValidFor: r.ValidFor, Refused: r.refused})
}

func known(requested, granted []string) []string {
	if len(requested) > 0 {
		return requested
	}
	return granted
}

func (r AccountToolRequest) lacks(token urlmode.AccessToken) bool {
	return slices.ContainsFunc(r.Scopes, func(scope string) bool {
		return !slices.Contains(token.Scopes, scope) && !slices.Contains(token.Requested, scope)
	}) || slices.ContainsFunc(r.RequiredScopes, func(scope string) bool { return !slices.Contains(token.Scopes, scope) })
}

// connect asks the user to connect the account. The token is nil if the call has ended otherwise.
func (a *Adapter) connect(ctx context.Context, call Call, toolRequest AccountToolRequest, known []string) (End, *urlmode.AccessToken, error) {
	elicitation := toolRequest.ConnectRequest
	elicitation.Scopes = nil
	for _, each := range slices.Concat(known, toolRequest.Scopes, toolRequest.RequiredScopes) {
		if !slices.Contains(elicitation.Scopes, each) {
			elicitation.Scopes = append(elicitation.Scopes, each)
		}
	}
	elicitation.ClientID = cmp.Or(elicitation.ClientID, call.ClientID)
	elicitation.Traceparent = cmp.Or(elicitation.Traceparent, call.Traceparent)
	elicitation.ResumeKey = cmp.Or(elicitation.ResumeKey, urlmode.DefaultResumeKey(toolRequest.Provider, urlmode.OAuth, toolRequest.Message, urlmode.Expected{}))
	begun, err := toolRequest.Vault.Connecting(ctx, elicitation)
	if err != nil {
		return End{}, nil, err
	}
	request := begun.Request()
	var meanwhile *urlmode.AccessToken
	target := request.Target
	request.Target = func(ctx context.Context, arguments urlmode.TargetArguments) (urlmode.Target, error) {
		// There is nothing to resume: another call may have connected the account since this one looked for it.
		token, _, err := toolRequest.find(ctx)
		if err != nil {
			return urlmode.Target{}, err
		}
		if token != nil && !toolRequest.lacks(*token) {
			meanwhile = token
			return urlmode.Target{}, errConnectedMeanwhile
		}
		return target(ctx, arguments)
	}
	isConnected, isByAnother, account, givenBack := false, false, "", 0
	q := question{ToolRequest: ToolRequest{Request: request, Message: toolRequest.Message, Round: toolRequest.Round}, byError: toolRequest.ByError,
		create: func(ctx context.Context) (urlmode.Elicitation, error) { return a.instance.Create(ctx, request) },
		detail: toolRequest.Vault.AuthorizationDetail, start: a.instance.Internals(internals.Permit{}).Start,
		claimed: func(ctx context.Context, id string) (*End, error) {
			reason, isKnown, err := begun.Await(ctx, id)
			if errors.Is(err, urlmode.ErrOpen) {
				if givenBack++; givenBack == limits.ClaimAttempts {
					return nil, nil
				}
				return nil, errGivenBack
			}
			if err != nil || !isKnown {
				return nil, err
			}
			end := failureEnd(urlmode.Cancel, reason)
			isByAnother = reason == ""
			return &end, nil
		}}
	end, err := a.run(ctx, call, q, func(ctx context.Context, accepted Accepted) (json.RawMessage, error) {
		var err error
		account, err = begun.Exchange(ctx, accepted.Outcome, accepted.ReturnURL)
		isConnected = err == nil
		return nil, err
	})
	var not *urlmode.NotConnectedError
	switch {
	case errors.Is(err, errConnectedMeanwhile):
		return End{}, meanwhile, nil
	case errors.As(err, &not):
		return detailedEnd(not.Action, not.Reason, not.Detail), nil, nil
	case err == nil && isByAnother:
		return toolRequest.shared(ctx)
	case err != nil || !isConnected:
		return end, nil, err
	case toolRequest.Account != "" && account != toolRequest.Account:
		return failureEnd(urlmode.Cancel, otherAccount), nil, nil
	}
	token, err := toolRequest.token(ctx, account)
	if err != nil {
		return End{}, nil, err
	}
	return End{}, &token, nil
}

// shared looks at what another call has connected: it may be another account than this call needs, or less than it requires.
func (r AccountToolRequest) shared(ctx context.Context) (End, *urlmode.AccessToken, error) {
	token, _, err := r.find(ctx)
	if err != nil || token != nil && !r.lacks(*token) {
		return End{}, token, err
	}
	accounts, err := r.Vault.Accounts(ctx, r.Owner.Subject, r.Provider)
	switch {
	case err != nil:
		return End{}, nil, err
	case r.Account != "" && (token == nil || len(accounts) == 0 || accounts[0].Account != r.Account):
		return failureEnd(urlmode.Cancel, otherAccount), nil, nil
	case token == nil: // It was disconnected since.
		return failureEnd(urlmode.Cancel, "claimed"), nil, nil
	}
	missing := slices.DeleteFunc(slices.Clone(r.RequiredScopes), func(scope string) bool { return slices.Contains(token.Scopes, scope) })
	return detailedEnd(urlmode.Cancel, "scope_missing", strings.Join(missing, " ")), nil, nil
}
