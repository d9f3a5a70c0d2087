// SPDX-License-Identifier: MIT

package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
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

func (s *stream) watch(w http.ResponseWriter) *watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = &watched{ResponseWriter: w, stream: s}
	return s.to
}

// send writes an event beside those of the SDK. It has left this process when send returns.
func (s *stream) send(event string) error {
	s.mu.Lock()
	to := s.to
	s.mu.Unlock()
	if _, err := to.write([]byte(event + "\n\n")); err != nil {
		return err
	}
	return to.FlushError()
}

// watched reads what the SDK writes: each event at once. Others may write between.
type watched struct {
	http.ResponseWriter
	stream *stream

	mu      sync.Mutex
	isEnded bool // nobody may write any more
}

func (w *watched) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isEnded = true
}

func (w *watched) write(event []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isEnded {
		return 0, http.ErrHandlerTimeout
	}
	return w.ResponseWriter.Write(event)
}

// FlushError is for http.ResponseController.
func (w *watched) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isEnded {
		return http.ErrHandlerTimeout
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watched) Write(event []byte) (int, error) {
	id, data := partsOf(event)
	n, err := w.write(event)
	if err == nil && id != "" {
		w.stream.mu.Lock()
		w.stream.id = streamOf(id)
		w.stream.answered = w.stream.answered || isResponse(data)
		w.stream.mu.Unlock()
	}
	return n, err
}

// partsOf returns the id of an event, and its data.
func partsOf(event []byte) (id string, data []byte) {
	for line := range bytes.Lines(event) {
		if value, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			id = string(bytes.TrimSuffix(value, []byte("\n")))
		} else if value, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			return id, value
		}
	}
	return id, nil
}

// isResponse reports whether a message is one, and reads no further than it has to: its result may be large.
func isResponse(message []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(message))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return false
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil || key == "method" {
			return false
		}
		if key == "result" || key == "error" {
			return true
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return false
		}
	}
	return false
}
