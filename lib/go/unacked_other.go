// SPDX-License-Identifier: MIT

//go:build !linux

package urlmode

import "syscall"

// limitUnacked does nothing: only Linux has this limit.
func limitUnacked(_, _ string, _ syscall.RawConn) error { return nil }
