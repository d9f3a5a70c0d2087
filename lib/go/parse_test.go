// SPDX-License-Identifier: MIT

package urlmode

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/seals"
)

func digest256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func secret(size int) string { return base64.StdEncoding.EncodeToString(make([]byte, size)) }

func TestKeys(t *testing.T) {
	good := "# comment\r\n\n \t7\t" + secret(32) + " \r\n0 " + strings.TrimRight(secret(256), "=") + "\n"
	ring, err := parseKeys(good, "keys")
	if err != nil || len(ring) != 2 || ring.minting().kid != 7 || ring.find(0) == nil || ring.find(1) != nil {
		t.Fatalf("the keys are %v, %v", ring, err)
	}
	for text, reason := range map[string]string{
		"":                                   "keys: the file contains no key",
		"1":                                  "keys:1: the line must be",
		"1 " + secret(32) + " x":             "keys:1: the line must be",
		"256 " + secret(32):                  "keys:1: the kid",
		"-1 " + secret(32):                   "keys:1: the kid",
		"1 " + secret(31):                    "keys:1: the key must have at least 32",
		"1 " + secret(257):                   "keys:1: the key must be base64",
		"1 " + secret(32) + "=":              "keys:1: the key must be base64",
		"1 " + strings.Repeat("A", 42) + "B": "keys:1: the key must be base64",
		"\n1 " + secret(32) + "\n1 " + secret(33):        "keys:3: kid 1 is used twice",
		"1 " + strings.Repeat("A", limits.KeysFileMax+2): "keys: a line is too long",
	} {
		if _, err := parseKeys(text, "keys"); !errors.Is(err, ErrKeysFile) || !strings.HasPrefix(err.Error(), reason) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestKeysFileIsNoticedWhenItChanges(t *testing.T) {
	name := filepath.Join(t.TempDir(), "keys")
	write := func(mode os.FileMode, text string) {
		t.Helper()
		// As an editor does: another file in its place.
		if err := os.WriteFile(name+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name+".new", mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	log := &lines{}
	if _, err := openKeysFile(name, log.logger()); !errors.Is(err, ErrKeysFile) {
		t.Fatalf("without a file: %v", err)
	}
	write(0o604, "1 "+secret(32))
	if _, err := openKeysFile(name, log.logger()); err == nil || !strings.Contains(err.Error(), "chmod o=") {
		t.Fatalf("a file that others can read: %v", err)
	}
	write(0o600, "1 "+secret(32))
	file, err := openKeysFile(name, log.logger())
	if err != nil {
		t.Fatal(err)
	}
	later := func() {
		file.mu.Lock()
		defer file.mu.Unlock()
		file.checkedAt = file.checkedAt.Add(-2 * limits.KeysCheck)
	}
	write(0o600, "2 "+secret(32)+"\n1 "+secret(32))
	file.checkedAt = time.Now().Add(time.Hour) // just now, however slow the machine is
	if file.minting().kid != 1 {
		t.Fatal("the file is read more than once a second")
	}
	file.checkedAt = time.Now()
	if file.find(2) == nil {
		t.Fatal("an unknown key is no reason to read the file")
	}
	later()
	if file.minting().kid != 2 {
		t.Fatal("the change is not noticed")
	}
	write(0o644, "3 "+secret(32))
	for range 3 {
		later()
		if file.minting().kid != 2 {
			t.Fatal("a file that others can read is taken")
		}
	}
	if log.count("URLMODE_KEYS_FILE") == 0 {
		t.Fatal("nothing was logged")
	}
	os.Remove(name)
	later()
	if file.minting().kid != 2 {
		t.Fatal("the keys do not stay as they were")
	}
	write(0o600, "4 "+secret(32))
	later()
	if file.minting().kid != 4 {
		t.Fatal("the file that came back is not read")
	}
}

func TestNotifications(t *testing.T) {
	id := "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"
	one := `{"id":"` + id + `","status":"completed","late":true,"outcome":"AQ=="}`
	for text, wanted := range map[string][]notification{
		one: {{id, true, false, "AQ==", "completed"}},
		"[" + one + `,5,{"id":"` + id + `","refunded":true},null,{"id":5}]`: {{id, true, false, "AQ==", "completed"}, {id, false, true, "", ""}},
		`{"id":"` + id + `","outcome":5,"late":"yes"}`:                      {{id, false, false, "", ""}},
		"": {}, "{": {}, "null": {}, "[1]": {}, `"x"`: {}, "{}": {}, `{"id":"x"}`: {}, `{"id":"` + strings.ToUpper(id) + `"}`: {},
	} {
		got := parseNotifications([]byte(text))
		if len(got) != len(wanted) {
			t.Fatalf("%s: %v", text, got)
		}
		for i := range wanted {
			if got[i] != wanted[i] {
				t.Errorf("%s: %v", text, got)
			}
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("1 " + secret(32))
	f.Add("# c\n\n1 " + secret(32) + "\n2 " + secret(33))
	f.Fuzz(func(t *testing.T, text string) {
		ring, err := parseKeys(text, "keys")
		if (err == nil) != (len(ring) > 0) {
			t.Fatalf("%d keys, %v", len(ring), err)
		}
		for _, each := range ring {
			if len(each.secret) < limits.SecretMin || len(each.secret) > limits.SecretMax {
				t.Fatalf("a secret of %d bytes", len(each.secret))
			}
		}
	})
}

func FuzzState(f *testing.F) {
	ring := keyRing{{kid: 1, secret: make([]byte, 32)}}
	// The same in each process: the seeds come from another one.
	minted := mintState(ring[0], "return", "p", state{id: "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", expires: 1 << 40}, make([]byte, seals.NonceBytes))
	f.Add(minted)
	f.Add(strings.Repeat("A", 115))
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := openState(ring, "return", "p", text, time.Unix(0, 0)); err == nil && text != minted {
			t.Fatal("another text opens")
		}
	})
}

func FuzzLink(f *testing.F) {
	ring := keyRing{{kid: 1, secret: make([]byte, 32)}}
	minted := mintLink(ring[0], "connect", "p", "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11")
	f.Add(minted)
	f.Fuzz(func(t *testing.T, text string) {
		if _, _, err := openLink(ring, "connect", "p", text); err == nil && text != minted {
			t.Fatal("another text opens")
		}
	})
}

func FuzzOutcome(f *testing.F) {
	ring := keyRing{{kid: 1, secret: make([]byte, 32)}}
	k := rowKey{id: "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"}
	sealed := base64.StdEncoding.EncodeToString(seal(ring, useOutcome, k, []byte(`{"action":"accept","reason":""}`), make([]byte, seals.NonceBytes)))
	f.Add(sealed)
	f.Add("AgE=")
	f.Fuzz(func(t *testing.T, text string) {
		if openOutcome(ring, k, text) != nil && text != sealed {
			t.Fatal("another text opens")
		}
	})
}

func FuzzNotifications(f *testing.F) {
	f.Add([]byte(`[{"id":"6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11","status":"opened"}]`))
	form := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, each := range parseNotifications(payload) {
			if !form.MatchString(each.ID) {
				t.Fatalf("an id %q", each.ID)
			}
		}
	})
}

func FuzzCanonicalJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e-7,null,"\u000f"],"b":{"c":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var value any
		if json.Unmarshal(text, &value) != nil {
			return
		}
		once, err := canonicalJSON(value)
		if err != nil {
			return
		}
		var again any
		if err := json.Unmarshal([]byte(once), &again); err != nil {
			t.Fatalf("%s is no JSON: %v", once, err)
		}
		if twice, err := canonicalJSON(again); err != nil || twice != once {
			t.Fatalf("%s becomes %s, %v", once, twice, err)
		}
	})
}

