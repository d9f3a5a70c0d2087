// SPDX-License-Identifier: MIT

package vault

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"urlmode.example/urlmode"
)

const (
	exchangeFailed  = "exchange_failed"
	exchangeRefused = "exchange_refused"
)

var lengthenedForm = regexp.MustCompile(`\{(access_token|client_id|client_secret)\}`)

// options are what accounts of a provider are connected with.
type options struct {
	provider    string
	described   string // empty: as the provider is called
	description description
	client      *client
	scopes      []string
	required    []string
	variables   map[string]string
	parameters  map[string]string
	reuseWithin time.Duration // zero: as the description says
}

// with are the options with further variables.
func (o options) with(variables map[string]string) options {
	o.variables = merged(o.variables, variables)
	return o
}

// merged is never nil.
func merged(one, over map[string]string) map[string]string {
	made := map[string]string{}
	maps.Copy(made, one)
	maps.Copy(made, over)
	return made
}

// provider is one at which users connect accounts: where to send the browser, what to do with the code that comes back, and whose
// account it is.
type provider struct {
	options
	vault    *Vault
	oauth    description // with its variables
	metadata metadata
}

// open also checks the options. An error that is no ErrArgument is an ErrProviderUnavailable.
func (v *Vault) open(ctx context.Context, o options) (*provider, error) {
	oauth, err := o.description.fillIn(o.variables)
	if err == nil {
		err = checkParameters(o.parameters)
	}
	if err != nil {
		return nil, err
	}
	p := &provider{options: o, vault: v, oauth: oauth}
	if oauth.isDiscovered() {
		p.metadata, err = v.discovery.find(ctx, o.provider, oauth.Issuer)
		return p, err
	}
	p.metadata = metadata{issuer: oauth.Issuer, authorization: oauth.Authorization, token: oauth.Token, revocation: oauth.Revocation}
	return p, nil
}

// reuseMs is for how long after its use the provider takes a refresh token again. Zero: never. Nil: not known.
func (p *provider) reuseMs() *int64 {
	within := p.reuseWithin
	if seconds, is := p.oauth.ReuseWithin.(float64); is && within == 0 {
		within = time.Duration(seconds * float64(time.Second))
	} else if p.oauth.ReuseWithin == "never" && within == 0 {
		within = NeverReused
	}
	if within == 0 {
		return nil
	}
	ms := max(0, within.Milliseconds())
	return &ms
}

func (p *provider) usesPKCE() bool { return p.oauth.PKCE == "S256" }

// authorizationURL is RFC 6749 section 4.1.1. PKCE and nonce are added when the elicitation is created, the state by /connect.
func (p *provider) authorizationURL(returnURL string) string {
	wanted := map[string]string{"response_type": "code", "client_id": p.client.ID, "redirect_uri": returnURL}
	if len(p.scopes) > 0 {
		wanted[cmp.Or(p.oauth.Scope.Parameter, "scope")] = strings.Join(p.scopes, cmp.Or(p.oauth.Scope.Separator, " "))
	}
	if p.oauth.ResponseMode == "form_post" {
		wanted["response_mode"] = "form_post"
	}
	wanted = merged(merged(wanted, p.oauth.Parameters), p.parameters)
	separator := "?"
	if strings.Contains(p.metadata.authorization, "?") {
		separator = "&"
	}
	return p.metadata.authorization + separator + formOf(p.renamed(wanted))
}

func formOf(fields map[string]string) string {
	form := url.Values{}
	for name, value := range fields {
		form.Set(name, value)
	}
	return form.Encode()
}

// renamed has the provider's names of parameters.
func (p *provider) renamed(fields map[string]string) map[string]string {
	made := map[string]string{}
	for name, value := range fields {
		made[cmp.Or(p.oauth.Names[name], name)] = value
	}
	return made
}

// Connected is what a code was exchanged for.
type Connected struct {
	// ElicitationID is empty for tokens that come from elsewhere.
	ElicitationID string
	// Tokens are the answer of the token endpoint: for this server only, never for the MCP client.
	Tokens map[string]any
	// Account is the provider's id of it, and AccountName what people call it. Both may be empty.
	Account     string
	AccountName string
	// Scopes are those that were granted, and Requested those that the user was asked for. Store takes those of Tokens if Scopes is
	// nil, and Scopes if Requested is nil.
	Scopes    []string
	Requested []string
	// Variables are those of the description that this account was connected with.
	Variables map[string]string
}

