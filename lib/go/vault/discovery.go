// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
)

var loopback = []string{"127.0.0.1", "localhost", "::1"}

// metadata are those of a provider: what it publishes (OpenID Connect Discovery section 4), or the description itself.
type metadata struct {
	issuer        string
	authorization string
	token         string
	keys          string
	userinfo      string
	revocation    string
	sendsIssuer   bool
	algorithms    []string
}

type known struct {
	at       time.Time
	metadata metadata
}

// discovery keeps what providers publish. An answer that is not accepted is not kept.
type discovery struct {
	requester *requester

	mu      sync.Mutex
	known   map[string]known
	issuers []string // the oldest first
}

func (d *discovery) find(ctx context.Context, provider, issuer string) (metadata, error) {
	d.mu.Lock()
	found, is := d.known[issuer]
	d.mu.Unlock()
	if is && time.Since(found.at) < limits.Metadata {
		return found.metadata, nil
	}
	made, why := d.ask(ctx, issuer)
	if why != "" {
		return metadata{}, &urlmode.AccountError{Code: urlmode.ErrProviderUnavailable, Provider: provider, Reason: why}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.issuers = append(slices.DeleteFunc(d.issuers, func(each string) bool { return each == issuer }), issuer)
	for len(d.issuers) > limits.MetadataMax {
		delete(d.known, d.issuers[0])
		d.issuers = d.issuers[1:]
	}
	d.known[issuer] = known{time.Now(), made}
	return made, nil
}

// ask also says why there are none.
func (d *discovery) ask(ctx context.Context, issuer string) (metadata, string) {
	got, err := d.requester.send(ctx, http.MethodGet, strings.TrimRight(issuer, "/")+"/.well-known/openid-configuration", nil, nil)
	if err != nil {
		return metadata{}, err.Error()
	}
	published, isObject := readJSON(got.body).(map[string]any)
	switch {
	case got.status != http.StatusOK || !isObject:
		return metadata{}, fmt.Sprintf("status_%d", got.status)
	case published["issuer"] != issuer:
		return metadata{}, "another_issuer"
	}
	made := metadata{issuer: issuer}
	made.sendsIssuer, _ = published["authorization_response_iss_parameter_supported"].(bool)
	parts, err := url.Parse(issuer)
	mayBePlain := err == nil && slices.Contains(loopback, parts.Hostname())
	for name, into := range map[string]*string{"authorization_endpoint": &made.authorization, "token_endpoint": &made.token,
		"jwks_uri": &made.keys, "userinfo_endpoint": &made.userinfo, "revocation_endpoint": &made.revocation} {
		value := published[name]
		if value == nil && (into == &made.userinfo || into == &made.revocation) {
			continue
		}
		text, _ := value.(string)
		if !isSafe(text, mayBePlain) {
			return metadata{}, "invalid " + name
		}
		*into = text
	}
	made.algorithms = []string{"RS256"}
	if list, isList := published["id_token_signing_alg_values_supported"].([]any); isList {
		made.algorithms = nil
		for _, each := range list {
			if name, isText := each.(string); isText {
				made.algorithms = append(made.algorithms, name)
			}
		}
	}
	return made, ""
}

func isSafe(text string, mayBePlain bool) bool {
	parts, err := url.Parse(text)
	if err != nil || parts.Hostname() == "" {
		return false
	}
	return parts.Scheme == "https" || mayBePlain && parts.Scheme == "http" && slices.Contains(loopback, parts.Hostname())
}
