package schema

import (
	"fmt"
	"go/ast"
	"strings"
)

// Markdown describes every type of the files, a table each, for docs/format.md.
func (s *source) Markdown() (string, error) {
	g := &generator{source: s}
	var b strings.Builder
	for _, f := range Files {
		g.ref(f.Type)
	}
	for i := 0; i < len(g.used); i++ { // define adds what a type refers to
		if _, err := g.define(g.used[i]); err != nil {
			return "", err
		}
	}
	for _, f := range Files {
		form := "[" + f.Type + "](#" + strings.ToLower(f.Type) + ")"
		if f.List {
			form = "list of " + form
		}
		fmt.Fprintf(&b, "- [schema/%s.json](schema/%s.json): %s: %s\n", f.Name, f.Name, f.Title, form)
	}
	for _, name := range g.used {
		s.section(&b, name)
	}
	return b.String(), nil
}

func (s *source) section(b *strings.Builder, name string) {
	fmt.Fprintf(b, "\n### %s\n\n", name)
	if doc := s.docs[name]; doc != "" {
		fmt.Fprintf(b, "%s\n\n", inTable(doc))
	}
	t, ok := s.types[name].Type.(*ast.StructType)
	if !ok {
		b.WriteString("| value | meaning |\n|---|---|\n")
		for _, w := range s.words[name] {
			fmt.Fprintf(b, "| `%s` | %s |\n", w.value, inTable(w.doc))
		}
		return
	}
	b.WriteString("| member | form | meaning |\n|---|---|---|\n")
	for _, f := range s.fields(t) {
		form := s.form(f.typ)
		if !f.required {
			form += ", may be absent"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.name, form, inTable(sentence(f.doc, unit(f.name))))
	}
}

var escape = strings.NewReplacer("|", `\|`, "<", "&lt;")

func inTable(s string) string { return escape.Replace(s) }

// form is a type in words.
func (s *source) form(t ast.Expr) string {
	switch x := t.(type) {
	case *ast.StarExpr:
		return s.form(x.X)
	case *ast.ArrayType:
		return "list of " + s.form(x.Elt)
	case *ast.MapType:
		return s.form(x.Value) + " by name"
	case *ast.SelectorExpr:
		if x.Sel.Name == "Duration" {
			return "integer"
		}
		if x.Sel.Name == "Time" {
			return "time, RFC 3339"
		}
		return s.form(x.Sel)
	case *ast.Ident:
		switch {
		case x.Name == "float64":
			return "number"
		case x.Name == "bool":
			return "true or false"
		case x.Name == "Nanos", strings.Contains(x.Name, "int"):
			return "integer"
		case x.Name == "string":
			return "text"
		}
		return "[" + x.Name + "](#" + strings.ToLower(x.Name) + ")"
	}
	return ""
}