func FuzzTarget(f *testing.F) {
	f.Add("https://p.example/authorize?client_id=a&scope=openid")
	f.Fuzz(func(t *testing.T, target string) {
		if checkTarget(Target{URL: target}, OAuth) != nil {
			return
		}
		if len(target) > limits.TargetURLMax || strings.ContainsAny(target, "\r\n \"<>#") || !strings.HasPrefix(strings.ToLower(target), "http") {
			t.Fatalf("%q is accepted", target)
		}
	})
}

func FuzzSealed(f *testing.F) {
	ring := keyRing{{kid: 1, secret: make([]byte, 32)}}
	k := rowKey{id: "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"}
	uses := []use{useResult, useVerifier, useFulfilled}
	for _, u := range uses {
		f.Add(seal(ring, u, k, []byte(`{"code":"c"}`), nil))
	}
	f.Fuzz(func(t *testing.T, sealed []byte) {
		opened := 0
		for _, u := range uses {
			var value map[string]any
			if err := unseal(ring, u, k, sealed, &value); err == nil {
				opened++
			} else if !errors.Is(err, ErrSeal) {
				t.Fatal(err)
			}
		}
		if opened > 1 {
			t.Fatal("one value opens for several uses")
		}
	})
}

func FuzzRequestState(f *testing.F) {
	m := offline(f)
	request := Request{Provider: "github", Kind: OAuth, Owner: Owner{"ada", "s"}}
	k := rowKey{"6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", bindingOf(request.Owner)}
	asked := m.elicitation(m.urls(k, "github", OAuth, time.Hour), placed{key: k, provider: "github", expiresAt: time.Now().Add(time.Hour)})
	made, err := m.RequestState(Retry{asked, 3}, request)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(made)
	f.Fuzz(func(t *testing.T, text string) {
		retry, err := m.OpenRequestState(text, request)
		if err != nil && !errors.Is(err, ErrRequestState) {
			t.Fatal(err)
		}
		if err == nil && (retry.Elicitation.ElicitationID != k.id || retry.Round < 1 || retry.Round > 9) {
			t.Fatalf("it opens as %+v", retry)
		}
	})
}

