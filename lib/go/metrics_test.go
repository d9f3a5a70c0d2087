// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// samplesOf are those of a text: name and labels to value.
func samplesOf(t *testing.T, m *Instance) map[string]float64 {
	t.Helper()
	samples := map[string]float64{}
	for line := range strings.Lines(m.Metrics()) {
		var name string
		var value float64
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscanf(strings.TrimPrefix(line, "urlmode_server_"), "%s %g\n", &name, &value); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		samples[name] = value
	}
	return samples
}

func endedOf(t *testing.T, m *Instance) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, end := range waitEnds {
		if count := int(samplesOf(t, m)[fmt.Sprintf("waits_ended_total{end=%q}", end)]); count > 0 {
			counts[end] = count
		}
	}
	return counts
}

func (p *programs) end(t testing.TB, id string, of Owner, action, reason string) {
	t.Helper()
	k := rowKey{id, bindingOf(of)}
	if got := p.ask(t, `SELECT outcome FROM urlmode.complete($1::text[]::uuid[], $2::bytea[], '{github}', $3::text[], $4::text[], NULL, NULL, NULL)`,
		[]string{id}, [][]byte{k.binding[:]}, []string{action}, []string{reason}); got != "completed" {
		t.Fatalf("it is %s", got)
	}
}

func TestMetricsOfWaits(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	if now := samplesOf(t, m); now["waits"] != 0 || now["oldest_wait_age_seconds"] != 0 || len(endedOf(t, m)) != 0 || len(now) != 11 {
		t.Fatalf("%v", now)
	}
	var ids []string
	for range 5 {
		ids = append(ids, create(t, m, account(me)).ElicitationID)
	}
	accepted, declined := begin(t, t.Context(), m, ids[0], me, WaitOptions{}), begin(t, t.Context(), m, ids[1], me, WaitOptions{})
	aborting, abort := context.WithCancel(t.Context())
	aborted, closed := begin(t, aborting, m, ids[3], me, WaitOptions{}), begin(t, t.Context(), m, ids[4], me, WaitOptions{})
	until(t, "notifications arrive", func() bool { return samplesOf(t, m)["notifications_arrive"] == 1 })
	if now := samplesOf(t, m); now["waits"] != 4 {
		t.Fatalf("%v", now)
	}
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := m.Wait(late, ids[2], me); !errors.Is(err, ErrTimeout) {
		t.Fatal(err)
	}
	if age := samplesOf(t, m)["oldest_wait_age_seconds"]; age < 0.05 {
		t.Fatalf("the oldest has waited %g seconds", age)
	}
	p.comeBack(t, ids[0], me, "c")
	p.end(t, ids[1], me, "decline", "access_denied")
	abort()
	for _, wait := range []<-chan ending{accepted, declined, aborted} {
		<-wait
	}
	if _, err := m.Wait(t.Context(), ids[0], someone()); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := m.WaitWith(t.Context(), ids[4], me, WaitOptions{Once: true}); !errors.Is(err, ErrTimeout) {
		t.Fatal(err)
	}
	want := map[string]int{"accept": 1, "decline": 1, "timeout": 1, "aborted": 1, "error": 1} // A look is no wait.
	if got := endedOf(t, m); samplesOf(t, m)["waits"] != 1 || !maps.Equal(got, want) {
		t.Fatalf("%v", got)
	}
	m.Close()
	<-closed
	want["closed"] = 1
	if now := samplesOf(t, m); now["waits"] != 0 || now["oldest_wait_age_seconds"] != 0 || !maps.Equal(endedOf(t, m), want) {
		t.Fatalf("%v", now)
	}
}

func TestMetricsOfALostConnection(t *testing.T) {
	name := "lost-" + newID()
	m, me := open(t, func(c *Config) { c.DatabaseURL += "?application_name=" + name }), someone()
	elicitation := create(t, m, account(me))
	wait := begin(t, t.Context(), m, elicitation.ElicitationID, me, WaitOptions{})
	until(t, "notifications arrive", func() bool { return samplesOf(t, m)["notifications_arrive"] == 1 })
	if lost := samplesOf(t, m)["connections_lost_total"]; lost != 0 {
		t.Fatalf("%g are lost", lost)
	}
	operator := asOperator(t)
	if _, err := operator.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "+
		"WHERE application_name = $1 AND query NOT LIKE '%create%'", name); err != nil {
		t.Fatal(err)
	}
	until(t, "it was lost, and listens again", func() bool {
		now := samplesOf(t, m)
		return now["connections_lost_total"] >= 1 && now["notifications_arrive"] == 1
	})
	if _, err := m.Cancel(t.Context(), elicitation.ElicitationID, me, ""); err != nil {
		t.Fatal(err)
	}
	if got := <-wait; got.err != nil || endedOf(t, m)["cancel"] != 1 {
		t.Fatalf("%v, %v", got.err, endedOf(t, m))
	}
}

func TestMetricsAreThoseOfNode(t *testing.T) {
	m := open(t)
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(m.Metrics())
	if said, err := check.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	options, err := json.Marshal(map[string]string{"databaseUrl": required(t, "URLMODE_DATABASE_URL"),
		"keysFile": required(t, "URLMODE_KEYS_FILE"), "baseUrl": "https://callback.example"})
	if err != nil {
		t.Fatal(err)
	}
	node := exec.Command("node", "--input-type=module", "-e", `import { UrlMode } from './index.js';
		const urlmode = new UrlMode(`+string(options)+`);
		process.stdout.write(urlmode.metrics());
		await urlmode.close();`)
	node.Dir = "../node/src"
	theirs, err := node.Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(theirs) != m.Metrics() {
		t.Fatalf("Node has\n%s\nGo has\n%s", theirs, m.Metrics())
	}
}
