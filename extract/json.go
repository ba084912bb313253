package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// jsonFormat tells one JSON value, JSON lines and a notebook apart by a sample of text
// that begins with a bracket; "" is text in brackets.
func jsonFormat(text string, named Format, whole bool) Format {
	switch {
	case named == FormatNotebook || strings.HasPrefix(text, "{") && strings.Contains(text, `"cells"`) && strings.Contains(text, `"nbformat"`):
		return FormatNotebook
	case named == FormatJSONL || named == FormatJSON:
		return named
	}
	first, rest, more := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "{") && json.Valid([]byte(first)) && more && strings.HasPrefix(strings.TrimSpace(rest), "{") {
		return FormatJSONL
	}
	if whole && json.Valid([]byte(text)) || !whole && validStart(text) {
		return FormatJSON
	}
	return ""
}

// validStart reports whether a text that is cut off could be JSON.
func validStart(text string) bool {
	d := jsonScanner{s: text}
	for {
		if _, err := d.next(); err != nil {
			return errors.Is(err, errCut)
		}
	}
}

// readJSON writes a JSON value as lines of "key: value". Elements of an outermost array
// are records, and so are those of arrays under the keys of an outermost object.
func readJSON(ctx context.Context, in *input) (Text, error) {
	text, properties, warnings, err := in.decoded(ctx)
	if err != nil {
		return Text{}, err
	}
	w := newWriter(in)
	j := newJSONWriter(ctx, w, strings.TrimPrefix(text, "\ufeff"))
	if err := j.top(); err != nil {
		return Text{}, j.refuse(err, "")
	}
	t := Text{Format: FormatJSON, Properties: properties, Warnings: warnings}
	t.Text, t.Parts, err = w.result()
	return t, err
}

// readJSONL writes each line's value as a record. Lines that are no JSON are left out
// and named; a file of nothing else is refused.
func readJSONL(ctx context.Context, in *input) (Text, error) {
	text, properties, warnings, err := in.decoded(ctx)
	if err != nil {
		return Text{}, err
	}
	w := newWriter(in)
	t := Text{Format: FormatJSONL, Properties: properties, Warnings: warnings}
	line, good := 0, 0
	var bad []string
	var first error
	for raw := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line++
		if strings.TrimSpace(strings.Trim(raw, "\x00\x1e")) == "" {
			continue
		}
		j := newJSONWriter(ctx, w, strings.Trim(raw, "\x00\x1e\r\n"))
		err := j.record(fmt.Sprintf("line %d", line))
		if err == nil {
			err = j.end()
		}
		if err != nil {
			if ctx.Err() != nil || w.err != nil {
				return Text{}, j.refuse(err, "")
			}
			if first == nil {
				first = j.refuse(err, fmt.Sprintf("line %d", line))
			}
			bad = append(bad, fmt.Sprint(line))
			continue
		}
		good++
	}
	if good == 0 && first != nil {
		return Text{}, first
	}
	if n := len(bad); n > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%d of %d lines are no valid JSON and were left out (lines %s).", n, n+good, strings.Join(bad[:min(n, 10)], ", ")))
	}
	t.Text, t.Parts, err = w.result()
	return t, err
}

// jsonWriter writes values as they are read, so that a large file is never a tree.
type jsonWriter struct {
	ctx   context.Context
	w     *writer
	d     jsonScanner
	limit int
	b     strings.Builder // the record at hand
	n     int
}

func newJSONWriter(ctx context.Context, w *writer, text string) *jsonWriter {
	return &jsonWriter{ctx: ctx, w: w, d: jsonScanner{s: text}, limit: w.depth}
}

// refuse makes a Refusal of an error, with the byte it is at.
func (j *jsonWriter) refuse(err error, place string) error {
	switch {
	case j.ctx.Err() != nil:
		return j.ctx.Err()
	case j.w.err != nil:
		return j.w.err
	case RefusalOf(err) != nil:
		return located(err, place)
	}
	if place == "" {
		place = fmt.Sprintf("byte %d", j.d.at)
	}
	if errors.Is(err, errCut) {
		return &Refusal{Code: Malformed, Place: place, Reason: "it ends in the middle: cut off", Err: err}
	}
	return &Refusal{Code: Malformed, Place: place, Reason: "it is no valid JSON", Err: err}
}

