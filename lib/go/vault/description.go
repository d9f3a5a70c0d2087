// SPDX-License-Identifier: MIT

package vault

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

// providersJSON has what this package needs of the descriptions in lib/providers. `make contract` writes it.
//
//go:embed providers.json
var providersJSON []byte

// description is the oauth part of a description (lib/providers/ACCOUNTS.md).
type description struct {
	Issuer          string              `json:"issuer,omitempty"`
	SendsIssuer     bool                `json:"authorization_response_iss_parameter_supported,omitempty"`
	Authorization   string              `json:"authorization_endpoint,omitempty"`
	Token           string              `json:"token_endpoint,omitempty"`
	Revocation      string              `json:"revocation_endpoint,omitempty"`
	Refresh         string              `json:"refresh_endpoint,omitempty"`
	Reusable        bool                `json:"refresh_token_stays_good,omitempty"`
	ReuseWithin     any                 `json:"reuse_within,omitempty"` // seconds, or "never"
	PKCE            string              `json:"pkce"`
	Method          string              `json:"token_endpoint_auth_method"`
	SignedSecret    *signedSecret       `json:"signed_secret,omitempty"`
	Names           map[string]string   `json:"parameter_names,omitempty"`
	TokenRequest    string              `json:"token_request,omitempty"`
	Scope           scopeRules          `json:"scope,omitzero"`
	Parameters      map[string]string   `json:"parameters,omitempty"`
	TokenParameters map[string]string   `json:"token_parameters,omitempty"`
	ResponseMode    string              `json:"response_mode,omitempty"`
	Variables       map[string]variable `json:"variables,omitempty"`
	TokenResponse   tokenRules          `json:"token_response,omitzero"`
	LongLived       *longLived          `json:"long_lived,omitempty"`
	Account         *accountSource      `json:"account,omitempty"`
}

type signedSecret struct {
	Issuer   string `json:"issuer"`
	Audience string `json:"audience"`
}

type scopeRules struct {
	Parameter string `json:"parameter,omitempty"`
	Separator string `json:"separator,omitempty"`
}

type variable struct {
	As      string   `json:"as"`
	Default string   `json:"default,omitempty"`
	Among   []string `json:"among,omitempty"`
	// Return is the parameter of the return in which the value comes.
	Return string `json:"return_parameter,omitempty"`
}

type tokenRules struct {
	Member       string   `json:"member,omitempty"`
	TokenType    string   `json:"token_type,omitempty"`
	InvalidGrant []string `json:"invalid_grant,omitempty"`
}

type longLived struct {
	Exchange lengthening  `json:"exchange"`
	Renewal  *lengthening `json:"renewal,omitempty"`
}

// lengthening is a request for a token that lives longer.
type lengthening struct {
	Method     string            `json:"method,omitempty"`
	Endpoint   string            `json:"endpoint"`
	Parameters map[string]string `json:"parameters"`
}

