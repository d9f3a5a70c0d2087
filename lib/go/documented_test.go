// SPDX-License-Identifier: MIT

package urlmode

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// undocumented are the exported names of a file without a comment, which an editor would show: functions, methods but Error, types, and the
// fields of types, by which options are given.
func undocumented(file *ast.File) (names []string, seen int) {
	look := func(name string, comments ...*ast.CommentGroup) {
		seen++
		for _, each := range comments {
			if strings.TrimSpace(each.Text()) != "" {
				return
			}
		}
		names = append(names, name)
	}
	for _, declaration := range file.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			if name := declaration.Name.Name; declaration.Name.IsExported() && name != "Error" && (declaration.Recv == nil || ast.IsExported(receiver(declaration))) {
				if of := receiver(declaration); of != "" {
					name = of + "." + name
				}
				look(name, declaration.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range declaration.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						look(spec.Name.Name, spec.Doc, spec.Comment, declaration.Doc)
						if spec.Doc == nil {
							spec.Doc = declaration.Doc
						}
						ofFields(spec, look)
					}
				case *ast.ValueSpec:
					if spec.Names[0].IsExported() {
						look(spec.Names[0].Name, spec.Doc, spec.Comment, declaration.Doc)
					}
				}
			}
		}
	}
	return names, seen
}

// receiver is the name of the type of which a function is a method, or empty.
func receiver(of *ast.FuncDecl) string {
	if of.Recv == nil {
		return ""
	}
	name := of.Recv.List[0].Type
	for {
		switch part := name.(type) {
		case *ast.StarExpr:
			name = part.X
		case *ast.IndexExpr:
			name = part.X
		case *ast.Ident:
			return part.Name
		default:
			return ""
		}
	}
}

// ofFields looks at the fields of a type, of which an editor shows all comments at once: each has one of its own, or is named by that
// of the type or of another field.
func ofFields(spec *ast.TypeSpec, look func(string, ...*ast.CommentGroup)) {
	of, is := spec.Type.(*ast.StructType)
	if !is {
		return
	}
	texts := spec.Doc.Text()
	for _, field := range of.Fields.List {
		texts += field.Doc.Text() + field.Comment.Text()
	}
	words := strings.FieldsFunc(texts, func(letter rune) bool { return !unicode.IsLetter(letter) })
	for _, field := range of.Fields.List {
		for _, name := range field.Names {
			if name.IsExported() && !slices.Contains(words, name.Name) {
				look(spec.Name.Name+"."+name.Name, field.Doc, field.Comment)
			}
		}
	}
}

// Each exported name has a text that an editor shows.
func TestEverythingIsDocumented(t *testing.T) {
	total := 0
	packages(t, func(_ string, set *token.FileSet, files []*ast.File) {
		for _, file := range files {
			missing, seen := undocumented(file)
			total += seen
			for _, each := range missing {
				t.Errorf("%s: %s has no comment", set.Position(file.Pos()).Filename, each)
			}
		}
	})
	if total < 300 {
		t.Errorf("only %d names are found", total)
	}
}

func TestWhatHasNoCommentIsFound(t *testing.T) {
	const source = `package p
		func A(b int) {}
		// B is documented.
		func B() {}
		type c struct{ D int }
		func (c) E() {}
		// F is documented.
		type F struct {
			G int
			H int // documented
			// I is documented, and P.
			I, P int
			j    int
		}
		func (*F) K() {}
		const L = 1
		type M[T any] struct{}
		func (M[T]) N() {}`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names, _ := undocumented(file)
	if found := strings.Join(names, " "); found != "A F.G F.K L M M.N" {
		t.Error(found)
	}
}

// misnamed are the declarations whose comment does not begin with their name, as an editor and go doc expect it; a comment may have a name of before.
func misnamed(set *token.FileSet, file *ast.File) (places []string, seen int) {
	look := func(name string, at token.Pos, comment *ast.CommentGroup) {
		if words := strings.Fields(comment.Text()); len(words) > 0 {
			seen++
			if strings.TrimRight(words[0], ":,") != name {
				places = append(places, set.Position(at).String()+": "+name)
			}
		}
	}
	for _, declaration := range file.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			look(declaration.Name.Name, declaration.Pos(), declaration.Doc)
		case *ast.GenDecl:
			for _, spec := range declaration.Specs {
				whole := declaration.Doc
				if declaration.Lparen.IsValid() { // It belongs to no name.
					whole = nil
				}
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					look(spec.Name.Name, spec.Pos(), cmp.Or(spec.Doc, whole))
				case *ast.ValueSpec:
					look(spec.Names[0].Name, spec.Pos(), cmp.Or(spec.Doc, whole))
				}
			}
		}
	}
	return places, seen
}

func TestCommentsBeginWithTheName(t *testing.T) {
	total := 0
	packages(t, func(_ string, set *token.FileSet, files []*ast.File) {
		for _, file := range files {
			places, seen := misnamed(set, file)
			total += seen
			for _, place := range places {
				t.Errorf("%s has a comment that does not begin with it", place)
			}
		}
	})
	if total < 500 {
		t.Errorf("only %d comments are found", total)
	}
}
