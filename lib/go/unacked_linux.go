// SPDX-License-Identifier: MIT

package urlmode

import (
	"syscall"

	"urlmode.example/urlmode/internal/limits"
)

const tcpUserTimeout = 18 // TCP_USER_TIMEOUT of tcp(7), which the package syscall does not have everywhere

// limitUnacked limits how long what was sent may stay without TCP's acknowledgement.
func limitUnacked(network, _ string, conn syscall.RawConn) (err error) {
	if network == "unix" {
		return nil
	}
	controlErr := conn.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(limits.Unacked.Milliseconds()))
	})
	if controlErr != nil {
		return controlErr
	}
	return err
}
