// SPDX-License-Identifier: MIT

package urlmode

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

var (
	providerForm = regexp.MustCompile(fmt.Sprintf(`^[a-z0-9][a-z0-9_-]{0,%d}$`, limits.ProviderMax-1))
	tenantForm   = regexp.MustCompile(fmt.Sprintf(`^[a-z0-9_-]{0,%d}$`, limits.TenantMax))
	consumerForm = regexp.MustCompile(fmt.Sprintf(`^[a-z0-9_-]{1,%d}$`, limits.ConsumerMax))
	reasonForm   = regexp.MustCompile(fmt.Sprintf(`^[a-z0-9_]{0,%d}$`, limits.ReasonMax))
	notInURL     = regexp.MustCompile(`[\s\x00-\x1f\x7f\\<>"{}|^` + "`" + `]`)

	// traceForm: W3C Trace Context section 3.2, version 00
	traceForm = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

	actions = []Action{Accept, Decline, Cancel}
)

// TraceparentOf is the trace of a call, of the member traceparent of its _meta, for [Request.Traceparent]. What is no
// traceparent says nothing: it is empty then.
func TraceparentOf(member any) string {
	if text, _ := member.(string); isTraceparent(text) {
		return text
	}
	return ""
}

func isTraceparent(text string) bool {
	return traceForm.MatchString(text) && text[3:35] != strings.Repeat("0", 32) && text[36:52] != strings.Repeat("0", 16)
}

func newID() string {
	var id [16]byte
	rand.Read(id[:]) // never returns an error
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return idText(id[:])
}

// isID reports whether a text is a UUID. A regular expression would take most of the time in which a notification is parsed.
func isID(text string) bool {
	for i, c := range []byte(text) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return len(text) == 36
}

func checkID(id string) (string, error) {
	lower := strings.ToLower(id)
	if !isID(lower) {
		return "", argumentError("the id of an elicitation must be a UUID")
	}
	return lower, nil
}

func checkText(name, value string, least, most int) error {
	// PostgreSQL accepts neither.
	if !utf8.ValidString(value) || strings.Contains(value, "\x00") {
		return argumentError("%s must be valid UTF-8 without NUL", name)
	}
	if len(value) < least || len(value) > most {
		return argumentError("%s must have %d to %d bytes", name, least, most)
	}
	return nil
}

func checkOwner(owner Owner) error {
	if err := checkText("Subject", owner.Subject, 1, limits.SubjectMax); err != nil {
		return err
	}
	return checkText("Session", owner.Session, 0, limits.SessionMax)
}

func (t tenant) checkRow(id string, owner Owner) (rowKey, error) {
	id, err := checkID(id)
	if err != nil {
		return rowKey{}, err
	}
	if err := checkOwner(owner); err != nil {
		return rowKey{}, err
	}
	return rowKey{id, t.bindingOf(owner)}, nil
}

func checkProvider(provider string) error {
	if !providerForm.MatchString(provider) {
		return argumentError(texts.ProviderName)
	}
	return nil
}

func checkReference(reference string) error {
	return checkText("Reference", reference, 0, limits.ReferenceMax)
}

func checkReason(reason string) error {
	if !reasonForm.MatchString(reason) {
		return argumentError(texts.ReasonCode)
	}
	return nil
}

func checkAction(action Action, allowed ...Action) error {
	if !slices.Contains(allowed, action) {
		return argumentError("Action "+texts.MustBeOneOf, allowed)
	}
	return nil
}

func checkDuration(name string, value, least, most time.Duration) error {
	if value < least || value > most {
		return argumentError("%s must be from %s to %s", name, least, most)
	}
	return nil
}

// checkExpected returns the price with its currency in capitals.
func checkExpected(expected Expected, kind Kind) (Expected, error) {
	switch {
	case kind != Payment && expected != Expected{}:
		return expected, argumentError(texts.ExpectedNotAllowed)
	case kind != Payment:
		return expected, nil
	case expected.Any:
		return Expected{Any: true}, nil
	case expected.Match != MatchExact && !slices.Contains(matches, string(expected.Match)):
		return expected, argumentError("the Match of Expected "+texts.MustBeOneOf, strings.Join(matches, ", "))
	}
	if expected.Match == "exact" {
		expected.Match = MatchExact
	}
	if !expected.hasPrice() {
		return expected, nil
	}
	var err error
	expected.Currency, err = checkMoney("Expected", expected.Amount, expected.Currency)
	return expected, err
}