// String leaves out what is secret.
func (c Connected) String() string { return "the tokens of the account " + c.Account }

// GoString leaves out what is secret.
func (c Connected) GoString() string { return c.String() }

func notConnected(reason, detail string) error {
	return &urlmode.NotConnectedError{Action: urlmode.Cancel, Reason: reason, Detail: detail}
}

// connect exchanges the code. That works once: the outcome must be claimed. isInUse: whether the user has an account there, whose
// tokens some providers would revoke with those of the code. Its error is a *NotConnectedError, or that of the options.
func (p *provider) connect(ctx context.Context, outcome urlmode.Outcome, returnURL string, isInUse func() bool) (Connected, error) {
	code, _ := outcome.Result["code"].(string)
	if code == "" {
		return Connected{}, notConnected(exchangeFailed, "code_missing")
	}
	if err := p.checkIssuer(outcome.Result); err != nil {
		return Connected{}, err
	}
	returned := map[string]string{}
	for name, value := range outcome.Result {
		if text, is := value.(string); is && name != "code" && name != "iss" {
			returned[name] = text
		}
	}
	variables, wrong := p.oauth.fromReturn(returned)
	if wrong != "" {
		return Connected{}, notConnected(exchangeFailed, wrong)
	}
	there := p
	if len(variables) > 0 {
		var err error
		if there, err = p.vault.open(ctx, p.with(variables)); err != nil {
			return Connected{}, notConnected(exchangeFailed, codeOf(err))
		}
	}
	return there.exchangeAndProve(ctx, outcome, code, returnURL, returned, isInUse)
}

func (p *provider) exchangeAndProve(ctx context.Context, outcome urlmode.Outcome, code, returnURL string, returned map[string]string, isInUse func() bool) (Connected, error) {
	// Most users who lack a scope have an account already.
	drop := func(unused tokens) {
		if unused != nil && !isInUse() {
			p.revokeAll(ctx, unused)
		}
	}
	answered, err := p.exchange(ctx, code, returnURL, outcome.CodeVerifier)
	var claims map[string]any
	if err == nil && p.oauth.isDiscovered() && (answered["id_token"] != nil || outcome.Nonce != "") {
		claims, err = verifyIDToken(ctx, p.vault.requester, answered["id_token"], p.metadata, p.client.ID, outcome.Nonce)
	}
	made := answered
	if err == nil {
		made, err = p.lengthened(ctx, answered)
	}
	if err != nil {
		drop(answered)
		reason := exchangeFailed
		var failed *failure
		if errors.As(err, &failed) && failed.code != "" {
			reason = exchangeRefused
		}
		return Connected{}, notConnected(reason, err.Error())
	}
	granted := p.scopes
	if made["scope"] != nil {
		granted = scopesOf(made)
	}
	missing := slices.DeleteFunc(slices.Clone(p.required), func(scope string) bool { return slices.Contains(granted, scope) })
	if len(missing) > 0 {
		drop(made)
		return Connected{}, notConnected("scope_missing", strings.Join(missing, " "))
	}
	id, name, err := p.findAccount(ctx, made, claims, returned)
	if err != nil {
		drop(made)
		return Connected{}, notConnected(exchangeFailed, err.Error())
	}
	return Connected{ElicitationID: outcome.ElicitationID, Tokens: made, Account: id, AccountName: name, Scopes: granted,
		Requested: p.scopes, Variables: p.variables}, nil
}

// checkIssuer is RFC 9207 section 2.4.
func (p *provider) checkIssuer(result map[string]any) error {
	if p.oauth.Issuer == "" {
		return nil
	}
	switch iss := result["iss"]; {
	case iss == nil && (p.metadata.sendsIssuer || p.oauth.SendsIssuer):
		return notConnected("issuer_missing", "iss")
	case iss != nil && iss != p.metadata.issuer:
		return notConnected("issuer_mismatch", "iss")
	}
	return nil
}

func (p *provider) exchange(ctx context.Context, code, returnURL, verifier string) (tokens, error) {
	fields := merged(map[string]string{"grant_type": "authorization_code", "code": code, "redirect_uri": returnURL}, p.oauth.TokenParameters)
	if verifier != "" {
		fields["code_verifier"] = verifier
	}
	got, err := p.post(ctx, p.metadata.token, fields)
	if err != nil {
		return nil, err
	}
	return toTokens(got, p.oauth.TokenResponse, p.oauth.isDiscovered(), "invalid_response")
}

