// SPDX-License-Identifier: MIT

package urlmode

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

// The forms of texts that have a name. lib/PROTOCOL.md says what each one is, and the callback programs take the same.

// formats are the only characters that a text of one line has, if its field says so.
var formats = map[FieldFormat]*regexp.Regexp{
	DigitsFormat:       regexp.MustCompile(`^[0-9]*$`),
	LettersFormat:      regexp.MustCompile(`^[A-Za-z]*$`),
	AlphanumericFormat: regexp.MustCompile(`^[0-9A-Za-z]*$`),
	HexFormat:          regexp.MustCompile(`^[0-9A-Fa-f]*$`),
	TokenFormat:        regexp.MustCompile(`^[!-~]*$`),
}

// formFormats are those of lib/contract/form.schema.json: each says what is wrong with a value, or nothing.
var formFormats = map[string]func(any) string{
	"line":  func(value any) string { return faultInText(value, "") },
	"lines": func(value any) string { return faultInText(value, "\n") },
	"text":  func(value any) string { return faultInText(value, "\n\t") },
	"trimmed": func(value any) string { // The page trims what is sent.
		isTrimmed := strings.Trim(value.(string), " ") == value
		return cmp.Or(faultInText(value, ""), unless(isTrimmed, texts.MustBeTrimmed))
	},
	"name": func(value any) string {
		return unless(fieldName.MatchString(value.(string)), texts.MustBeFieldName)
	},
	"link": func(value any) string {
		return unless(isLink(value.(string)), texts.MustBeLink)
	},
	"email": func(value any) string {
		return unless(emailForm.MatchString(value.(string)), texts.MustBeEmail)
	},
	"url": func(value any) string {
		return cmp.Or(faultInText(value, ""), unless(urlForm.MatchString(value.(string)), texts.MustBeURL))
	},
	"short": func(value any) string {
		return unless(isShortNumber(value.(float64)), texts.MustBeShort)
	},
}

const (
	hostLabel = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`
	ipv4Byte  = `(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
)

var (
	fieldName = regexp.MustCompile(fmt.Sprintf(`^[a-z][a-z0-9_]{0,%d}$`, limits.FieldNameMax-1))
	// emailForm is as HTML defines a valid e-mail address. \x60 is a backquote.
	emailForm = regexp.MustCompile(`^[A-Za-z0-9_.!#$%&'*+/=?^\x60{|}~-]+@` + hostLabel + `(?:\.` + hostLabel + `)*$`)
	urlForm   = regexp.MustCompile(`^[Hh][Tt][Tt][Pp][Ss]?://[^/?#:@ ][^ ]*$`)

	// bidiControls change the order in which other characters are shown.
	bidiControls = regexp.MustCompile(`[\x{61c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
	controls     = regexp.MustCompile(`[\x00-\x1f\x7f-\x{9f}\x{2028}\x{2029}]`)

	linkForm     = regexp.MustCompile(`^https://(\[[0-9A-Fa-f:.]*\]|[A-Za-z0-9_.~!$&'()*+,;=-]+)(?::([0-9]{0,5}))?(?:[/?#][!-~]*)?$`)
	ipv4Form     = regexp.MustCompile(`^` + ipv4Byte + `(?:\.` + ipv4Byte + `){3}$`)
	ipv6Group    = regexp.MustCompile(`^[0-9A-Fa-f]{1,4}$`)
	numberedForm = regexp.MustCompile(`(?:^|\.)[0-9]+$`)
)

// isLink reports whether text can be the link of a field.
func isLink(text string) bool {
	parts := linkForm.FindStringSubmatch(text)
	if len(text) > limits.LinkMax || parts == nil {
		return false
	}
	host, port := parts[1], parts[2]
	if number, _ := strconv.Atoi(port); port != "" && (number < 1 || number > 65_535) {
		return false
	}
	if host[0] == '[' {
		return isIPv6(host[1 : len(host)-1])
	}
	name := strings.TrimSuffix(host, ".")
	return name != "" && (!numberedForm.MatchString(name) || ipv4Form.MatchString(name))
}

// isIPv6 reports whether text is an IPv6address of RFC 3986, section 3.2.2.
func isIPv6(text string) bool {
	parts := strings.Split(text, "::")
	before, ok := ipv6Groups(parts[0], len(parts) == 1)
	if len(parts) == 1 {
		return ok && before == 8
	}
	after, ends := ipv6Groups(parts[1], true)
	return ok && ends && len(parts) == 2 && before+after <= 7
}

// ipv6Groups counts the groups of a part. At its end, it can have an IPv4 address, which is two groups.
func ipv6Groups(text string, isEnd bool) (count int, ok bool) {
	if text == "" {
		return 0, true
	}
	groups := strings.Split(text, ":")
	if last := len(groups) - 1; isEnd && ipv4Form.MatchString(groups[last]) {
		groups = append(groups[:last], "0", "0")
	}
	for _, each := range groups {
		if !ipv6Group.MatchString(each) {
			return 0, false
		}
	}
	return len(groups), true
}

func unless(isRight bool, must string) string {
	if isRight {
		return ""
	}
	return must
}

// faultInText says what is wrong with the characters. allowed are control characters.
func faultInText(value any, allowed string) string {
	text := value.(string)
	without := strings.Map(func(r rune) rune {
		if strings.ContainsRune(allowed, r) {
			return -1
		}
		return r
	}, text)
	switch {
	case !utf8.ValidString(text):
		return texts.MustBeUnicode
	case controls.MatchString(without):
		return texts.HasControls
	}
	return unless(!bidiControls.MatchString(text), texts.HasDirections)
}

// isShortNumber reports whether a number has few digits as ECMAScript writes it, and no exponent.
func isShortNumber(value float64) bool {
	size := math.Abs(value)
	if size == 0 {
		return true
	}
	digits := strings.ReplaceAll(strconv.FormatFloat(size, 'f', -1, 64), ".", "")
	return size >= 1e-6 && size < 1e15 && len(digits) <= limits.DigitsMax
}
