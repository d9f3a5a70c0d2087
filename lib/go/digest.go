// SPDX-License-Identifier: MIT

package urlmode

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/seals"
	"urlmode.example/urlmode/internal/texts"
)

// digestOfRequest is what a call asks for (PROTOCOL.md, "What a call asks for"). A later
// call goes on with an earlier elicitation only if both ask for the same.
// mcpClient is empty where the client is not compared. An item, which may be empty, takes the place of the price.
func digestOfRequest(provider string, kind Kind, expected Expected, item string, asked map[string]any, mcpClient string) ([]byte, error) {
	request := map[string]any{"provider": provider, "kind": string(kind)}
	switch {
	case item != "":
		request["item"] = item
	case kind == Payment:
		request["expected"] = expected.members()
	}
	if asked != nil {
		request["about"] = asked
	}
	if mcpClient != "" {
		request["mcp_client"] = mcpClient
	}
	text, err := canonicalJSON(request)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(seals.RequestLabel + "\x00" + text))
	return sum[:16], nil
}

// DefaultResumeKey is the resume key of a tool that gives none: its provider and its kind. What else it asks for is compared
// beside it. A payment or signature is found by its item, and by this key, which is made of the message to its user and the price,
// where an older version has created it.
func DefaultResumeKey(provider string, kind Kind, message string, expected Expected) string {
	if !kind.hasItem() {
		return provider + " " + string(kind)
	}
	question := []any{message, nil, nil}
	switch {
	case kind != Payment:
	case expected.Any:
		question = []any{message, "any"}
	case !expected.hasPrice():
	default:
		question = []any{message, expected.Amount, expected.Currency}
	}
	text, err := canonicalJSON(question)
	if err != nil {
		text = message // only for an amount that Create refuses
	}
	sum := sha256.Sum256([]byte(text))
	return provider + " " + string(kind) + " " + base64.RawURLEncoding.EncodeToString(sum[:])
}

// canonicalJSON writes JSON in the canonical form of RFC 8785. Nil is null, and is kept.
func canonicalJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", argumentError("About must be plain JSON")
	}
	if hasLoneSurrogate(text) {
		return "", argumentError(texts.AboutSurrogate)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return "", argumentError("About must be plain JSON")
	}
	var out strings.Builder
	if err := writeCanonical(&out, plain); err != nil {
		return "", err
	}
	return out.String(), nil
}

// hasLoneSurrogate finds the escape of half a pair in JSON, as a json.RawMessage may have it. A decoder would replace it.
func hasLoneSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		unit, ok := escaped(text, i)
		if !ok || !utf16.IsSurrogate(unit) {
			continue
		}
		other, ok := escaped(text, i+6)
		if !ok || text[i+5] != '\\' || utf16.DecodeRune(unit, other) == utf8.RuneError {
			return true
		}
		i += 10
	}
	return false
}

// escaped is the code unit of \uXXXX, whose u is at i.
func escaped(text []byte, i int) (rune, bool) {
	if i+5 > len(text) || text[i] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[i+1:i+5]), 16, 16)
	return rune(unit), err == nil
}

func writeCanonical(out *strings.Builder, value any) error {
	switch value := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		out.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				out.WriteByte(',')
			}
			writeText(out, name)
			out.WriteByte(':')
			if err := writeCanonical(out, value[name]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, element := range value {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeCanonical(out, element); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case string:
		writeText(out, value)
	case bool:
		out.WriteString(strconv.FormatBool(value))
	case json.Number:
		return writeNumber(out, value)
	default:
		out.WriteString("null")
	}
	return nil
}

func writeText(out *strings.Builder, text string) {
	const short = "\b\t\n\f\r\"\\"
	out.WriteByte('"')
	for _, r := range text {
		if i := strings.IndexRune(short, r); i >= 0 {
			out.WriteByte('\\')
			out.WriteByte(`btnfr"\`[i])
		} else if r < 0x20 {
			out.WriteString(`\u00`)
			out.WriteByte("01"[r>>4])
			out.WriteByte("0123456789abcdef"[r&15])
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

// writeNumber writes a number as ECMAScript does (RFC 8785 section 3.2.2.3).
func writeNumber(out *strings.Builder, number json.Number) error {
	value, err := number.Float64()
	isWhole := !strings.ContainsAny(number.String(), ".eE")
	if err != nil || isWhole && math.Abs(value) > limits.SafeInteger && strconv.FormatFloat(value, 'f', -1, 64) != number.String() {
		return argumentError("a number of About must be one that a float64 holds exactly")
	}
	if value == 0 {
		out.WriteByte('0')
		return nil
	}
	text := strconv.FormatFloat(math.Abs(value), 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits := strings.ReplaceAll(mantissa, ".", "")
	power, _ := strconv.Atoi(exponent)
	point := power + 1
	if value < 0 {
		out.WriteByte('-')
	}
	switch {
	case point > 21 || point <= -6:
		out.WriteString(digits[:1])
		if len(digits) > 1 {
			out.WriteString("." + digits[1:])
		}
		out.WriteByte('e')
		if power > 0 {
			out.WriteByte('+')
		}
		out.WriteString(strconv.Itoa(power))
	case point <= 0:
		out.WriteString("0." + strings.Repeat("0", -point) + digits)
	case point < len(digits):
		out.WriteString(digits[:point] + "." + digits[point:])
	default:
		out.WriteString(digits + strings.Repeat("0", point-len(digits)))
	}
	return nil
}
