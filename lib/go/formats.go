// SPDX-License-Identifier: MIT

package urlmode

import (
	"regexp"
	"strconv"
	"strings"
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

const (
	linkMax  = 2_048
	ipv4Byte = `(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
)

var (
	linkForm     = regexp.MustCompile(`^https://(\[[0-9A-Fa-f:.]*\]|[A-Za-z0-9_.~!$&'()*+,;=-]+)(?::([0-9]{0,5}))?(?:[/?#][!-~]*)?$`)
	ipv4Form     = regexp.MustCompile(`^` + ipv4Byte + `(?:\.` + ipv4Byte + `){3}$`)
	ipv6Group    = regexp.MustCompile(`^[0-9A-Fa-f]{1,4}$`)
	numberedForm = regexp.MustCompile(`(?:^|\.)[0-9]+$`)
)

// isLink reports whether text can be the link of a field.
func isLink(text string) bool {
	parts := linkForm.FindStringSubmatch(text)
	if len(text) > linkMax || parts == nil {
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