func (j *jsonWriter) token() (jsonToken, error) {
	if j.n++; j.n%4096 == 0 && j.ctx.Err() != nil {
		return jsonToken{}, j.ctx.Err()
	}
	if j.w.err != nil {
		return jsonToken{}, j.w.err
	}
	return j.d.next()
}

// top writes the outermost value.
func (j *jsonWriter) top() error {
	t, err := j.token()
	if err != nil {
		return err
	}
	switch t.kind {
	case '[':
		err = j.records()
	case '{':
		err = j.fields()
	default:
		j.scalar("", t, 0)
		j.flush("")
	}
	if err != nil {
		return err
	}
	return j.end()
}

// end checks that nothing follows the value.
func (j *jsonWriter) end() error {
	if !j.d.end() {
		return j.d.errJSON("more text after the value")
	}
	return nil
}

// records writes the elements of the outermost array, each as a block, or all in one if
// they are plain values.
func (j *jsonWriter) records() error {
	for i := 1; j.d.more(); i++ {
		t, err := j.token()
		if err != nil {
			return err
		}
		if i == 1 && t.kind != '{' && t.kind != '[' {
			err := j.array("", t, 0, 1)
			j.flush("")
			return err
		}
		if err := j.value("", t, 0, 1); err != nil {
			return err
		}
		j.flush(fmt.Sprintf("record %d", i))
	}
	_, err := j.token()
	return err
}

func (j *jsonWriter) record(locator string) error {
	j.b.Reset()
	t, err := j.token()
	if err == nil {
		err = j.value("", t, 0, 1)
	}
	if err == nil {
		j.flush(locator)
	}
	return err
}

// fields writes the members of the outermost object: what has records under a heading,
// all else as lines.
func (j *jsonWriter) fields() error {
	for j.d.more() {
		key, err := j.key()
		if err != nil {
			return err
		}
		t, err := j.token()
		if err != nil {
			return err
		}
		if t.kind != '[' {
			if err := j.value(key, t, 0, 1); err != nil {
				return err
			}
			continue
		}
		j.flush("")
		if err := j.list(key); err != nil {
			return err
		}
	}
	j.flush("")
	_, err := j.token()
	return err
}

// list writes an array under a key of the outermost object.
func (j *jsonWriter) list(key string) error {
	if !j.d.more() {
		_, err := j.token()
		return err
	}
	t, err := j.token()
	if err != nil {
		return err
	}
	if t.kind != '{' && t.kind != '[' {
		return j.array(key, t, 0, 1)
	}
	j.w.heading(2, key)
	for i := 1; ; i++ {
		if err := j.value("", t, 0, 2); err != nil {
			return err
		}
		j.flush(fmt.Sprintf("record %d", i))
		if !j.d.more() {
			break
		}
		if t, err = j.token(); err != nil {
			return err
		}
	}
	_, err = j.token()
	return err
}

func (j *jsonWriter) key() (string, error) {
	t, err := j.token()
	if err != nil {
		return "", err
	}
	return shorten(clean(t.text), 200), nil
}

// value writes a value that begins with a token.
func (j *jsonWriter) value(key string, t jsonToken, indent, depth int) error {
	if depth > j.limit {
		return &Refusal{Code: TooDeep, Place: fmt.Sprintf("byte %d", j.d.at), Reason: fmt.Sprintf("its values are nested more than %d deep", j.limit)}
	}
	switch t.kind {
	case '{':
		if key != "" {
			j.line(key+":", indent)
			indent++
		}
		for j.d.more() {
			name, err := j.key()
			if err != nil {
				return err
			}
			t, err := j.token()
			if err != nil {
				return err
			}
			if err := j.value(name, t, indent, depth+1); err != nil {
				return err
			}
		}
		_, err := j.token()
		return err
	case '[':
		if !j.d.more() {
			_, err := j.token()
			return err
		}
		first, err := j.token()
		if err != nil {
			return err
		}
		return j.array(key, first, indent, depth)
	}
	j.scalar(key, t, indent)
	return nil
}

