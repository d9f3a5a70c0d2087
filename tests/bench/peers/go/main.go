// SPDX-License-Identifier: MIT

// What ../waiter.mjs does, with the Go package. With `tidy` as a further argument, what the garbage collector can free is given
// back to the system all the time, so that the memory of the process is what it needs.
//
//	waiter IDS TIMES OPEN [tidy]
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"urlmode.example/urlmode"
)

const (
	ahead     = 512
	toldEvery = 64
	readyIn   = 1500 * time.Millisecond
	patience  = 10 * time.Minute
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	open, err := strconv.Atoi(os.Args[3])
	check(err)
	ids := strings.Split(strings.TrimSpace(string(text)), "\n")
	subjects := make([]string, len(ids))
	for n, line := range ids {
		ids[n], subjects[n], _ = strings.Cut(line, " ")
	}
	times := make([]byte, 8*len(ids))
	instance, err := urlmode.New(context.Background(), urlmode.Config{
		DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"), KeysFile: os.Getenv("URLMODE_KEYS_FILE"), BaseURL: os.Getenv("URLMODE_BASE_URL"),
		Name: "Bench",
	})
	check(err)

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var begun, over atomic.Int64
	var waits sync.WaitGroup
	waits.Add(open)
	// It is not part of the goroutines that wait, so that these need little of their stacks.
	resolved := func(n int64, err error) {
		check(err)
		binary.NativeEndian.PutUint64(times[8*n:], now())
		if over.Add(1)%toldEvery == 0 {
			fmt.Println(toldEvery)
		}
	}
	for range open {
		go func() {
			for n := begun.Add(1) - 1; n < int64(len(ids)); n = begun.Add(1) - 1 {
				_, err := instance.Wait(ctx, ids[n], urlmode.Owner{Subject: subjects[n]})
				resolved(n, err)
			}
			waits.Done()
		}()
	}
	if len(os.Args) > 4 {
		go func() {
			for range time.Tick(time.Second) {
				debug.FreeOSMemory()
			}
		}()
	}
	time.AfterFunc(readyIn, func() { fmt.Println(ahead) })
	waits.Wait()
	check(os.WriteFile(os.Args[2], times, 0o600))
	check(instance.Close())
}

// now is what the other programs have as well: CLOCK_MONOTONIC.
func now() uint64 {
	var at unix.Timespec
	check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &at))
	return uint64(at.Nano())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
