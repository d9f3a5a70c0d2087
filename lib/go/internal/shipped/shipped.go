// SPDX-License-Identifier: MIT

// Package shipped finds files that the repository keeps elsewhere. `publish version` puts copies of them into the modules.
package shipped

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Files are those in a folder, relative to the source of the caller, if this is the repository, and the copies otherwise.
func Files(copies fs.FS, folder string) fs.FS {
	// With -trimpath it is no path.
	if _, file, _, ok := runtime.Caller(1); ok && filepath.IsAbs(file) {
		here := filepath.Join(filepath.Dir(file), folder)
		if _, err := os.Stat(here); err == nil {
			return os.DirFS(here)
		}
	}
	return copies
}