// array writes the elements of an array of which one token has been read: plain values
// in one line, others below each other.
func (j *jsonWriter) array(key string, t jsonToken, indent, depth int) error {
	var plain []string
	size := 0
	flat := func() {
		if len(plain) > 0 {
			j.line(label(key)+strings.Join(plain, ", "), indent)
			plain, size = nil, 0
		}
	}
	for {
		if t.kind == '{' || t.kind == '[' {
			flat()
			if err := j.value("-", t, indent, depth+1); err != nil {
				return err
			}
			key = ""
		} else if text := scalarText(t); text != "" {
			plain = append(plain, text)
			if size += len(text); size > 2000 {
				flat()
			}
		}
		if !j.d.more() {
			break
		}
		var err error
		if t, err = j.token(); err != nil {
			return err
		}
	}
	flat()
	_, err := j.token()
	return err
}

func label(key string) string {
	if key == "" {
		return ""
	}
	return key + ": "
}

func (j *jsonWriter) scalar(key string, t jsonToken, indent int) {
	if text := scalarText(t); text != "" {
		j.line(label(key)+text, indent)
	}
}

// scalarText is a plain value as people write it; null is nothing.
func scalarText(t jsonToken) string {
	if t.kind == 's' {
		return cleanLines(t.text)
	}
	return t.text
}

func (j *jsonWriter) line(text string, indent int) {
	pad := strings.Repeat("  ", min(indent, 12))
	if j.b.Len() > 0 {
		j.b.WriteByte('\n')
	}
	j.b.WriteString(pad + strings.ReplaceAll(text, "\n", "\n"+pad+"  "))
	if int64(j.b.Len()) > j.w.budget.text {
		j.flush("")
	}
}

// flush writes the lines so far as a block.
func (j *jsonWriter) flush(locator string) {
	if j.b.Len() == 0 {
		return
	}
	start, end := j.w.write(blockText, strings.TrimLeft(j.b.String(), " "))
	j.b.Reset()
	if locator != "" {
		j.w.part(KindEntry, locator, start, end)
	}
}

// notebook is what is read of a Jupyter notebook (nbformat 4).
type notebook struct {
	Cells []struct {
		Type    string    `json:"cell_type"`
		Source  jsonLines `json:"source"`
		Outputs []struct {
			Text jsonLines            `json:"text"`
			Data map[string]jsonLines `json:"data"`
		} `json:"outputs"`
	} `json:"cells"`
}

// jsonLines is a text, or a list of its lines; what is neither is no text.
type jsonLines string

// UnmarshalJSON implements json.Unmarshaler.
func (l *jsonLines) UnmarshalJSON(b []byte) error {
	var lines []string
	var text string
	switch {
	case bytes.HasPrefix(b, []byte("[")) && json.Unmarshal(b, &lines) == nil:
		*l = jsonLines(strings.Join(lines, ""))
	case json.Unmarshal(b, &text) == nil:
		*l = jsonLines(text)
	}
	return nil
}

// readNotebook reads the cells of a Jupyter notebook: text as Markdown, code as code,
// with what it printed.
func readNotebook(ctx context.Context, in *input) (Text, error) {
	text, properties, warnings, err := in.decoded(ctx)
	if err != nil {
		return Text{}, err
	}
	var n notebook
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &n); err != nil {
		return Text{}, &Refusal{Code: Malformed, Reason: "it is no valid notebook", Err: err}
	}
	w := newWriter(in)
	for _, c := range n.Cells {
		if err := ctx.Err(); err != nil {
			return Text{}, err
		}
		if c.Type != "code" {
			m := markdown{w: w, lines: strings.Split(lineBreaks.Replace(string(c.Source)), "\n"), properties: &properties}
			if err := m.read(ctx); err != nil {
				return Text{}, err
			}
			continue
		}
		w.code(string(c.Source))
		for _, o := range c.Outputs {
			w.code(string(o.Text) + string(o.Data["text/plain"]))
		}
	}
	t := Text{Format: FormatNotebook, Properties: properties, Warnings: warnings}
	t.Text, t.Parts, err = w.result()
	return t, err
}
