// Package schema writes JSON Schemas of the archive's files from the Go types that
// are their vocabulary: the members from the tags, the meanings from the comments.
// So a schema cannot say something else than the code. It is used by a test alone,
// which `make schema` runs.
package schema

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source is what the Go files of some packages declare.
type source struct {
	types map[string]*ast.TypeSpec
	docs  map[string]string
	words map[string][]word // of string types: their constants
}

type word struct{ value, doc string }

// read parses the packages in dirs, tests left out.
func read(dirs ...string) (*source, error) {
	s := &source{types: map[string]*ast.TypeSpec{}, docs: map[string]string{}, words: map[string][]word{}}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("read types: %w", err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
			if err != nil {
				return nil, fmt.Errorf("read types: %w", err)
			}
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					s.declare(g)
				}
			}
		}
	}
	return s, nil
}

func (s *source) declare(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch x := spec.(type) {
		case *ast.TypeSpec:
			s.types[x.Name.Name] = x
			s.docs[x.Name.Name] = prose(x.Doc, g.Doc)
		case *ast.ValueSpec:
			of, ok := x.Type.(*ast.Ident)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, v := range x.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value) // the parser accepted it
					s.words[of.Name] = append(s.words[of.Name], word{text, prose(x.Comment, x.Doc)})
				}
			}
		}
	}
}

// prose is the first comment there is, as one paragraph.
func prose(comments ...*ast.CommentGroup) string {
	for _, c := range comments {
		if text := strings.Join(strings.Fields(c.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}

// field is a member of an object in JSON.
type field struct {
	name     string
	doc      string
	typ      ast.Expr
	required bool // written even when empty
}

// fields are the members that a struct has in JSON, those of embedded structs too.
func (s *source) fields(t *ast.StructType) []field {
	var all []field
	for _, f := range t.Fields.List {
		name, options, tagged := tag(f)
		if len(f.Names) == 0 && !tagged {
			if embedded, ok := f.Type.(*ast.Ident); ok {
				if inner, ok := s.types[embedded.Name].Type.(*ast.StructType); ok {
					all = append(all, s.fields(inner)...)
				}
			}
			continue
		}
		if !tagged || name == "-" {
			continue
		}
		optional := slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero")
		all = append(all, field{name, prose(f.Doc, f.Comment), f.Type, !optional})
	}
	return all
}

func tag(f *ast.Field) (name string, options []string, ok bool) {
	if f.Tag == nil {
		return "", nil, false
	}
	raw, _ := strconv.Unquote(f.Tag.Value) // likewise
	_, rest, ok := strings.Cut(raw, `json:"`)
	if !ok {
		return "", nil, false
	}
	text, _, _ := strings.Cut(rest, `"`)
	parts := strings.Split(text, ",")
	return parts[0], parts[1:], true
}
