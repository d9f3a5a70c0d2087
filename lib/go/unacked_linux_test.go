// SPDX-License-Identifier: MIT

package urlmode

import (
	"net"
	"syscall"
	"testing"
)

func TestKeepalive(t *testing.T) {
	m := open(t, func(c *Config) { c.DatabaseURL = openGate(t).url })
	conn, err := m.pool.pgx.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	raw, err := conn.Conn().PgConn().Conn().(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[int]int{syscall.TCP_KEEPIDLE: 5, syscall.TCP_KEEPINTVL: 5, syscall.TCP_KEEPCNT: 2, tcpUserTimeout: 15_000} {
		raw.Control(func(fd uintptr) {
			if got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option); err != nil || got != want {
				t.Errorf("option %d: %d, %v", option, got, err)
			}
		})
	}
}
