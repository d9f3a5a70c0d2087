// SPDX-License-Identifier: MIT

package vault

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

// answer is what a provider has answered.
type answer struct {
	status      int
	contentType string
	body        []byte
	// at is when it was answered, by the provider's clock if it says it.
	at time.Time
	// retryAfter is for how long the provider wants to be left alone, with a status that is no success.
	retryAfter time.Duration
}

// failure is why there is no answer that can be used. It has neither an address nor a secret: requests carry codes, secrets and tokens.
type failure struct {
	detail string
	// code is the provider's of a refusal (RFC 6749 section 5.2).
	code string
	// status is zero if there is no answer.
	status int
	// lost means that the request may have arrived, and nobody knows what was done.
	lost loss
	// retryAfter is for how long the provider wants to be left alone.
	retryAfter time.Duration
}

// loss is why nobody knows what was done.
type loss string

const (
	// lostAnswer: what was answered did not come, or cannot be read.
	lostAnswer loss = "answer"
	// lostStatus: it has a status that does not say it.
	lostStatus loss = "status"
)

// lostWith is what is lost if an answer with this status does not say what was done. Zero: there is none.
func lostWith(status int) loss {
	if status == 0 || isGood(status) {
		return lostAnswer
	}
	return lostStatus
}

func (f *failure) Error() string { return f.detail }

// reason is why the account must be connected again: empty, if it can be tried again.
func (f *failure) reason() string {
	if f.code == "invalid_grant" {
		return f.code
	}
	return ""
}

func failureOf(err error) *failure {
	var failed *failure
	if errors.As(err, &failed) {
		return failed
	}
	return &failure{detail: err.Error()}
}

// requester sends requests.
type requester struct {
	transport http.RoundTripper
	timeout   time.Duration
}

var secondsText = regexp.MustCompile(`^[0-9]+$`)

// newRequester makes a requester without a client of net/http, which follows redirects, or at least reads their addresses. Of one of the
// caller it has the Transport, and the Timeout where that is shorter.
func newRequester(timeout time.Duration, of *http.Client) *requester {
	if of != nil && of.Timeout > 0 {
		timeout = min(timeout, of.Timeout)
	}
	if of != nil && of.Transport != nil {
		return &requester{transport: of.Transport, timeout: timeout}
	}
	return &requester{timeout: timeout, transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		// Each request has a connection of its own, so that nothing is sent twice. The end of a request does not end one that is
		// being made.
		DialContext: (&net.Dialer{Timeout: timeout}).DialContext, TLSHandshakeTimeout: timeout,
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: limits.AccountHeaderMax, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}}
}

// send sends one request. It tries again only where no connection could be made: only then was nothing sent.
func (r *requester) send(ctx context.Context, method, url string, headers map[string]string, body []byte) (*answer, error) {
	ctx, cancel := limitedTo(ctx, r.timeout)
	defer cancel()
	got, isSent, err := r.try(ctx, method, url, headers, body)
	if err != nil && !isSent && ctx.Err() == nil {
		got, _, err = r.try(ctx, method, url, headers, body)
	}
	return got, err
}

func (r *requester) try(ctx context.Context, method, url string, headers map[string]string, body []byte) (*answer, bool, error) {
	// A transport of the caller may not tell what it does: then the request may have been sent.
	var isReported, isConnected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GetConn: func(string) { isReported.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { isConnected.Store(true) }})
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
		isSent := isConnected.Load() || !isReported.Load()
		failed := &failure{detail: reasonOfBreak(ctx, isSent)}
		if isSent {
			failed.lost = lostAnswer
		}
		return nil, isSent, failed
	}
	defer response.Body.Close()
	read, err := io.ReadAll(io.LimitReader(response.Body, limits.AccountAnswerMax+1))
	if err == nil && len(read) <= limits.AccountAnswerMax {
		read, err = decoded(read, response.Header.Get("Content-Encoding"))
	}
	at, noDate := http.ParseTime(response.Header.Get("Date"))
	if noDate != nil {
		at = time.Now()
	}
	got := &answer{response.StatusCode, response.Header.Get("Content-Type"), read, at, retryAfter(response, at)}
	switch {
	case err != nil:
		return nil, true, got.failure(reasonOfBreak(ctx, true))
	case len(read) > limits.AccountAnswerMax:
		return nil, true, got.failure("ANSWER_TOO_LARGE")
	}
	return got, true, nil
}

// failure is that of an answer that does not say what was done.
func (a *answer) failure(detail string) *failure {
	return &failure{detail: detail, status: a.status, lost: lostWith(a.status), retryAfter: a.retryAfter}
}

// retryAfter is zero if the answer does not say it.
func retryAfter(response *http.Response, at time.Time) time.Duration {
	said := strings.TrimSpace(response.Header.Get("Retry-After"))
	if isGood(response.StatusCode) {
		return 0
	}
	if secondsText.MatchString(said) {
		seconds, _ := strconv.ParseFloat(said, 64)
		return time.Duration(min(seconds, limits.RetryAfterMax.Seconds())) * time.Second
	}
	if date, err := http.ParseTime(said); err == nil {
		return max(0, min(date.Sub(at), limits.RetryAfterMax))
	}
	return 0
}

// limitedTo is a context that ends after some time. Where the process stood still meanwhile, what came then is read first.
func limitedTo(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	limited, end := context.WithCancelCause(ctx)
	until := time.Now().Add(timeout)
	timer := time.AfterFunc(timeout, func() {
		if time.Since(until) > limits.Frozen && timing.Sleep(limited, limits.Thaw) != nil {
			return
		}
		end(context.DeadlineExceeded)
	})
	return limited, func() {
		timer.Stop()
		end(nil)
	}
}

// decoded is an answer that was compressed although nobody has asked for it: at most as much as is read of any answer, and a byte.
func decoded(content []byte, encoding string) ([]byte, error) {
	if encoding = strings.ToLower(encoding); encoding != "gzip" && encoding != "x-gzip" {
		return content, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	read, err := io.ReadAll(io.LimitReader(reader, limits.AccountAnswerMax+1))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // Whether it is whole, the JSON says.
	}
	return read, err
}

// reasonOfBreak says in a word why a connection broke. The error itself quotes the address.
func reasonOfBreak(ctx context.Context, isSent bool) string {
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return "TIMEOUT"
	case isSent:
		return "CONNECTION_BROKEN"
	}
	return "CONNECTION_FAILED"
}

func isGood(status int) bool { return status >= 200 && status < 300 }
