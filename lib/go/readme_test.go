// SPDX-License-Identifier: MIT

package urlmode

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
		vet.Env = append(os.Environ(), "GOWORK=off")
		if said, err := vet.CombinedOutput(); err != nil {
			t.Errorf("%s\n%s", said, example[1])
		}
	}
}
