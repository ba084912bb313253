package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// describeRoutes makes the OpenAPI 3.1 document from the table of routes: huma reads
// the Go types, so that the schemas are those of the values really written.
func (s *Server) describeRoutes(table []route) error {
	doc := openAPI(table, s.config)
	spec, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("OpenAPI document: %w", err)
	}
	s.spec = spec
	return nil
}

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	write(w, http.StatusOK, "application/vnd.oai.openapi+json", s.spec)
	return nil
}

func openAPI(table []route, config Config) *huma.OpenAPI {
	registry := newRegistry()
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Sextant", Version: config.Version, License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			Description: "Answers questions over documents: every statement is quoted from one, every condition is enforced on the whole corpus, every figure is exact. Errors are RFC 9457 problems."},
		Paths:      map[string]*huma.PathItem{},
		Components: &huma.Components{Schemas: registry},
	}
	if config.RootPath != "" {
		doc.Servers = []*huma.Server{{URL: config.RootPath}}
	}
	if len(config.Keys) > 0 {
		doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"key": {Type: "http", Scheme: "bearer"}}
	}
	for _, r := range table {
		if r.traits&hidden != 0 {
			continue
		}
		path := strings.ReplaceAll(r.path, "...}", "}")
		item := doc.Paths[path]
		if item == nil {
			item = &huma.PathItem{}
			doc.Paths[path] = item
		}
		op := operation(registry, r)
		if len(config.Keys) > 0 && r.traits&free == 0 {
			op.Security = []map[string][]string{{"key": {}}}
		}
		switch r.method {
		case http.MethodGet:
			item.Get = op
		case http.MethodDelete:
			item.Delete = op
		default:
			item.Post = op
		}
	}
	loosen(registry, table)
	return doc
}

func operation(registry huma.Registry, r route) *huma.Operation {
	op := &huma.Operation{OperationID: operationID(r), Summary: r.summary, Tags: []string{tag(r.path)}, Responses: map[string]*huma.Response{
		"200":     {Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: schemaOf(registry, r.out)}}},
		"default": {Description: "A problem", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: schemaOf(registry, Problem{})}}},
	}}
	for _, name := range regexp.MustCompile(`\{(\w+)`).FindAllStringSubmatch(r.path, -1) {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name[1], In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	if r.in != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schemaOf(registry, r.in)}}}
	}
	if r.traits&streams != 0 {
		op.Description = "With Accept: text/event-stream the answer comes as server-sent events: stage_started, stage_done, ledger, passages and delta, " +
			"then exactly one of final, which carries the answer, and error, which carries a problem. Comments are signs of life."
		op.Responses["200"].Content["text/event-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		op.Responses["503"] = &huma.Response{Description: "A source the answer needs cannot be reached: the answer says which.",
			Content: map[string]*huma.MediaType{"application/json": {Schema: schemaOf(registry, r.out)}}}
	}
	if r.traits&watches != 0 {
		op.Description = "With Accept: text/event-stream: progress whenever something changes, then exactly one of done, which carries the job as it ended, and error."
		op.Responses["200"].Content["text/event-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	if r.path == "/v1/ingest" {
		op.Responses["202"] = op.Responses["200"]
		op.Responses["202"].Description = "Accepted: Location is the job's address"
		delete(op.Responses, "200")
		op.RequestBody.Content["multipart/form-data"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true,
			Description: "The fields of the JSON form, then files: parts with a file name, which may have folders; Last-Modified tells their time."}}
	}
	if r.traits&lenient != 0 {
		op.Responses["422"] = &huma.Response{Description: "The body cannot be used", Content: map[string]*huma.MediaType{"application/json": {Schema: schemaOf(registry, validationError{})}}}
	}
	return op
}

func tag(path string) string {
	switch {
	case strings.HasPrefix(path, "/v1/"):
		return "v1"
	case ofBlueprint(path) && path != "/health":
		return "blueprint"
	}
	return "operations"
}

