// SPDX-License-Identifier: MIT

package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/adapter"
)

// A token endpoint that redirects gets neither the code nor the verifier sent elsewhere.
func TestNoRedirectIsFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("it is followed")
	}))
	defer elsewhere.Close()
	provider := httptest.NewServer(nil)
	defer provider.Close()
	provider.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return
		}
		json.NewEncoder(w).Encode(metadata{Token: provider.URL + "/token"})
	})
	issuer = provider.URL
	_, err := NameOfAccount(t.Context(), adapter.Accepted{Outcome: urlmode.Outcome{Result: map[string]any{"code": "c"}, CodeVerifier: "v"}})
	if err == nil || !strings.HasSuffix(err.Error(), "answered 307") {
		t.Errorf("it is %v", err)
	}
}
