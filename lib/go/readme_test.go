// SPDX-License-Identifier: MIT

package urlmode

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1)
	if len(examples) == 0 {
		t.Fatal("there are no examples")
	}
	for _, example := range examples {
		name := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(name, example[1], 0o600); err != nil {
			t.Fatal(err)
		}
		vet := exec.Command("go", "vet", name)
		vet.Dir = "examples" // which has the SDKs, too
		if said, err := vet.CombinedOutput(); err != nil {
			t.Errorf("%s\n%s", said, example[1])
		}
	}
}

// The map in lib/README.md has each file of the package.
func TestMap(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Modules of the Go package\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var named, files []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*) \|`).FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			named = append(named, name[1])
		}
	}
	found, _ := filepath.Glob("*.go")
	for _, name := range found {
		if !strings.HasSuffix(name, "_test.go") {
			files = append(files, strings.TrimSuffix(name, ".go"))
		}
	}
	slices.Sort(named)
	if !slices.Equal(named, files) {
		t.Errorf("the map has %v, and the package %v", named, files)
	}
}
