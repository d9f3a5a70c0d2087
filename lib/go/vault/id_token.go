// SPDX-License-Identifier: MIT

package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"urlmode.example/urlmode/internal/limits"
)

// signatures are those by a key that only the provider has.
var signatures = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512}

// verifyIDToken returns the claims of an id token (OpenID Connect Core section 3.1.3.7). Its error is a *failure.
func verifyIDToken(ctx context.Context, by *requester, idToken any, from metadata, clientID, nonce string) (map[string]any, error) {
	got, err := by.send(ctx, http.MethodGet, from.keys, nil, nil)
	if err != nil {
		return nil, err
	}
	text, _ := idToken.(string)
	payload := openSigned(text, got.body, from.algorithms)
	claims, isObject := readJSON(payload).(map[string]any)
	if !isObject || !areClaims(claims, from.issuer, clientID, nonce, time.Now()) {
		return nil, &failure{detail: "invalid_id_token"}
	}
	return claims, nil
}

// openSigned is what was signed with one of the keys of a set. Nil: nothing.
func openSigned(token string, set []byte, supported []string) []byte {
	var algorithms []jose.SignatureAlgorithm
	for _, each := range signatures {
		if slices.Contains(supported, string(each)) {
			algorithms = append(algorithms, each)
		}
	}
	if len(algorithms) == 0 {
		return nil
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return nil
	}
	wanted := signed.Signatures[0].Header.KeyID
	for _, each := range keysOf(set) {
		if wanted != "" && each.KeyID != wanted || each.Algorithm != "" && each.Algorithm != signed.Signatures[0].Header.Algorithm {
			continue
		}
		if payload, err := signed.Verify(each.Key); err == nil {
			return payload
		}
	}
	return nil
}

// keysOf are the public keys of a set. One of another use, and one that is not understood, is ignored (RFC 7517 section 5).
func keysOf(set []byte) []jose.JSONWebKey {
	var listed struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(bytes.ToValidUTF8(set, nil), &listed) != nil {
		return nil
	}
	var found []jose.JSONWebKey
	for _, text := range listed.Keys {
		var kind struct {
			Type string `json:"kty"`
			Use  string `json:"use"`
		}
		var key jose.JSONWebKey
		if json.Unmarshal(text, &kind) != nil || kind.Type != "RSA" && kind.Type != "EC" || kind.Use != "" && kind.Use != "sig" {
			continue
		}
		if key.UnmarshalJSON(text) == nil && key.IsPublic() {
			found = append(found, key)
		}
	}
	return found
}

func areClaims(claims map[string]any, issuer, clientID, nonce string, now time.Time) bool {
	audiences, isList := claims["aud"].([]any)
	if !isList {
		audiences = []any{claims["aud"]}
	}
	azp, hasAzp := claims["azp"]
	sub, _ := claims["sub"].(string)
	isBefore := func(name string, at time.Time) bool {
		number, is := claims[name].(json.Number)
		seconds, err := number.Float64()
		return is && err == nil && seconds < float64(at.UnixMilli())/1000
	}
	_, hasExpiry := claims["exp"].(json.Number)
	// When it was issued by a clock that is ahead of ours decides nothing.
	_, hasIssue := claims["iat"].(json.Number)
	_, hasStart := claims["nbf"]
	return claims["iss"] == issuer && slices.Contains(audiences, any(clientID)) && (len(audiences) == 1 || hasAzp) &&
		(!hasAzp || azp == clientID) && sub != "" && hasExpiry && !isBefore("exp", now.Add(-limits.ClockSkew)) &&
		hasIssue && (!hasStart || isBefore("nbf", now.Add(limits.ClockSkew))) && (nonce == "" || claims["nonce"] == nonce)
}
