// SPDX-License-Identifier: MIT

package vault

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestClaimsOfAnIDToken(t *testing.T) {
	text, err := os.ReadFile("../../../tests/vectors/id-tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		What    string
		Claims  map[string]any
		At      map[string]float64
		Without []string
		Refused bool
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "{client}", "a client")), &cases); err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	now := time.Now()
	for _, each := range cases {
		claims := map[string]any{"iss": "https://id.example", "aud": "a client", "sub": "ada"}
		in := func(name string, seconds float64) {
			claims[name] = json.Number(strconv.FormatFloat(float64(now.Unix())+seconds, 'f', 1, 64))
		}
		in("iat", 0)
		in("exp", 60)
		for name, value := range each.Claims {
			claims[name] = value
		}
		for name, seconds := range each.At {
			in(name, seconds)
		}
		for _, name := range each.Without {
			delete(claims, name)
		}
		if areClaims(claims, "https://id.example", "a client", "", now) == each.Refused {
			t.Errorf("%s: refused is %t", each.What, !each.Refused)
		}
	}
}
