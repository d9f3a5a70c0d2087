// SPDX-License-Identifier: MIT

package urlmode

import (
	"fmt"
	"regexp"
	"strconv"
)

// The patterns of fields are a subset of JavaScript's regular expressions that is matched in a time proportional to the
// value (lib/PROTOCOL.md). What the subset has means the same in package regexp. The whole value must match.
//
//	pattern   sequence { "|" sequence }
//	sequence  item [ count ] { item [ count ] }
//	item      literal, escaped punctuation or class
//	class     "[" character [ "-" character ] … "]"
//	count     "?", "*", "+", "{n}", "{n,}" or "{n,m}"
const (
	patternMax   = 200
	countMax     = 255
	positionsMax = 256
)

var (
	patternForm  = regexp.MustCompile(`^[ -~]+$`)
	patternItem  = regexp.MustCompile("^(?:\\[((?:[^\\\\[\\]^]|\\\\[\\\\\\][^-])+)\\]|[^\\\\.*+?()[\\]{}|^$]|\\\\[!-/:-@[-`{-~])")
	patternCount = regexp.MustCompile(`^(?:[?*+]|\{([0-9]{1,3})(?:(,)([0-9]{1,3})?)?\})`)
	classMember  = regexp.MustCompile(`^(\\?.)(?:-(\\?.))?`)
)

// parsePattern returns the pattern, or what is wrong with it, as the end of a sentence.
func parsePattern(pattern string) (parsed *regexp.Regexp, fault string) {
	if len(pattern) > patternMax || !patternForm.MatchString(pattern) {
		return nil, fmt.Sprintf("must have 1 to %d printable characters of ASCII", patternMax)
	}
	isEmpty, positions := true, 0
	for at := 0; at < len(pattern); {
		if pattern[at] == '|' && !isEmpty {
			isEmpty = true
			at++
			continue
		}
		item := patternItem.FindStringSubmatch(pattern[at:])
		if item == nil || item[1] != "" && !isClass(item[1]) {
			return nil, faultAt(at)
		}
		at += len(item[0])
		count := patternCount.FindStringSubmatch(pattern[at:])
		most, ok := positionsOf(count)
		if !ok {
			return nil, faultAt(at)
		}
		if count != nil {
			at += len(count[0])
		}
		positions += most
		isEmpty = false
	}
	if isEmpty {
		return nil, faultAt(len(pattern) - 1)
	}
	if positions > positionsMax {
		return nil, fmt.Sprintf("must have at most %d positions, counted with their greatest count", positionsMax)
	}
	parsed, err := regexp.Compile(`^(?:` + pattern + `)$`)
	if err != nil {
		return nil, "must be a regular expression"
	}
	return parsed, ""
}

func faultAt(at int) string {
	return fmt.Sprintf("is not of the allowed kind from character %d on: no groups, “.”, “^”, “$” or “\\d”", at+1)
}

// isClass: the members of a class, between its brackets, are allowed.
func isClass(members string) bool {
	for at := 0; at < len(members); {
		member := classMember.FindStringSubmatch(members[at:])
		if member == nil {
			return false
		}
		first, last := member[1], member[2]
		isEdge := at == 0 || at+1 == len(members)
		// A hyphen that is not escaped stands for itself, and only at the beginning or end.
		if last == "-" || first == "-" && (!isEdge || last != "") {
			return false
		}
		if last != "" && first[len(first)-1] > last[len(last)-1] {
			return false
		}
		at += len(member[0])
	}
	return true
}

// positionsOf is how many positions an item takes with its count, if that is allowed.
func positionsOf(count []string) (positions int, ok bool) {
	if count == nil || count[1] == "" {
		return 1, true
	}
	least, _ := strconv.Atoi(count[1])
	if count[2] != "" && count[3] == "" {
		return max(least, 1), least <= countMax
	}
	most := least
	if count[3] != "" {
		most, _ = strconv.Atoi(count[3])
	}
	return most, most >= max(least, 1) && most <= countMax
}
