// SPDX-License-Identifier: MIT

package mcp

import (
	"bytes"
	"net/http"
	"strings"
	"sync"

	"urlmode.example/urlmode/internal/responses"
)

// stream is what a client has got of the answer to its call. An event of the SDK has an id where there is an EventStore: by it, the client can
// resume the stream after the end of its connection.
type stream struct {
	mu       sync.Mutex
	to       *watched // who writes it now
	id       string
	answered bool
}

func (s *stream) canBeResumed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id != ""
}

func (s *stream) isAnswered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered
}

// has reports whether the event is one of the stream.
func (s *stream) has(event string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id != "" && streamOf(event) == s.id
}

// streamOf reads the id of an event, which the SDK makes of that of the stream and a number.
func streamOf(event string) string {
	return event[:max(0, strings.LastIndexByte(event, '_'))]
}

func (s *stream) watch(w http.ResponseWriter, isThere func() bool) *watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = &watched{Writer: responses.Writer{ResponseWriter: w, IsThere: isThere}, stream: s}
	return s.to
}

// send writes an event beside those of the SDK. It has left this process when send returns.
func (s *stream) send(event string) error {
	s.mu.Lock()
	to := s.to
	s.mu.Unlock()
	return to.write(func() error {
		if _, err := to.ResponseWriter.Write([]byte(event + "\n\n")); err != nil {
			return err
		}
		return http.NewResponseController(to.ResponseWriter).Flush()
	})
}

// watched reads what the SDK writes: each event at once. Others may write between.
type watched struct {
	responses.Writer
	stream *stream

	mu      sync.Mutex
	isEnded bool // nobody may write any more
}

func (w *watched) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isEnded = true
}

func (w *watched) write(step func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isEnded {
		return http.ErrHandlerTimeout
	}
	return step()
}

// FlushError is for http.ResponseController.
func (w *watched) FlushError() error { return w.write(w.Writer.FlushError) }

func (w *watched) Write(event []byte) (n int, err error) {
	err = w.write(func() (err error) {
		n, err = w.Writer.Write(event)
		return err
	})
	if id := idOf(event); err == nil && id != "" {
		w.stream.mu.Lock()
		w.stream.id = streamOf(id)
		w.stream.answered = w.stream.answered || w.HasAnswer
		w.stream.mu.Unlock()
	}
	return n, err
}

func idOf(event []byte) string {
	for line := range bytes.Lines(event) {
		if id, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			return string(bytes.TrimSuffix(id, []byte("\n")))
		}
	}
	return ""
}