func FuzzTraceparent(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Fuzz(func(t *testing.T, text string) {
		if got := TraceparentOf(text); got != "" && (got != text || len(text) != 55 || strings.Trim(text, "0123456789abcdef-") != "") {
			t.Fatalf("%q is accepted", text)
		}
	})
}

func FuzzExpected(f *testing.F) {
	f.Add([]byte(`{"amount":1050,"currency":"EUR"}`))
	f.Add([]byte(`"any"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var expected, again Expected
		if json.Unmarshal(text, &expected) != nil {
			return
		}
		written, err := json.Marshal(expected)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &again); err != nil || again != expected && utf8.ValidString(expected.Currency) {
			t.Fatalf("%+v becomes %s, and %+v, %v", expected, written, again, err)
		}
		checked, err := checkExpected(expected, Payment)
		if err == nil && !checked.Any && (checked.Amount < 0 || len(checked.Currency) != 3) {
			t.Fatalf("%+v is accepted", checked)
		}
	})
}

// What is not accepted is not quoted: it may have the password.
func FuzzDatabaseURL(f *testing.F) {
	f.Add("postgresql://u:", "@127.0.0.1:1,127.0.0.1:2/x?target_session_attrs=any")
	f.Add("host=127.0.0.1 user=u password='", "' connect_timeout=3")
	f.Fuzz(func(t *testing.T, before, after string) {
		const password = "s3cr3t-of-the-database"
		opened, _, _, err := openPool(Config{DatabaseURL: before + password + after})
		if err == nil {
			opened.close()
		} else if strings.Contains(err.Error(), password) || !errors.Is(err, ErrArgument) {
			t.Fatal(err)
		}
	})
}

func FuzzBaseURL(f *testing.F) {
	f.Add("https://Mcp.Example:443/")
	f.Add("https://[::1]:8443")
	f.Add("https://a:44a:443")
	f.Fuzz(func(t *testing.T, text string) {
		origin, host, err := checkBaseURL(text)
		if err != nil {
			return
		}
		if again, same, err := checkBaseURL(origin); err != nil || again != origin || same != host || !strings.HasSuffix(origin, "://"+host) {
			t.Fatalf("%q becomes %q, and %q, %v", text, origin, again, err)
		}
	})
}

func FuzzID(f *testing.F) {
	f.Add("6F1C9A52-3f0e-4d1b-9c57-0f2f6f3b8a11")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := checkID(text); err == nil && (len(id) != 36 || !strings.EqualFold(id, text)) {
			t.Fatalf("%q becomes %q", text, id)
		}
	})
}
