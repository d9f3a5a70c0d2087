// SPDX-License-Identifier: MIT

package urlmode

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// nothing imports nothing: what the checker finds without it is enough.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) { return nil, errors.New(path) }

// stateful are types whose variables exist to change.
var stateful = regexp.MustCompile(`^(sync\.(Mutex|RWMutex|Map|Pool|Once|WaitGroup)\b|atomic\.|chan |make\(chan)`)

// isStateful is false of a function: there is a variable only for another one to take its place, in a test for example.
func isStateful(of ast.Expr) bool {
	switch of.(type) {
	case *ast.FuncLit, *ast.FuncType:
		return true
	}
	return stateful.MatchString(types.ExprString(of))
}

// A variable of a package that changes would be shared by the instances of a process.
func TestNoGlobalState(t *testing.T) {
	variables := 0
	packages(t, func(folder string, set *token.FileSet, files []*ast.File) {
		if folder == "urlmodetest" { // It counts the connections of a test.
			return
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: nothing{}, Error: func(error) {}}
		made, _ := config.Check(folder, set, files, info) // Its errors are those of the imports.
		isGlobal := func(name *ast.Ident) bool {
			one, is := info.Uses[name].(*types.Var)
			return is && one.Parent() == made.Scope()
		}
		for _, file := range files {
			variables += countVariables(t, set, file)
			for _, at := range changes(file, isGlobal) {
				t.Errorf("%s: a variable of the package changes", set.Position(at))
			}
		}
	})
	if variables < 30 {
		t.Errorf("only %d variables are found", variables)
	}
}

// countVariables counts the variables of the package in a file. None of them has a type that is there to change.
func countVariables(t *testing.T, set *token.FileSet, file *ast.File) (count int) {
	for _, declaration := range file.Decls {
		if of, is := declaration.(*ast.FuncDecl); is && of.Recv == nil && of.Name.Name == "init" {
			t.Errorf("%s: a function init", set.Position(of.Pos()))
		}
		general, is := declaration.(*ast.GenDecl)
		if !is || general.Tok != token.VAR {
			continue
		}
		for _, spec := range general.Specs {
			values := spec.(*ast.ValueSpec)
			count += len(values.Names)
			for _, each := range append([]ast.Expr{values.Type}, values.Values...) {
				if each != nil && isStateful(each) {
					t.Errorf("%s: %s is there to change", set.Position(spec.Pos()), values.Names[0])
				}
			}
		}
	}
	return count
}

// changes are the places that change a variable of the package, or hand out its address.
func changes(file *ast.File, isGlobal func(*ast.Ident) bool) (places []token.Pos) {
	look := func(target ast.Expr) {
		if root := rootOf(target); root != nil && isGlobal(root) {
			places = append(places, target.Pos())
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for _, target := range node.Lhs {
				look(target)
			}
		case *ast.IncDecStmt:
			look(node.X)
		case *ast.UnaryExpr:
			if node.Op == token.AND {
				look(node.X)
			}
		case *ast.RangeStmt:
			look(node.Key)
			look(node.Value)
		case *ast.CallExpr:
			if name, is := node.Fun.(*ast.Ident); is && (name.Name == "delete" || name.Name == "clear" || name.Name == "copy") {
				look(node.Args[0])
			}
		}
		return true
	})
	return places
}

// rootOf is the variable of which an expression is a part, or nil.
func rootOf(part ast.Expr) *ast.Ident {
	for {
		switch of := part.(type) {
		case *ast.Ident:
			return of
		case *ast.SelectorExpr:
			part = of.X
		case *ast.IndexExpr:
			part = of.X
		case *ast.SliceExpr:
			part = of.X
		case *ast.StarExpr:
			part = of.X
		case *ast.ParenExpr:
			part = of.X
		default:
			return nil
		}
	}
}