func checkMoney(name string, amount int64, currency string) (string, error) {
	if amount < 0 || amount > limits.SafeInteger {
		return "", argumentError("the amount of %s "+texts.MustBeMinorUnits, name)
	}
	currency = strings.ToUpper(currency)
	if _, ok := exponents()[currency]; !ok {
		return "", argumentError("the currency of %s must be one of ISO 4217, such as EUR. Others, such as USDC, have "+
			"no minor unit there to compare in", name)
	}
	return currency, nil
}

// checkedAnswer is an Answer with its result as JSON.
type checkedAnswer struct {
	Answer
	text  []byte
	money bool
}

func checkAnswer(answer Answer) (checkedAnswer, error) {
	checked := checkedAnswer{Answer: answer, money: answer.Currency != "" || answer.Amount != 0}
	if answer.Payments != nil || answer.Refunds != nil {
		return checked, argumentError("Payments and Refunds are what a Recheck returns")
	}
	if err := checkAction(answer.Action, actions...); err != nil {
		return checked, err
	}
	if err := checkReason(answer.Reason); err != nil {
		return checked, err
	}
	if err := checkReference(answer.Reference); err != nil {
		return checked, err
	}
	var err error
	if checked.money {
		if checked.Currency, err = checkMoney("the answer", answer.Amount, answer.Currency); err != nil {
			return checked, err
		}
	}
	if answer.Result == nil {
		return checked, nil
	}
	if checked.text, err = toJSON(answer.Result); err != nil {
		return checked, argumentError(texts.ResultNotJSON)
	}
	if len(checked.text) > resultMax {
		return checked, argumentError(texts.ResultTooLarge, resultMax)
	}
	return checked, nil
}

// checkWebURL returns the URL in its parts. The error does not quote it.
func checkWebURL(name, text string) (*url.URL, error) {
	parts, err := url.Parse(text)
	if err != nil || parts.Scheme == "" || parts.Hostname() == "" || parts.Port() == "0" || notInURL.MatchString(text) ||
		strings.Contains(parts.Hostname(), ":") && !strings.HasPrefix(parts.Host, "[") { // url.Parse looks at the last colon alone
		return nil, argumentError("%s "+texts.MustBeEncoded, name)
	}
	isLoopback := slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, parts.Hostname())
	if parts.Scheme != "https" && !(parts.Scheme == "http" && isLoopback) {
		return nil, argumentError("%s "+texts.MustBeHTTPS, name)
	}
	if parts.User != nil {
		return nil, argumentError("%s "+texts.HasUserName, name)
	}
	return parts, nil
}

// checkBaseURL returns the origin, and its host and port.
func checkBaseURL(text string) (origin, host string, err error) {
	parts, err := checkWebURL("BaseURL", text)
	if err != nil {
		return "", "", err
	}
	if parts.Path != "" && parts.Path != "/" || strings.ContainsAny(text, "?#") {
		return "", "", argumentError(texts.BaseURLParts)
	}
	defaultPort := map[string]string{"https": ":443", "http": ":80"}[parts.Scheme]
	host = strings.TrimSuffix(strings.ToLower(parts.Host), defaultPort)
	return parts.Scheme + "://" + host, host, nil
}

func checkTarget(target Target, kind Kind) error {
	if target.Checkout != "" && kind != Payment {
		return argumentError(texts.CheckoutNotAllowed)
	}
	if err := checkText("Checkout", target.Checkout, 0, limits.ReferenceMax); err != nil {
		return err
	}
	parts, err := checkWebURL("TargetURL", target.URL)
	if err != nil {
		return err
	}
	if strings.Contains(target.URL, "#") {
		return argumentError(texts.TargetURLFragment)
	}
	if kind == OAuth && parts.Query().Has("state") {
		return argumentError(texts.TargetURLState)
	}
	for _, r := range target.URL {
		if r > 0x7e {
			return argumentError(texts.TargetURLASCII)
		}
	}
	if len(target.URL) > limits.TargetURLMax {
		return argumentError(texts.TargetURLTooLong)
	}
	return nil
}
