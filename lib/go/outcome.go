// SPDX-License-Identifier: MIT

package urlmode

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"urlmode.example/urlmode/internal/texts"
)

// verifier is the code verifier (PKCE, RFC 7636), as it is sealed in the row, and a nonce (OpenID Connect) if one was added.
type verifier struct {
	CodeVerifier string `json:"code_verifier"`
	Nonce        string `json:"nonce,omitempty"`
}

func randomText(size int) string {
	bytes := make([]byte, size)
	rand.Read(bytes) // never returns an error
	return base64.RawURLEncoding.EncodeToString(bytes)
}

// addPKCE adds an S256 challenge to an authorization URL, and a nonce if the scope contains openid and there is none.
func addPKCE(target string) (string, verifier, error) {
	parts, err := url.Parse(target)
	if err != nil {
		return "", verifier{}, argumentError("TargetURL " + texts.MustBeAbsolute)
	}
	query := parts.Query()
	if query.Has("code_challenge") || query.Has("code_challenge_method") {
		return "", verifier{}, argumentError(texts.TargetURLChallenge)
	}
	made := verifier{CodeVerifier: randomText(32)}
	challenge := sha256.Sum256([]byte(made.CodeVerifier))
	added := url.Values{
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"},
	}
	if slices.Contains(strings.Split(query.Get("scope"), " "), "openid") && !query.Has("nonce") {
		made.Nonce = randomText(16)
		added.Set("nonce", made.Nonce)
	}
	// The encoding of what the URL contains stays as it is.
	separator := "?"
	if parts.RawQuery != "" {
		separator = "&"
	} else if strings.HasSuffix(target, "?") {
		separator = ""
	}
	return target + separator + added.Encode(), made, nil
}

func openVerifier(ring keys, sealed []byte, k rowKey) (*verifier, error) {
	var opened verifier
	if err := unseal(ring, useVerifier, k, sealed, &opened); err != nil {
		return nil, err
	}
	return &opened, nil
}

// toOutcome is what a completed row says to one of those who wait for it. result is that of an outcome that was announced,
// and known a verifier that was opened before.
func toOutcome(ring keys, read *row, k rowKey, result map[string]any, known *verifier) (Outcome, error) {
	if read.result != nil {
		result = nil
		if err := unseal(ring, useResult, k, read.result, &result); err != nil {
			return Outcome{}, err
		}
	}
	accepted := read.action == Accept
	outcome := Outcome{
		ElicitationID: read.id, Action: read.action, Reason: read.reason, Result: result, Late: read.late,
		Interrupted: read.completedFrom, Reference: read.paymentReference, RefundedAmount: read.refunded,
		Refunded: read.paymentReference == "" && read.kind == Payment && accepted,
	}
	if read.kind == Payment {
		outcome.Amount, outcome.Currency, outcome.Tax = read.amount, read.currency, read.tax
		json.Unmarshal([]byte(read.expected), &outcome.Expected) // as the database has checked it
	}
	// The verifier and nonce are only useful with a code.
	if accepted && known == nil && read.verifier != nil {
		var err error
		if known, err = openVerifier(ring, read.verifier, k); err != nil {
			return Outcome{}, err
		}
	}
	if accepted && known != nil {
		outcome.CodeVerifier, outcome.Nonce = known.CodeVerifier, known.Nonce
	}
	switch read.kind {
	case Input:
		outcome.Values, _ = result["values"].(map[string]any)
	case Approval:
		outcome.Approver, _ = result["approver"].(string)
		outcome.Comment, _ = result["comment"].(string)
		decided, _ := result["decided_at"].(string)
		outcome.DecidedAt, _ = time.Parse(time.RFC3339, decided) // the zero time if nobody has decided
		signedIn, _ := result["signed_in_at"].(string)
		outcome.SignedInAt, _ = time.Parse(time.RFC3339, signedIn)
		outcome.SignedInBy, _ = result["signed_in_by"].(string)
	}
	return outcome, nil
}