func operationID(r route) string {
	words := strings.FieldsFunc(strings.ReplaceAll(r.path, "{", " by "), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return strings.ToLower(r.method) + "-" + strings.Join(words, "-")
}

func schemaOf(registry huma.Registry, v any) *huma.Schema {
	return registry.Schema(reflect.TypeOf(v), true, "")
}

// newRegistry knows the types whose JSON is not what their Go structure suggests.
func newRegistry() huma.Registry {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	registry.RegisterTypeAlias(reflect.TypeFor[filter.Meta](), reflect.TypeFor[metaSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[sextant.Status](), reflect.TypeFor[statusSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[sextant.Op](), reflect.TypeFor[opSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[sextant.Origin](), reflect.TypeFor[originSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[sextant.Role](), reflect.TypeFor[roleSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[filter.Kind](), reflect.TypeFor[kindSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[wallTime](), reflect.TypeFor[wallTimeSchema]())
	return registry
}

type (
	metaSchema     struct{}
	statusSchema   struct{}
	opSchema       struct{}
	originSchema   struct{}
	roleSchema     struct{}
	kindSchema     struct{}
	wallTimeSchema struct{}
)

func (metaSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true,
		Description: "Fields by name: one value bare, several as an array, a group as an array of objects. GET /v1/collections/{name} says what they mean."}
}

func (statusSchema) Schema(huma.Registry) *huma.Schema {
	return enumOf("How the question ended.", sextant.Answered, sextant.Partial, sextant.NoData, sextant.InsufficientEvidence,
		sextant.OutOfScope, sextant.NeedsClarification, sextant.BudgetExhausted, sextant.SourceUnavailable)
}

func (opSchema) Schema(huma.Registry) *huma.Schema {
	return enumOf("", sextant.OpEq, sextant.OpIn, sextant.OpNotIn, sextant.OpGte, sextant.OpLte, sextant.OpBetween,
		sextant.OpContains, sextant.OpNotContains, sextant.OpExists)
}

func (originSchema) Schema(huma.Registry) *huma.Schema {
	return enumOf("Who stated the condition.", sextant.FromRule, sextant.FromModel, sextant.FromUser)
}

func (roleSchema) Schema(huma.Registry) *huma.Schema {
	return enumOf("", sextant.RoleEvents, sextant.RoleRules, sextant.RoleReports, sextant.RoleReference)
}

func (kindSchema) Schema(huma.Registry) *huma.Schema {
	return enumOf("", filter.Keyword.String(), filter.Int.String(), filter.Float.String(), filter.Bool.String(), filter.Time.String())
}

func (wallTimeSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: `Seconds (30, 2.5) or a span with units ("90s", "2m").`,
		OneOf: []*huma.Schema{{Type: huma.TypeNumber}, {Type: huma.TypeString}}}
}

func enumOf[T ~string](description string, values ...T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Description: description}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// loosen says what huma cannot know: lists are never null here, answers may grow, and
// only the bodies of strict routes refuse what they do not know.
func loosen(registry huma.Registry, table []route) {
	strict := map[string]bool{}
	for _, r := range table {
		if r.in != nil && r.traits&lenient == 0 {
			mark(registry, schemaOf(registry, r.in), strict)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(registry.Map())) {
		schema := registry.Map()[name]
		if !strict[name] && schema.AdditionalProperties == false {
			schema.AdditionalProperties = nil
		}
		for _, p := range schema.Properties {
			denull(p)
		}
		nullReferences(schema, registry.TypeFromRef("#/components/schemas/"+name))
	}
}

// nullReferences lets a member be null whose field is a pointer to a structure and is
// never left out; huma writes a bare reference for it.
func nullReferences(s *huma.Schema, t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if p := s.Properties[name]; p != nil && p.Ref != "" && f.Type.Kind() == reflect.Pointer && options == "" {
			s.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}}
		}
	}
}

func mark(registry huma.Registry, s *huma.Schema, strict map[string]bool) {
	name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	if name == "" || strict[name] {
		return
	}
	strict[name] = true
	for _, p := range registry.Map()[name].Properties {
		mark(registry, p, strict)
	}
}

func denull(s *huma.Schema) {
	if s.Type == huma.TypeArray {
		s.Nullable = false
	}
	if s.Items != nil {
		denull(s.Items)
	}
}
