// SPDX-License-Identifier: MIT

package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// tokens are the answer of a token endpoint, as RFC 6749 section 5.1 has it.
type tokens = map[string]any

const (
	// variablesMember holds the variables of the description: only this package writes it.
	variablesMember = "urlmode_variables"
)

var (
	// codeForm has no digit: whatever has one may be a code or a token.
	codeForm  = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z_-]{1,%d}$`, limits.AccountCodeMax))
	typeForm  = regexp.MustCompile(`^[a-z]+/[a-z.+-]{1,60}`)
	scopeEnds = regexp.MustCompile(`[\s,]+`)
	// secondsForm is how a number may be written as text.
	secondsForm = regexp.MustCompile(`^ *[0-9]+(\.[0-9]+)? *$`)
	// unusable is what no token has (RFC 6749 appendix A.12), and what stands for bytes that are no UTF-8: a line end could begin
	// another header where the token is used.
	unusable  = regexp.MustCompile("[\x00-\x1f\x7f\uFFFD]")
	wholeForm = regexp.MustCompile(`^-?[0-9]+$`)
)

// readJSON is nil if it is no JSON. Numbers keep their text. Some servers write a byte order mark, which a reader may ignore
// (RFC 8259 section 8.1).
func readJSON(text []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\uFEFF"))))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil
	}
	return finite(value)
}

// finite replaces numbers that no other language could write again.
func finite(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = finite(member)
		}
	case []any:
		for i, element := range value {
			value[i] = finite(element)
		}
	case json.Number:
		if _, err := value.Float64(); err != nil {
			return nil
		}
	}
	return value
}

// toTokens are the tokens of an answer, or a *failure that says otherwise where the provider says no code.
func toTokens(from *answer, rules tokenRules, keepsIDToken bool, otherwise string) (tokens, error) {
	content := contentOf(from)
	is := isGood(from.status)
	failed := from.failure(detailOf(from, content, otherwise))
	every, isObject := content.(map[string]any)
	if !isObject {
		return nil, failed
	}
	made := memberOf(every, rules)
	if list, isList := made["scope"].([]any); isList {
		made["scope"] = joined(list)
	}
	if rules.TokenType != "" {
		made["token_type"] = rules.TokenType
	}
	if !keepsIDToken {
		delete(made, "id_token")
	}
	delete(made, variablesMember)
	isRefusal := from.status >= 400 && from.status < 500 && from.status != http.StatusRequestTimeout || is && made["access_token"] == nil
	if code, _ := made["error"].(string); code != "" && isRefusal {
		if slices.Contains(rules.InvalidGrant, code) {
			code = "invalid_grant"
		}
		failed.code, failed.lost = code, ""
		return nil, failed
	}
	if !is || !areTokens(made) {
		return nil, failed
	}
	made["token_type"] = "bearer"
	setExpiry(made, from.at)
	return made, nil
}

func contentOf(from *answer) any {
	if !strings.HasPrefix(strings.ToLower(from.contentType), "application/x-www-form-urlencoded") {
		return readJSON(from.body)
	}
	form, _ := url.ParseQuery(strings.ToValidUTF8(string(from.body), "\uFFFD")) // what can be read of it
	content := map[string]any{}
	for name, values := range form {
		if last := values[len(values)-1]; last != "" {
			content[name] = strings.ToValidUTF8(last, "\uFFFD")
		}
	}
	return content
}

// memberOf are the members of an answer, and over them those of the member in which the provider has the tokens; without those that
// are null.
func memberOf(every map[string]any, rules tokenRules) tokens {
	made := maps.Clone(every)
	if inner, isObject := findIn(every, rules.Member).(map[string]any); isObject && rules.Member != "" {
		maps.Copy(made, inner)
		if _, isWithin := inner["access_token"]; isWithin && every["access_token"] != nil {
			made["outer"] = every
		}
	}
	maps.DeleteFunc(made, func(_ string, value any) bool { return value == nil })
	return made
}

func joined(list []any) string {
	var texts []string
	for _, each := range list {
		if text, is := each.(string); is {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

func areTokens(made tokens) bool {
	isText := func(name string) bool {
		text, is := made[name].(string)
		return is && text != "" && !unusable.MatchString(text)
	}
	kind, _ := made["token_type"].(string)
	_, isScope := made["scope"].(string)
	return isText("access_token") && (made["refresh_token"] == nil || isText("refresh_token")) && strings.EqualFold(kind, "bearer") &&
		(isScope || made["scope"] == nil)
}

// setExpiry computes when an access token expires. Some providers write the number as text, and Square says when the token expires.
func setExpiry(made tokens, now time.Time) {
	said, isSaid := made["expires_in"]
	delete(made, "expires_in")
	if !isSaid {
		at, _ := made["expires_at"].(string)
		if expires, err := time.Parse(time.RFC3339, at); err == nil {
			said = json.Number(strconv.FormatInt(max(-1, int64(expires.Sub(now).Seconds())), 10))
			if said == json.Number("0") {
				return
			}
		}
	}
	if seconds, is := secondsOf(said); is {
		made["expires_in"] = seconds
	}
}

// secondsOf is how long a token is valid. False: it is not known.
func secondsOf(said any) (float64, bool) {
	var seconds float64
	switch said := said.(type) {
	case json.Number:
		seconds, _ = said.Float64()
	case string:
		var err error
		if !secondsForm.MatchString(said) {
			return 0, false
		}
		if seconds, err = strconv.ParseFloat(strings.TrimSpace(said), 64); err != nil {
			return 0, false
		}
	case float64:
		seconds = said
	case int:
		seconds = float64(said)
	case int64:
		seconds = float64(said)
	default:
		return 0, false
	}
	return seconds, !math.IsNaN(seconds) && seconds >= 0 && seconds <= limits.TokenLifetimeMaxS
}

// lifetimeOf is in milliseconds. Nil: not known.
func lifetimeOf(of tokens) *int64 {
	if seconds, is := secondsOf(of["expires_in"]); is {
		ms := int64(seconds * 1000)
		return &ms
	}
	return nil
}

// detailOf is the provider's code of an error, or what came instead of one.
func detailOf(from *answer, content any, otherwise string) string {
	members, _ := content.(map[string]any)
	if code, _ := members["error"].(string); codeForm.MatchString(code) {
		return fmt.Sprintf("%s, status %d", code, from.status)
	}
	shape := typeForm.FindString(from.contentType)
	if shape == "" {
		shape = "no known type"
	}
	var names []string
	for name := range members {
		if codeForm.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	with := ""
	if len(names) > 0 {
		with = " with " + strings.Join(names[:min(limits.AccountNamesMax, len(names))], ", ")
	}
	return fmt.Sprintf("%s, status %d, %s%s", otherwise, from.status, shape, with)
}

// scopesOf are those of an answer.
func scopesOf(of tokens) []string {
	text, _ := of["scope"].(string)
	return slices.DeleteFunc(scopeEnds.Split(strings.ToValidUTF8(text, "?"), -1), func(scope string) bool { return scope == "" })
}

// findIn is what a JSON pointer names (RFC 6901), without lists of the index "-". Nil: nothing.
func findIn(document any, pointer string) any {
	if pointer == "" {
		return document
	}
	for _, step := range strings.Split(pointer, "/")[1:] {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch at := document.(type) {
		case map[string]any:
			document = at[name]
		case []any:
			index, err := strconv.ParseUint(name, 10, 31)
			if err != nil || int(index) >= len(at) {
				return nil
			}
			document = at[index]
		default:
			return nil
		}
	}
	return document
}

// findText is a text or a whole number, as text. Empty: there is none.
func findText(document any, pointer string) string {
	if pointer == "" {
		return ""
	}
	switch found := findIn(document, pointer).(type) {
	case string:
		return found
	case json.Number:
		if wholeForm.MatchString(found.String()) {
			return found.String()
		}
	}
	return ""
}