// accountSource is where it is said whose account it is.
type accountSource struct {
	From     string            `json:"from,omitempty"`
	Endpoint string            `json:"endpoint,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     json.RawMessage   `json:"body,omitempty"`
	ID       string            `json:"id"`
	Name     string            `json:"name,omitempty"`
}

const label = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`

var (
	// valueForms are what the value of a variable can be.
	valueForms = map[string]*regexp.Regexp{
		"label":  regexp.MustCompile(`^` + label + `$`),
		"labels": regexp.MustCompile(`^` + label + `(?:\.` + label + `)*$`),
		"url":    regexp.MustCompile(`^(https://[A-Za-z0-9_.~:-]+|http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?)(/[A-Za-z0-9_.~:/@-]*)?$`),
	}
	valueWords = map[string]string{
		"label": "letters, digits and hyphens", "labels": "letters, digits and hyphens, with dots between them",
		"url": texts.HTTPSWithoutQuery,
	}
	placeForm = regexp.MustCompile(`\{(\w+)\}`)
	scopeForm = regexp.MustCompile(`^[^\s",\\]+$`)
)

// refuse is about a mistake in a call or in the configuration, and names the argument.
func refuse(format string, values ...any) error {
	return urlmode.Failure(internals.Permit{}, urlmode.ErrArgument, fmt.Sprintf(format, values...), nil)
}

func readDescriptions() (map[string]description, error) {
	all := map[string]description{}
	err := json.Unmarshal(providersJSON, &all)
	return all, err
}

// checkGiven checks the values that there are. A call can give others.
func (d description) checkGiven(given map[string]string) error {
	for name, value := range given {
		each, is := d.Variables[name]
		switch {
		case !is:
			return refuse("Variables[%q] "+texts.VariableUnknown, name)
		case !each.takes(value):
			return refuse("Variables[%q] must be %s", name, valueWords[each.As])
		case each.Among != nil && !slices.Contains(each.Among, value):
			return refuse("Variables[%q] "+texts.MustBeOneOf, name, strings.Join(each.Among, ", "))
		}
	}
	return nil
}

// fillIn is the description with its variables filled in.
func (d description) fillIn(given map[string]string) (description, error) {
	if err := d.checkGiven(given); err != nil {
		return d, err
	}
	values := map[string]string{}
	for name, each := range d.Variables {
		if values[name] = each.Default; given[name] != "" {
			values[name] = given[name]
		}
		if values[name] == "" {
			return d, refuse("Variables[%q] is required", name)
		}
	}
	fill := func(template string) string {
		return placeForm.ReplaceAllStringFunc(template, func(place string) string { return values[place[1:len(place)-1]] })
	}
	for _, each := range []*string{&d.Issuer, &d.Authorization, &d.Token, &d.Revocation, &d.Refresh} {
		*each = fill(*each)
	}
	if d.Account != nil {
		filled := *d.Account
		filled.Endpoint = fill(filled.Endpoint)
		d.Account = &filled
	}
	if d.SignedSecret != nil {
		filled := *d.SignedSecret
		filled.Issuer = fill(filled.Issuer)
		d.SignedSecret = &filled
	}
	if d.LongLived != nil {
		filled := *d.LongLived
		filled.Exchange.Endpoint = fill(filled.Exchange.Endpoint)
		if filled.Renewal != nil {
			renewal := *filled.Renewal
			renewal.Endpoint = fill(renewal.Endpoint)
			filled.Renewal = &renewal
		}
		d.LongLived = &filled
	}
	return d, nil
}

func (v variable) takes(value string) bool {
	if form := valueForms[v.As]; form == nil || !form.MatchString(value) {
		return false
	}
	if v.As != "url" {
		return len(value) <= limits.AccountHostMax
	}
	parts, err := url.Parse(value)
	return err == nil && parts.Hostname() != "" && parts.Port() != "0"
}

// fromReturn are the variables that come back with the user: the host of the token endpoint, where a provider has several. The
// browser says them, so only those that the description names are taken. wrong is the parameter with another.
func (d description) fromReturn(returned map[string]string) (found map[string]string, wrong string) {
	found = map[string]string{}
	for name, each := range d.Variables {
		value, is := returned[each.Return]
		if each.Return == "" || !is {
			continue
		}
		host := strings.TrimSuffix(strings.TrimPrefix(value, "https://"), "/")
		if !slices.Contains(each.Among, host) {
			return nil, each.Return
		}
		found[name] = host
	}
	return found, ""
}

// isDiscovered reports whether the metadata are those that the provider publishes, with the keys with which id tokens are verified.
func (d description) isDiscovered() bool { return d.Token == "" }

// isReusable reports whether a refresh token can be used again, also if nobody knows what was answered to its use.
func (d description) isReusable() bool {
	return d.Reusable || d.LongLived != nil && d.LongLived.Renewal != nil
}

func checkParameters(parameters map[string]string) error {
	for name, value := range parameters {
		if slices.Contains(takenParameters, name) {
			return refuse("Parameters[%q] comes from elsewhere", name)
		}
		if value == "" || len(value) > limits.AccountParameterMax || strings.Contains(value, "\x00") {
			return refuse("Parameters[%q] must have 1 to %d bytes", name, limits.AccountParameterMax)
		}
	}
	return nil
}

func checkScopes(name string, scopes []string) error {
	for _, each := range scopes {
		if !scopeForm.MatchString(each) {
			return refuse("%s "+texts.MustBeScopes, name)
		}
	}
	return nil
}
