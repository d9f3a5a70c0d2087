// SPDX-License-Identifier: MIT

package urlmode

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The limits of PROTOCOL.md, "Forms". Texts are counted in characters, which are Unicode's code points.
const (
	formMax        = 16_384 // bytes as JSON
	problemMax     = 8_192  // bytes as JSON
	titleMax       = 120
	textMax        = 2_000
	fieldsMax      = 16
	factsMax       = 20
	factLabelMax   = 120
	factValueMax   = 500
	approversMax   = 16
	labelMax       = 200
	helpMax        = 500
	linkLabelMax   = 120
	choicesMax     = 20
	choiceBytesMax = 200
	digitsMax      = 15
)

// languages are those of the pages: lib/pages has a file for each.
var languages = []string{"ar", "de", "en", "es", "fr", "it", "ja", "ko", "pt", "zh"}

const (
	// spaces are what String.prototype.trim of JavaScript removes, as the callback programs do.
	spaces = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

	hostLabel = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`
)

var (
	fieldName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

	// As HTML defines a valid e-mail address, and as the callback programs take it. \x60 is a backquote.
	emailForm = regexp.MustCompile(`^[A-Za-z0-9_.!#$%&'*+/=?^\x60{|}~-]+@` + hostLabel + `(?:\.` + hostLabel + `)*$`)
	// As the callback programs take it.
	urlForm = regexp.MustCompile(`^[Hh][Tt][Tt][Pp][Ss]?://[^/?#:@ ][^ ]*$`)

	// bidiControls change the order in which other characters are shown.
	bidiControls = regexp.MustCompile(`[\x{61c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
	controls     = regexp.MustCompile(`[\x00-\x1f\x7f-\x{9f}\x{2028}\x{2029}]`)
)

// fieldFacts are what a type has beside the common members, and for a text the greatest length and that by default.
type fieldFacts struct {
	members        []string
	longest, usual int
}

var fieldTypes = map[FieldType]fieldFacts{
	TextField:      {[]string{"min", "max", "format", "default"}, 8_192, 1_000},
	SecretField:    {[]string{"min", "max", "format", "multiline"}, 8_192, 1_000},
	MultilineField: {[]string{"min", "max", "default"}, 8_192, 8_192},
	EmailField:     {[]string{"min", "max", "default"}, 254, 254},
	URLField:       {[]string{"min", "max", "default"}, 2_048, 2_048},
	NumberField:    {members: []string{"min", "max", "default"}},
	ChoiceField:    {members: []string{"choices", "default"}},
	CheckboxField:  {members: []string{"default"}},
}

// wrong is a mistake in a form. pointer is of the value in the form (RFC 6901), and format what it must be.
func wrong(pointer, format string, values ...any) error {
	return argumentError("form%s %s", pointer, fmt.Sprintf(format, values...))
}

// check returns the form as JSON.
func (f InputForm) check() ([]byte, error) {
	if err := checkHead(f.Language, f.Title, f.Text); err != nil {
		return nil, err
	}
	if len(f.Fields) < 1 || len(f.Fields) > fieldsMax {
		return nil, wrong("/fields", "must have 1 to %d elements", fieldsMax)
	}
	names := map[string]bool{}
	for i, each := range f.Fields {
		at := fmt.Sprintf("/fields/%d", i)
		if err := each.check(at); err != nil {
			return nil, err
		}
		if names[each.Name] {
			return nil, wrong(at+"/name", "must not occur twice")
		}
		names[each.Name] = true
	}
	if err := checkFacts(f.Facts); err != nil {
		return nil, err
	}
	return formJSON(f)
}

// check returns the form as JSON.
func (f ApprovalForm) check() ([]byte, error) {
	if err := cmp.Or(checkHead(f.Language, f.Title, f.Text), checkFacts(f.Facts)); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"", "optional", "required"}, f.Comment) {
		return nil, wrong("/comment", "must be optional or required")
	}
	return formJSON(f)
}

func formJSON(form any) ([]byte, error) {
	text, err := toJSON(form)
	if err != nil {
		return nil, wrong("", "must be such as JSON can write")
	}
	if len(text) > formMax {
		return nil, wrong("", "must have at most %d bytes as JSON, and has %d", formMax, len(text))
	}
	return text, nil
}

func checkHead(language string, title, text Words) error {
	if language != "" && !slices.Contains(languages, language) {
		return wrong("/language", "must be one of %s", strings.Join(languages, ", "))
	}
	return cmp.Or(checkWords(title, "/title", titleMax), checkOptional(text, "/text", textMax))
}

func checkFacts(facts []Fact) error {
	if len(facts) > factsMax {
		return wrong("/facts", "must have at most %d elements", factsMax)
	}
	for i, each := range facts {
		at := fmt.Sprintf("/facts/%d", i)
		if err := cmp.Or(checkWords(each.Label, at+"/label", factLabelMax), checkLines(each.Value, at+"/value", factValueMax)); err != nil {
			return err
		}
	}
	return nil
}

func checkWords(words Words, pointer string, most int) error {
	return checkEach(words, pointer, most, "")
}

// checkLines: the words may have several lines.
func checkLines(words Words, pointer string, most int) error {
	return checkEach(words, pointer, most, "\n")
}

func checkOptional(words Words, pointer string, most int) error {
	if words == nil {
		return nil
	}
	return checkLines(words, pointer, most)
}

// checkEach checks the text in each language. allowed are control characters.
func checkEach(words Words, pointer string, most int, allowed string) error {
	if len(words) == 0 {
		return wrong(pointer, "must have a text in at least one language")
	}
	for _, language := range slices.Sorted(maps.Keys(words)) {
		text, at := words[language], pointer
		if !words.isPlain() {
			if !slices.Contains(languages, language) {
				return wrong(pointer, "has a text in “%s”. The pages have the languages %s", language, strings.Join(languages, ", "))
			}
			at += "/" + language
		}
		if length := utf8.RuneCountInString(text); length < 1 || length > most {
			return wrong(at, "must have 1 to %d characters", most)
		}
		if err := checkCharacters(text, at, allowed); err != nil {
			return err
		}
	}
	return nil
}

func checkCharacters(text, pointer, allowed string) error {
	without := strings.Map(func(r rune) rune {
		if strings.ContainsRune(allowed, r) {
			return -1
		}
		return r
	}, text)
	switch {
	case !utf8.ValidString(text):
		return wrong(pointer, "must be valid Unicode text")
	case controls.MatchString(without):
		return wrong(pointer, "must not have control characters")
	case bidiControls.MatchString(text):
		return wrong(pointer, "must not have characters that change the direction of text")
	}
	return nil
}

func (f Field) check(at string) error {
	if !fieldName.MatchString(f.Name) {
		return wrong(at+"/name", "must begin with a letter and have at most 32 characters of a-z, 0-9 and _")
	}
	facts, isKnown := fieldTypes[f.Type]
	switch {
	case !isKnown:
		return wrong(at+"/type", "must be one of text, secret, multiline, email, url, number, choice, checkbox")
	case f.Type == SecretField && f.Default != nil:
		return wrong(at+"/default", "is not allowed: a secret has no default")
	}
	for _, member := range []struct {
		name    string
		isGiven bool
	}{{"multiline", f.Multiline}, {"min", f.Min != nil}, {"max", f.Max != nil}, {"format", f.Format != ""},
		{"choices", len(f.Choices) > 0}, {"default", f.Default != nil}} {
		if member.isGiven && !slices.Contains(facts.members, member.name) {
			return wrong(at+"/"+member.name, "is not allowed for type %s", f.Type)
		}
	}
	if err := cmp.Or(checkWords(f.Label, at+"/label", labelMax), checkOptional(f.Help, at+"/help", helpMax), f.Link.check(at+"/link")); err != nil {
		return err
	}
	switch f.Type {
	case NumberField:
		return f.checkNumber(at)
	case ChoiceField:
		return f.checkChoices(at)
	case CheckboxField:
		if _, isBool := f.Default.(bool); f.Default != nil && !isBool {
			return wrong(at+"/default", "must be true or false")
		}
		return nil
	}
	return f.checkText(at, facts)
}

func (l *FieldLink) check(at string) error {
	if l == nil {
		return nil
	}
	if !isLink(l.URL) {
		return wrong(at+"/url", "must be a URL with https, without a user name, of at most %d bytes", linkMax)
	}
	return checkWords(l.Label, at+"/label", linkLabelMax)
}

func (f Field) checkText(at string, facts fieldFacts) error {
	isMultiline := f.Type == MultilineField || f.Multiline
	least, most := 0, facts.usual
	if isMultiline {
		most = facts.longest
	}
	for _, bound := range []struct {
		name  string
		given *float64
		is    *int
	}{{"min", f.Min, &least}, {"max", f.Max, &most}} {
		if bound.given == nil {
			continue
		}
		if value := *bound.given; value != math.Trunc(value) || value < 0 || value > float64(facts.longest) {
			return wrong(at+"/"+bound.name, "must be a whole number from 0 to %d", facts.longest)
		}
		*bound.is = int(*bound.given)
	}
	switch {
	case least > most:
		return wrong(at+"/max", "must not be less than min: it is %d", most)
	case most == 0:
		return wrong(at+"/max", "must be at least 1")
	}
	if f.Format != "" {
		if isMultiline {
			return wrong(at+"/format", "is not allowed for several lines")
		}
		if formats[f.Format] == nil {
			return wrong(at+"/format", "must be one of digits, letters, alphanumeric, hex, token")
		}
	}
	if f.Default == nil {
		return nil
	}
	text, _ := f.Default.(string)
	if fault := faultInDefault(text, f.Type, least, most, f.Format); fault != "" {
		return wrong(at+"/default", "%s", fault)
	}
	allowed := ""
	if isMultiline {
		allowed = "\n\t"
	}
	return checkCharacters(text, at+"/default", allowed)
}

func faultInDefault(text string, of FieldType, least, most int, format FieldFormat) string {
	length := utf8.RuneCountInString(text)
	switch {
	case text == "":
		return "must be a string that is not empty"
	case length < least || length > most:
		return fmt.Sprintf("must have %d to %d characters, as the field says", least, most)
	case of != MultilineField && strings.Trim(text, spaces) != text:
		return "must not begin or end with a space"
	case of == EmailField && !emailForm.MatchString(text):
		return "must be an email address"
	case of == URLField && !urlForm.MatchString(text):
		return "must be a URL with https or http"
	case format != "" && !formats[format].MatchString(text):
		return "must have the format " + string(format)
	}
	return ""
}

func (f Field) checkNumber(at string) error {
	least, most := math.Inf(-1), math.Inf(1)
	given, hasDefault := numberOf(f.Default)
	if f.Default != nil && (!hasDefault || !isShortNumber(given)) {
		return wrong(at+"/default", "must be a number of at most %d digits", digitsMax)
	}
	for _, bound := range []struct {
		name  string
		given *float64
		is    *float64
	}{{"min", f.Min, &least}, {"max", f.Max, &most}} {
		if bound.given == nil {
			continue
		}
		if *bound.is = *bound.given; !isShortNumber(*bound.given) {
			return wrong(at+"/"+bound.name, "must be a number of at most %d digits", digitsMax)
		}
	}
	switch {
	case least > most:
		return wrong(at+"/max", "must not be less than min")
	case hasDefault && (given < least || given > most):
		return wrong(at+"/default", "must be from min to max")
	}
	return nil
}

func numberOf(value any) (number float64, is bool) {
	switch value := value.(type) {
	case int:
		return float64(value), true
	case float64:
		return value, true
	}
	return 0, false
}

// isShortNumber: it has few digits as ECMAScript writes it, and no exponent.
func isShortNumber(value float64) bool {
	size := math.Abs(value)
	if size == 0 {
		return true
	}
	digits := strings.ReplaceAll(strconv.FormatFloat(size, 'f', -1, 64), ".", "")
	return size >= 1e-6 && size < 1e15 && len(digits) <= digitsMax
}

func (f Field) checkChoices(at string) error {
	if len(f.Choices) < 1 || len(f.Choices) > choicesMax {
		return wrong(at+"/choices", "must have 1 to %d elements", choicesMax)
	}
	values := map[string]bool{}
	for i, each := range f.Choices {
		of := fmt.Sprintf("%s/choices/%d", at, i)
		switch {
		case each.Value == "" || len(each.Value) > choiceBytesMax:
			return wrong(of+"/value", "must be a string of 1 to %d bytes", choiceBytesMax)
		case strings.Trim(each.Value, " ") != each.Value: // The page trims what is sent.
			return wrong(of+"/value", "must not begin or end with a space")
		case values[each.Value]:
			return wrong(of+"/value", "must not occur twice")
		}
		if err := cmp.Or(checkCharacters(each.Value, of+"/value", ""), checkWords(each.Label, of+"/label", labelMax)); err != nil {
			return err
		}
		values[each.Value] = true
	}
	if text, isText := f.Default.(string); f.Default != nil && !(isText && values[text]) {
		return wrong(at+"/default", "must be one of the choices")
	}
	return nil
}
