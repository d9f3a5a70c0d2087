// SPDX-License-Identifier: MIT

// Command urlmode writes the example server of a framework: go run urlmode.example/urlmode/cmd/urlmode@latest new sdk
package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"urlmode.example/urlmode/internal/shipped"
)

//go:embed all:testdata
var copied embed.FS

const (
	module = "urlmode.example/urlmode"
	// goVersion is that of the examples.
	goVersion = "1.25.5"
)

var frameworks = []struct{ name, of string }{
	{"sdk", "the official Go SDK"},
	{"mcpgo", "mcp-go"},
	{"paid", fmt.Sprintf(paidExample, "the official SDK")},
}

var plain = regexp.MustCompile(`^[\w./@-]+$`)

func list() string {
	var text strings.Builder
	for _, each := range frameworks {
		fmt.Fprintf(&text, "  %-9s%s\n", each.name, each.of)
	}
	return text.String()
}

func help() string {
	return `usage: urlmode new [FRAMEWORK] [FOLDER]
       urlmode --version

` + fmt.Sprintf(exampleWritten, "new writes") + `

  main.go       a whole server, with tools that connect an account, take a payment, and
                ask on a page
  app/          what belongs to your application: replace it with your own
  .env.example  the variables that they read
  go.mod        requires this version of urlmode

` + exampleStays + " " + exampleList + "\n\n" + list()
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(given []string, out, errs io.Writer) int {
	switch {
	case len(given) == 1 && given[0] == "new":
		fmt.Fprint(out, list())
		return 0
	case len(given) == 1 && given[0] == "--version":
		fmt.Fprintln(out, "urlmode", version())
		return 0
	case len(given) > 0 && (given[len(given)-1] == "--help" || given[len(given)-1] == "-h"):
		fmt.Fprint(out, help())
		return 0
	case len(given) < 2 || len(given) > 3 || given[0] != "new":
		fmt.Fprint(errs, help())
		return 2
	}
	folder := "."
	if len(given) == 3 {
		folder = given[2]
	}
	if err := write(given[1], folder, out); err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	return 0
}

func write(framework, folder string, out io.Writer) error {
	var names []string
	for _, each := range frameworks {
		names = append(names, each.name)
	}
	if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+framework+" ") {
		return fmt.Errorf(noExample, framework, strings.Join(names, ", "))
	}
	copies, err := fs.Sub(copied, "testdata")
	if err != nil {
		return err
	}
	examples := shipped.Files(copies, "../../examples")
	if err := create(folder, "go.mod", goMod(), out); err != nil {
		return err
	}
	for _, file := range [][2]string{
		{"main.go", framework + "/main.go"}, {"app/app.go", "app/app.go"}, {"app/serving.go", "app/serving.go"}, {".env.example", ".env.example"},
	} {
		text, err := fs.ReadFile(examples, file[1])
		if err != nil {
			return err
		}
		own := strings.NewReplacer(module+"/examples/", "server/", "go run ./"+framework, "go run .").Replace(string(text))
		if err := create(folder, file[0], own, out); err != nil {
			return err
		}
	}
	there := ""
	if folder != "." {
		there = "cd " + quoted(folder) + " && "
	}
	fmt.Fprintf(out, `
Then

    %sgo get .
    cp .env.example .env                                  # then write into it where the callback programs are
    set -a; . ./.env; set +a; go run .
`, there)
	return nil
}

// quoted is a text as a word of a shell.
func quoted(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func goMod() string {
	text := "module server\n\ngo " + goVersion + "\n"
	if !strings.HasPrefix(version(), "v") || strings.Contains(version(), "+") {
		return text // in a checkout of the repository
	}
	return text + "\nrequire " + module + " " + version() + "\n"
}

// version is that of the module, as Go knows it: "(devel)" in a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	return info.Main.Version
}

func create(folder, name, text string, out io.Writer) error {
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		fmt.Fprintln(out, path, fileStays)
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	fmt.Fprintln(out, path, "is written")
	return nil
}
