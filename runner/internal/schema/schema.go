package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// Draft is the version of JSON Schema.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// object is a JSON object whose members keep their order, which is that of the
// types: a schema is read by people too.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		v, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", m.name, v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal leaves < and > readable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// File is a file of an archive and the type that it holds, or a list of which.
type File struct {
	Name  string // in the folder, without .json
	Title string
	Type  string
	List  bool
}

// Files are all of them. A member may be added within a schema version, so the
// published schemas allow members that they do not know.
var Files = []File{
	{"benchmark", "A session in one file: benchmark.json", "Session", false},
	{"plan", "What a session will do: plan.json", "Plan", false},
	{"host", "What the machine is: host.json", "Host", false},
	{"contract", "The proof that targets answer alike: contract.json", "Parity", true},
	{"probes", "Capacities before the first block: probes.json", "Probe", true},
	{"run", "What one fresh process yielded: runs/*.json", "Run", false},
	{"session", "The end of a session: session.json", "seal", false},
	{"load", "What gonogo load --json prints", "LoadRecord", false},
	{"decision", "What gonogo decide files: decision.json", "Decision", false},
	{"inputs", "What gonogo decide --inputs reads", "DecisionInputs", false},
	{service, "What gonogo compare --plan reads: services of your own", "ServicePlan", false},
}

// service is written by people, who want to be told of a slip: its schema allows no
// member that it does not know.
const service = "service"

// generator builds one schema.
type generator struct {
	*source
	strict bool // no member but those that are known
	used   []string
}

// Schema gives the schema of a file as JSON.
func (s *source) Schema(f File, strict bool) ([]byte, error) {
	g := &generator{source: s, strict: strict}
	root := object{{"$schema", Draft}, {"title", f.Title}}
	if f.List {
		root = append(root, member{"type", "array"}, member{"items", g.ref(f.Type)})
	} else {
		root = append(root, g.ref(f.Type)...)
	}
	var defs object
	for i := 0; i < len(g.used); i++ { // it grows meanwhile
		d, err := g.define(g.used[i])
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", f.Name, err)
		}
		defs = append(defs, member{g.used[i], d})
	}
	data, err := marshal(append(root, member{"$defs", defs}))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, data, "", "  ")
	b.WriteByte('\n')
	return b.Bytes(), err
}

func (g *generator) ref(name string) object {
	if !slices.Contains(g.used, name) {
		g.used = append(g.used, name)
	}
	return object{{"$ref", "#/$defs/" + name}}
}

// define gives the schema of a named type.
func (g *generator) define(name string) (object, error) {
	spec, ok := g.types[name]
	if !ok {
		return nil, fmt.Errorf("no type %s", name)
	}
	t, ok := spec.Type.(*ast.StructType)
	if !ok {
		o, err := g.of(spec.Type)
		if err != nil {
			return nil, err
		}
		var values, meanings []string
		for _, w := range g.words[name] {
			values = append(values, w.value)
			if w.doc != "" {
				meanings = append(meanings, w.value+": "+w.doc)
			}
		}
		if values != nil {
			o = append(o, member{"enum", values})
		}
		return described(o, sentence(g.docs[name], strings.Join(meanings, "; "))), nil
	}
	required := []string{}
	var properties object
	for _, f := range g.fields(t) {
		p, err := g.property(f)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", name, f.name, err)
		}
		properties = append(properties, member{f.name, p})
		if f.required {
			required = append(required, f.name)
		}
	}
	o := object{{"type", "object"}, {"properties", properties}, {"required", required}}
	if g.strict {
		o = append(o, member{"additionalProperties", false})
	}
	return described(o, g.docs[name]), nil
}

func (g *generator) property(f field) (object, error) {
	o, err := g.of(f.typ)
	if err != nil {
		return nil, err
	}
	if f.name == "schema_version" {
		o = append(o, member{"const", record.SchemaVersion})
	}
	if f.required && nilable(f.typ) { // Go writes a nil as null
		o = object{{"anyOf", []any{o, object{{"type", "null"}}}}}
	}
	return described(o, sentence(f.doc, unit(f.name))), nil
}

func nilable(t ast.Expr) bool {
	switch x := t.(type) {
	case *ast.ArrayType:
		return x.Len == nil
	case *ast.MapType, *ast.StarExpr:
		return true
	}
	return false
}

// of gives the schema of a type as it is written in Go.
func (g *generator) of(t ast.Expr) (object, error) {
	switch x := t.(type) {
	case *ast.StarExpr:
		return g.of(x.X)
	case *ast.ArrayType:
		items, err := g.of(x.Elt)
		o := object{{"type", "array"}, {"items", items}}
		if n, ok := x.Len.(*ast.BasicLit); ok {
			o = append(o, member{"minItems", json.Number(n.Value)}, member{"maxItems", json.Number(n.Value)})
		}
		return o, err
	case *ast.MapType:
		values, err := g.of(x.Value)
		return object{{"type", "object"}, {"additionalProperties", values}}, err
	case *ast.SelectorExpr:
		switch x.Sel.Name {
		case "Duration":
			return object{{"type", "integer"}}, nil
		case "Time":
			return object{{"type", "string"}, {"format", "date-time"}}, nil
		}
		return g.ref(x.Sel.Name), nil
	case *ast.Ident:
		return g.named(x.Name), nil
	}
	return nil, fmt.Errorf("a type %T has no schema", t)
}

func (g *generator) named(name string) object {
	switch name {
	case "string":
		return object{{"type", "string"}}
	case "bool":
		return object{{"type", "boolean"}}
	case "float64":
		return object{{"type", "number"}}
	case "int", "int64":
		return object{{"type", "integer"}}
	case "uint64", "uint32":
		return object{{"type", "integer"}, {"minimum", 0}}
	}
	if spec, ok := g.types[name]; ok && spec.Assign.IsValid() { // another name for a type
		if o, err := g.of(spec.Type); err == nil {
			return o
		}
	}
	return g.ref(name)
}

func described(o object, text string) object {
	if text == "" {
		return o
	}
	return append(object{{"description", text}}, o...)
}

// unit says what the end of a name means.
func unit(name string) string {
	for end, text := range map[string]string{"_ns": "nanoseconds", "_bytes": "bytes", "_per_sec": "per second", "_ratio": "a ratio, 1 is the whole"} {
		if strings.HasSuffix(name, end) {
			return text
		}
	}
	return ""
}

// sentence joins a comment and what is said behind it.
func sentence(text, more string) string {
	switch {
	case text == "":
		return more
	case more == "":
		return text
	}
	return strings.TrimSuffix(text, ".") + ". [" + more + "]"
}