// refresh is RFC 6749 section 6, or the provider's own renewal of a long-lived token. Its error is a *failure.
func (p *provider) refresh(ctx context.Context, refreshToken string) (tokens, error) {
	if long := p.oauth.LongLived; long != nil && long.Renewal != nil {
		return p.lengthen(ctx, *long.Renewal, refreshToken)
	}
	got, err := p.post(ctx, cmp.Or(p.oauth.Refresh, p.metadata.token), map[string]string{"grant_type": "refresh_token", "refresh_token": refreshToken})
	if err != nil {
		return nil, err
	}
	// Who the account is was proven when it was connected.
	return toTokens(got, p.oauth.TokenResponse, false, "invalid_response")
}

// lengthened is a token that its provider makes longer lived, and that is its own refresh token if it can be renewed.
func (p *provider) lengthened(ctx context.Context, given tokens) (tokens, error) {
	long := p.oauth.LongLived
	if long == nil {
		return given, nil
	}
	longer, err := p.lengthen(ctx, long.Exchange, given["access_token"].(string))
	if err != nil {
		return nil, err
	}
	if long.Renewal == nil {
		delete(longer, "refresh_token")
	}
	made := maps.Clone(given)
	delete(made, "expires_in")
	maps.Copy(made, longer)
	return made, nil
}

// lengthen exchanges a token for one that lives longer. With GET, the token and the secret are in the address of the request, because
// the provider wants it so.
func (p *provider) lengthen(ctx context.Context, by lengthening, accessToken string) (tokens, error) {
	values := map[string]string{"{access_token}": accessToken, "{client_id}": p.client.ID, "{client_secret}": p.client.Secret}
	fields := map[string]string{}
	for name, value := range by.Parameters {
		fields[name] = lengthenedForm.ReplaceAllStringFunc(value, func(place string) string { return values[place] })
	}
	method, to, headers, body := http.MethodPost, by.Endpoint, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, []byte(formOf(fields))
	if by.Method == http.MethodGet {
		method, to, headers, body = http.MethodGet, by.Endpoint+"?"+formOf(fields), nil, nil
	}
	got, err := p.vault.requester.send(ctx, method, to, headers, body)
	if err != nil {
		return nil, err
	}
	rules := p.oauth.TokenResponse
	rules.TokenType = "bearer"
	made, err := toTokens(got, rules, false, "no_long_lived_token")
	if err != nil {
		return nil, err
	}
	made["refresh_token"] = made["access_token"]
	return made, nil
}

// revokeAll ends what the tokens are good for (RFC 7009), and says why it did not succeed. Most providers end the access token
// with the refresh token (section 2.1), and some then refuse it.
func (p *provider) revokeAll(ctx context.Context, of tokens) string {
	if p.metadata.revocation == "" {
		return "no_endpoint"
	}
	access, _ := of["access_token"].(string)
	refresh, isRefreshable := of["refresh_token"].(string)
	if !isRefreshable {
		return p.revoke(ctx, access)
	}
	why := p.revoke(ctx, refresh)
	if why == "" {
		p.revoke(ctx, access)
	}
	return why
}

func (p *provider) revoke(ctx context.Context, token string) string {
	got, err := p.post(ctx, p.metadata.revocation, map[string]string{"token": token})
	if err != nil {
		return err.Error()
	}
	if got.status != http.StatusOK {
		return detailOf(got, readJSON(got.body), "invalid_response")
	}
	return ""
}

// post sends a request of this client, as its provider wants it. The names of the fields are those of the standard.
func (p *provider) post(ctx context.Context, to string, fields map[string]string) (*answer, error) {
	authorization, err := p.client.authenticate(p.oauth, p.metadata.token, fields)
	if err != nil {
		return nil, &failure{detail: "NOT_SIGNED"}
	}
	fields = p.renamed(fields)
	headers, body := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, []byte(formOf(fields))
	if p.oauth.TokenRequest == "json" {
		headers["Content-Type"] = "application/json"
		body, _ = json.Marshal(fields) // only text
	}
	if authorization != "" {
		headers["Authorization"] = authorization
	}
	return p.vault.requester.send(ctx, http.MethodPost, to, headers, body)
}
