// SPDX-License-Identifier: MIT

package urlmode

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"urlmode.example/urlmode/internal/statements"
)

// What the process does for each of 10,000 open waits, from the notification to the return of Wait. PostgreSQL is not needed:
//
//	go test -run '^$' -bench Announced -benchtime 10x
func BenchmarkAnnounced(b *testing.B) {
	const count, together = 10_000, 64
	m := offline(b)
	var used int64
	for range b.N {
		ids, texts := make([]string, count), make([]string, count)
		var group sync.WaitGroup
		group.Add(count)
		for i := range ids {
			id := newID()
			k := rowKey{id, bindingOf(Owner{Subject: id})}
			sealed := seal(m.ring, useOutcome, k, []byte(`{"action":"accept","reason":"","result":{"code":"SplxlOBeZQQYbYS6WxSbIA","iss":"https://a.example"}}`), nil)
			ids[i], texts[i] = id, fmt.Sprintf(`{"id":%q,"status":"completed","outcome":%q}`, id, base64.StdEncoding.EncodeToString(sealed))
			go func() {
				m.Wait(b.Context(), id, Owner{Subject: id})
				group.Done()
			}()
		}
		until(b, "all waits are open", func() bool { return m.OpenWaits() == count })
		m.waits.mu.Lock()
		m.waits.all(func(e *entry) {
			m.waits.keepWaiting(e, &row{id: e.key.id, kind: OAuth, status: Opened, closesInMs: 3_600_000})
		})
		m.waits.mu.Unlock()
		began := processorTime(b)
		b.StartTimer()
		for ; len(texts) > 0; texts = texts[min(together, len(texts)):] {
			m.listener.notified(&pgconn.Notification{Channel: statements.Channel, Payload: "[" + strings.Join(texts[:min(together, len(texts))], ",") + "]"})
		}
		group.Wait()
		b.StopTimer()
		used += processorTime(b) - began
	}
	b.ReportMetric(float64(used)/float64(b.N*count), "cpu-ns/wait")
}

func processorTime(t testing.TB) int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}