func TestChangesAreFound(t *testing.T) {
	const source = `package p
		var m = map[int]int{}
		var n struct{ x []int }
		func f(m2 int) {
			m[1] = 2
			n.x[0]++
			delete(m, 1)
			_ = &n.x
			m := m2
			m = 3
			for n.x[0] = range 2 {}
			_ = m
		}`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	made, err := (&types.Config{Importer: nothing{}}).Check("p", set, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	found := changes(file, func(name *ast.Ident) bool {
		one := info.Uses[name]
		return one != nil && one.Parent() == made.Scope()
	})
	if len(found) != 5 {
		t.Errorf("%d of 5 are found", len(found))
	}
}

// Whoever sets nothing gets what the documentation calls the default.
func TestZeroOptions(t *testing.T) {
	m, me := open(t), someone()
	elicitation := create(t, m, account(me))
	if rest := time.Until(elicitation.ExpiresAt); rest < 4*time.Minute || rest > 6*time.Minute || m.Name() != "callback.example" {
		t.Errorf("%s: %s", m.Name(), rest)
	}
	paid := create(t, m, Request{Provider: "stripe", Kind: Payment, Owner: me, Item: newID(), Expected: Expected{Any: true}, TargetURL: "https://checkout.example/"})
	for _, id := range []string{elicitation.ElicitationID, paid.ElicitationID} {
		answer := Answer{Action: Accept}
		if id == paid.ElicitationID {
			answer.Amount, answer.Currency, answer.Reference = 1, "EUR", "pay_"+newID()
		}
		if done, err := m.Complete(t.Context(), id, me, answer); err != nil || !done {
			t.Fatal(err)
		}
		if outcome, err := m.WaitWith(t.Context(), id, me, WaitOptions{}); err != nil || outcome.Action != Accept {
			t.Fatalf("%v, %v", outcome, err)
		}
	}
	if all, err := m.Unclaimed(t.Context(), ListOptions{}); err != nil || len(all) == 0 {
		t.Errorf("%d are unclaimed: %v", len(all), err)
	}
	if _, err := m.Refunds(t.Context(), ListOptions{}); err != nil {
		t.Error(err)
	}
	if claimed, err := m.Claim(t.Context(), elicitation.ElicitationID, me, ClaimOptions{}); err != nil || !claimed {
		t.Errorf("%t, %v", claimed, err)
	}
	claim, err := m.BeginClaim(t.Context(), paid.ElicitationID, me, LeaseOptions{})
	if err != nil || claim.State != ClaimBegun {
		t.Fatalf("%v, %v", claim, err)
	}
	if rest := time.Until(claim.until); rest < 20*time.Second || rest > 30*time.Second {
		t.Errorf("the lease is %s", rest)
	}
	claim.Release(t.Context())
	if _, err := m.Purge(t.Context(), PurgeOptions{}); err != nil {
		t.Error(err)
	}
	for name, zero := range map[string]func() error{
		"Config":  func() error { _, err := New(t.Context(), Config{}); return err },
		"Request": func() error { _, err := m.Create(t.Context(), Request{}); return err },
		"Answer":  func() error { _, err := m.Complete(t.Context(), elicitation.ElicitationID, me, Answer{}); return err },
	} {
		if err := zero(); !errors.Is(err, ErrArgument) {
			t.Errorf("%s has what is required: %v", name, err)
		}
	}
}

// packages are the files of each package of this folder, without its tests.
func packages(t *testing.T, each func(folder string, set *token.FileSet, files []*ast.File)) {
	t.Helper()
	for _, folder := range []string{".", "adapter", "urlmodetest", "vault", "mcp", "mcpgo"} {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s has no sources: %v", folder, err)
		}
		set := token.NewFileSet()
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		each(folder, set, files)
	}
}

// declarations are those of each package.
func declarations(t *testing.T, each func(set *token.FileSet, declaration ast.Decl)) {
	t.Helper()
	packages(t, func(_ string, set *token.FileSet, files []*ast.File) {
		for _, file := range files {
			for _, declaration := range file.Decls {
				each(set, declaration)
			}
		}
	})
}

// A caller reads in the signature what a bool or a text beside an error is.
func TestResultsHaveNames(t *testing.T) {
	plain, seen := regexp.MustCompile(`^(bool|string|int\d*)$`), 0
	declarations(t, func(set *token.FileSet, declaration ast.Decl) {
		of, is := declaration.(*ast.FuncDecl)
		if !is || !of.Name.IsExported() || of.Type.Results == nil || of.Type.Results.NumFields() < 2 {
			return
		}
		if of.Recv != nil && !ast.IsExported(receiver(of)) {
			return
		}
		seen++
		for _, each := range of.Type.Results.List {
			if len(each.Names) == 0 && plain.MatchString(types.ExprString(each.Type)) {
				t.Errorf("%s: a result of %s has no name", set.Position(of.Pos()), of.Name)
			}
		}
	})
	if seen < 50 {
		t.Errorf("only %d functions are found", seen)
	}
}

// plainErrors are the places of errors that are no *Error, with the reason.
var plainErrors = map[string]string{
	"ErrExpired":            "is the cause of an *Error",
	"errPanicked":           "is about a function of the caller",
	"answerTaken":           "is about a function of the caller",
	"guarded":               "is about a function of the caller",
	"ErrTaskNotFound":       "becomes an error of the protocol",
	"ErrTaskInput":          "becomes an error of the protocol",
	"errState":              "no caller gets it",
	"errStateExpired":       "no caller gets it",
	"openJSON":              "is the cause of an *Error",
	"errGone":               "becomes an ErrClientGone",
	"errConnectedMeanwhile": "no caller gets it",
	"errGivenBack":          "no caller gets it",
	"Output":                "is the text of a tool's result",
	"inferred":              "AddTool panics with it",
	"elicitAs":              "is the text of the error of a prompt or a resource",
	"signingKeyOf":          "becomes an ErrArgument",
}

// Every error of these packages is an *Error.
func TestErrorsAreErrors(t *testing.T) {
	found := map[string]bool{}
	declarations(t, func(set *token.FileSet, declaration ast.Decl) {
		place := ""
		ast.Inspect(declaration, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				place = node.Name.Name
			case *ast.ValueSpec:
				if general, is := declaration.(*ast.GenDecl); is && general.Tok == token.VAR {
					place = node.Names[0].Name
				}
			case *ast.CallExpr:
				if of := types.ExprString(node.Fun); of == "errors.New" || of == "fmt.Errorf" {
					if found[place] = true; plainErrors[place] == "" {
						t.Errorf("%s: %s makes an error that is no *Error", set.Position(node.Pos()), place)
					}
				}
			}
			return true
		})
	})
	for place := range plainErrors {
		if !found[place] {
			t.Errorf("%s makes no such error any more", place)
		}
	}
	for _, made := range []error{
		&AccountError{Code: ErrAccountReconnect, Provider: "github", Reason: "expired"}, &UnclaimedPaymentsError{},
		argumentError("x"), unexpected("no row"), requestStateError(true),
	} {
		var own *Error
		if !errors.As(made, &own) || !errors.Is(made, own.Code) || own.Error() != made.Error() {
			t.Errorf("%v is no *Error", made)
		}
	}
}
