// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
	"urlmode.example/urlmode/internal/timing"
)

// findAccount says whose account it is. Both are empty if the provider does not say it. An error: it does at other times, and tokens
// that are stored without a name would replace those of another account.
func (p *provider) findAccount(ctx context.Context, of tokens, claims map[string]any, returned map[string]string) (id, name string, err error) {
	source := p.oauth.Account
	if source == nil {
		return "", "", nil
	}
	var document any
	switch source.From {
	case "":
		document, err = p.askEndpoint(ctx, source, of)
	case "userinfo":
		if claims != nil {
			document, err = p.askUserinfo(ctx, source, of, claims)
		}
	case "id_token":
		document = claims
	case "token_response":
		document = of
	case "return":
		all := map[string]any{}
		for name, value := range returned {
			all[name] = value
		}
		document = all
	}
	if err != nil {
		return "", "", err
	}
	if id = findText(document, source.ID); id == "" {
		return "", "", nil
	}
	return id, findText(document, source.Name), nil
}

// askEndpoint asks once more if it fails.
func (p *provider) askEndpoint(ctx context.Context, source *accountSource, of tokens) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.AccountRequest)
	defer cancel()
	for attempt := 0; ; attempt++ {
		document, err := p.askAccount(ctx, source.Endpoint, source, of)
		if err == nil {
			return document, nil
		}
		var failed *failure
		if errors.As(err, &failed) && failed.code == notAllowed {
			p.vault.internals.Warn("URLMODE_ACCOUNT", fmt.Sprintf(texts.NoIdentity, p.provider, err))
			return nil, nil
		}
		if attempt > 0 || timing.Sleep(ctx, timing.Jittered(limits.AccountAgain)) != nil {
			return nil, err
		}
	}
}

// askUserinfo asks the userinfo endpoint whose account it is. If that fails, the claims of the id token say so.
func (p *provider) askUserinfo(ctx context.Context, source *accountSource, of tokens, claims map[string]any) (any, error) {
	if p.metadata.userinfo == "" {
		return claims, nil
	}
	document, err := p.askAccount(ctx, p.metadata.userinfo, source, of)
	sub := findText(document, "/sub")
	if err == nil && sub == "" {
		err = &failure{detail: "no_sub"}
	}
	if err != nil {
		p.vault.internals.Warn("URLMODE_ACCOUNT", fmt.Sprintf("userinfo of %s failed (%s)", p.provider, err))
		return claims, nil
	}
	if sub != claims["sub"] { // OpenID Connect Core section 5.3.2
		return nil, &failure{detail: "another_sub"}
	}
	return document, nil
}

// notAllowed is the code of a failure after which the provider does not say it, whenever it is asked: for most providers a scope is
// missing.
const notAllowed = "not_allowed"

// askAccount returns JSON.
func (p *provider) askAccount(ctx context.Context, from string, source *accountSource, of tokens) (any, error) {
	token, _ := of["access_token"].(string)
	headers := map[string]string{}
	hasToken := false
	for name, value := range source.Headers {
		hasToken = hasToken || strings.Contains(value, "{access_token}")
		headers[name] = strings.NewReplacer("{access_token}", token, "{client_id}", p.client.ID).Replace(value)
	}
	if !hasToken {
		headers["Authorization"] = "Bearer " + token
	}
	method := http.MethodGet
	if source.Body != nil {
		method, headers["Content-Type"] = http.MethodPost, "application/json"
	}
	got, err := p.vault.requester.send(ctx, method, from, headers, source.Body)
	if err != nil {
		return nil, err
	}
	if !isGood(got.status) {
		failed := &failure{detail: fmt.Sprintf("status_%d", got.status), status: got.status}
		if got.status >= 400 && got.status < 500 && !slices.Contains([]int{408, 425, 429}, got.status) {
			failed.code = notAllowed
		}
		return nil, failed
	}
	document := readJSON(got.body)
	if document == nil {
		return nil, &failure{detail: "no_json"}
	}
	return document, nil
}
