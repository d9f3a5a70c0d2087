// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func call(given ...string) (code int, out, errs string) {
	var said, failed strings.Builder
	code = run(given, &said, &failed)
	return code, said.String(), failed.String()
}

func TestNewListsTheFrameworks(t *testing.T) {
	for _, given := range [][]string{{"new"}, {"--help"}, {"new", "-h"}} {
		if code, out, errs := call(given...); code != 0 || errs != "" || !strings.Contains(out, "mcp-go") {
			t.Error(given, code, out, errs)
		}
	}
	for _, given := range [][]string{{}, {"old"}, {"new", "sdk", "a", "b"}} {
		if code, out, errs := call(given...); code != 2 || out != "" || !strings.HasPrefix(errs, "usage: ") {
			t.Error(given, code, out, errs)
		}
	}
	if code, _, errs := call("new", "gin"); code != 1 || errs != "there is no example for gin, but for sdk, mcpgo, paid\n" {
		t.Error(code, errs)
	}
}

func TestNewWritesAServerAndChangesNoFile(t *testing.T) {
	for _, each := range frameworks {
		folder := filepath.Join(t.TempDir(), "new")
		if code, out, errs := call("new", each.name, folder); code != 0 || errs != "" || strings.Count(out, " is written\n") != 5 {
			t.Fatal(each.name, code, out, errs)
		}
		read := func(name string) string {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if text := read("main.go"); !strings.Contains(text, `"server/app"`) || strings.Contains(text, "examples") || strings.Contains(text, "./"+each.name) {
			t.Error(text)
		}
		if !strings.HasPrefix(read("app/app.go"), "// SPDX-License-Identifier: MIT\n") || !strings.Contains(read(".env.example"), "URLMODE_BASE_URL=") {
			t.Error("app/app.go or .env.example is another file")
		}
		if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, _ := call("new", each.name, folder); code != 0 || strings.Count(out, " exists, and stays as it is\n") != 5 || read("main.go") != "mine" {
			t.Error(code, out)
		}
	}
}

// In a module of users, its version is that of the module: tests/install/go-modules.test.mjs.
func TestVersion(t *testing.T) {
	if code, out, errs := call("--version"); code != 0 || errs != "" || out != "urlmode "+version()+"\n" {
		t.Error(code, out, errs)
	}
}

func TestWhatIsPrintedIsRunAsItStands(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{"reports", "Ada's server", "."} {
		folder := t.TempDir()
		t.Chdir(folder)
		given := []string{"new", "sdk", made}
		if made == "." {
			given = given[:2]
		}
		_, out, _ := call(given...)
		_, commands, _ := strings.Cut(out, "\nThen\n\n")
		if made == "reports" && !strings.Contains(string(text), commands) {
			t.Errorf("not in README: %s", commands)
		}
		stub := "#!/bin/sh\nprintf '%s|%s|%s\\n' \"$*\" \"$PWD\" \"${URLMODE_BASE_URL-}\"\n"
		if err := os.WriteFile("go", []byte(stub), 0o700); err != nil {
			t.Fatal(err)
		}
		shell := exec.Command("sh", "-euc", commands)
		shell.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH")}
		ran, err := shell.Output()
		at := filepath.Join(folder, made)
		if want := "get .|" + at + "|\nrun .|" + at + "|https://callback.example\n"; err != nil || string(ran) != want {
			t.Errorf("%s, %v: not %s", ran, err, want)
		}
	}
}

func TestTheExamplesHaveThisVersionOfGo(t *testing.T) {
	text, err := os.ReadFile("../../examples/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\ngo "+goVersion+"\n") {
		t.Error("not " + goVersion)
	}
}
