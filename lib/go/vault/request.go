// SPDX-License-Identifier: MIT

package vault

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// answer is what a provider has answered.
type answer struct {
	status      int
	contentType string
	body        []byte
	// at is when it was answered, by the provider's clock if it says it.
	at time.Time
}

// failure is why there is no answer that can be used. It has neither an address nor a secret: requests carry codes, secrets and tokens.
type failure struct {
	detail string
	// code is the provider's of a refusal (RFC 6749 section 5.2).
	code string
	// status is zero if there is no answer.
	status int
	// isAnswerLost means that the request may have arrived, and what was answered did not come or cannot be read.
	isAnswerLost bool
}

func (f *failure) Error() string { return f.detail }

// isOfGateway reports whether a gateway before the token endpoint has answered. Whether the endpoint has got the request, or is still
// at it, it does not say.
func (f *failure) isOfGateway() bool {
	return f.status == http.StatusBadGateway || f.status == http.StatusGatewayTimeout || f.status >= 520 && f.status <= 527
}

// requester sends requests.
type requester struct {
	transport *http.Transport
	timeout   time.Duration
}

// newRequester makes a requester without a client of net/http, which follows redirects, or at least reads their addresses.
func newRequester(timeout time.Duration) *requester {
	return &requester{timeout: timeout, transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		// Each request has a connection of its own, so that nothing is sent twice. The end of a request does not end one that is
		// being made.
		DialContext: (&net.Dialer{Timeout: timeout}).DialContext, TLSHandshakeTimeout: timeout,
		DisableKeepAlives: true, DisableCompression: true, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}}
}

// send sends one request. It tries again only where no connection could be made: only then was nothing sent.
func (r *requester) send(ctx context.Context, method, url string, headers map[string]string, body []byte) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	got, isSent, err := r.try(ctx, method, url, headers, body)
	if err != nil && !isSent && ctx.Err() == nil {
		got, _, err = r.try(ctx, method, url, headers, body)
	}
	return got, err
}

func (r *requester) try(ctx context.Context, method, url string, headers map[string]string, body []byte) (*answer, bool, error) {
	var isConnected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { isConnected.Store(true) }})
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(traced, method, url, content)
	if err != nil {
		return nil, true, &failure{detail: "INVALID_URL"}
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "urlmode")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		isSent := isConnected.Load()
		return nil, isSent, &failure{detail: reasonOfBreak(ctx, isSent), isAnswerLost: isSent}
	}
	defer response.Body.Close()
	read, err := io.ReadAll(io.LimitReader(response.Body, limits.AccountAnswerMax+1))
	// The status alone says that the provider has refused.
	isLost := isGood(response.StatusCode)
	switch {
	case err != nil:
		return nil, true, &failure{detail: reasonOfBreak(ctx, true), status: response.StatusCode, isAnswerLost: isLost}
	case len(read) > limits.AccountAnswerMax:
		return nil, true, &failure{detail: "ANSWER_TOO_LARGE", status: response.StatusCode, isAnswerLost: isLost}
	}
	at, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		at = time.Now()
	}
	return &answer{response.StatusCode, response.Header.Get("Content-Type"), read, at}, true, nil
}

// reasonOfBreak says in a word why a connection broke. The error itself quotes the address.
func reasonOfBreak(ctx context.Context, isSent bool) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "TIMEOUT"
	case isSent:
		return "CONNECTION_BROKEN"
	}
	return "CONNECTION_FAILED"
}

func isGood(status int) bool { return status >= 200 && status < 300 }
