package extract

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
)

// Bounds of a message: parts nested in parts, and how many there are.
const (
	mostMailDepth = 12
	mostMailParts = 500
)

// readEmail reads a message (RFC 5322, MIME): its fields, its text, and the files that
// hang on it, each read as what it is.
func (x *Extractor) readEmail(ctx context.Context, in *input) (Text, error) {
	raw, err := in.all(ctx, min(in.limits.Input, 2*in.limits.Text))
	if err != nil {
		return Text{}, err
	}
	if bytes.HasPrefix(raw, []byte("From ")) { // a mailbox's line before a message
		if i := bytes.IndexByte(raw, '\n'); i >= 0 {
			raw = raw[i+1:]
		}
	}
	m := mail{x: x, ctx: ctx, in: in, w: newWriter(in)}
	header, body := mailHeader(raw)
	t := Text{Format: FormatEmail, Title: shorten(m.word(header.Get("Subject")), 200)}
	t.Properties = m.properties(header)
	m.fields(header)
	if err := m.part(header, body, 0); err != nil {
		return Text{}, err
	}
	if err := m.files(); err != nil {
		return Text{}, err
	}
	t.Properties.Attachments, t.Warnings = len(m.attached), m.warnings
	t.Text, t.Parts, err = m.w.result()
	if err == nil && !m.body && len(m.attached) == 0 && len(header) < 2 {
		return Text{}, malformed("", "it is no message")
	}
	return t, err
}

// mail is a message being read.
type mail struct {
	x        *Extractor
	ctx      context.Context
	in       *input
	w        *writer
	attached []attachedFile
	warnings []string
	parts    int
	body     bool // some text of the message was written
}

// attachedFile is a file that hangs on a message.
type attachedFile struct {
	name string
	data []byte
}

// mailHeader reads fields leniently: lines that are none are skipped. It returns what
// follows the first blank line.
func mailHeader(raw []byte) (textproto.MIMEHeader, []byte) {
	h := textproto.MIMEHeader{}
	last := ""
	for n := 0; len(raw) > 0; n++ {
		line := raw
		if i := bytes.IndexByte(raw, '\n'); i >= 0 {
			line, raw = raw[:i], raw[i+1:]
		} else {
			raw = nil
		}
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			break
		}
		if (line[0] == ' ' || line[0] == '\t') && last != "" {
			v := h[last]
			if len(v[len(v)-1]) < 64<<10 {
				v[len(v)-1] += " " + strings.TrimSpace(string(line))
			}
			continue
		}
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || n > 5000 || bytes.ContainsAny(key, " \t") {
			continue
		}
		last = textproto.CanonicalMIMEHeaderKey(string(key))
		h[last] = append(h[last], strings.TrimSpace(string(value)))
	}
	return h, raw
}

var wordDecoder = mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
	enc, _ := lookup(charset)
	if enc == nil {
		return nil, fmt.Errorf("unknown encoding %q", charset)
	}
	return enc.NewDecoder().Reader(r), nil
}}

// word decodes a field's value: encoded words, and bytes that should be.
func (m *mail) word(s string) string {
	if out, err := wordDecoder.DecodeHeader(s); err == nil {
		s = out
	}
	text, _, _ := decode([]byte(s), "")
	return clean(text)
}

func (m *mail) properties(h textproto.MIMEHeader) Properties {
	return Properties{From: m.word(h.Get("From")), To: m.word(h.Get("To")), Author: m.word(h.Get("From")), Created: mailTime(h.Get("Date"))}
}

// mailTime reads a date in the forms mail has it.
func mailTime(s string) time.Time {
	s, _, _ = strings.Cut(strings.TrimSpace(s), " (")
	for _, layout := range []string{"Mon, 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04:05 MST", time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// fields writes the fields that people read.
func (m *mail) fields(h textproto.MIMEHeader) {
	var lines []string
	for _, key := range []string{"Subject", "From", "To", "Cc", "Date"} {
		if v := m.word(h.Get(key)); v != "" {
			lines = append(lines, key+": "+v)
		}
	}
	m.w.note("header", strings.Join(lines, "\n"))
}

// part reads one part of a message, and those inside it.
func (m *mail) part(h textproto.MIMEHeader, body []byte, depth int) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if m.parts++; m.parts > mostMailParts {
		return &Refusal{Code: Bomb, Reason: fmt.Sprintf("the message has more than %d parts", mostMailParts)}
	}
	if depth > mostMailDepth {
		return &Refusal{Code: TooDeep, Reason: fmt.Sprintf("its parts are nested more than %d deep", mostMailDepth)}
	}
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil && kind == "" {
		kind = "text/plain"
	}
	disposition, named, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
	name := m.word(named["filename"])
	if name == "" {
		name = m.word(parameters["name"])
	}
	switch {
	case strings.HasPrefix(kind, "multipart/") && parameters["boundary"] != "":
		return m.multipart(kind, parameters["boundary"], body, depth)
	case disposition != "attachment" && name == "" && strings.HasPrefix(kind, "text/"):
		m.text(kind, parameters["charset"], transfer(h, body))
		return nil
	}
	if name == "" {
		name = "message.eml"
		if kind != "message/rfc822" {
			name = "unnamed"
			if e, _ := mime.ExtensionsByType(kind); len(e) > 0 {
				name += e[0]
			}
		}
	}
	m.attached = append(m.attached, attachedFile{name, transfer(h, body)})
	return nil
}

// multipart reads the parts of a part. Of alternatives the plain text is read, unless it
// says much less than the page.
func (m *mail) multipart(kind, boundary string, body []byte, depth int) error {
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	type piece struct {
		header textproto.MIMEHeader
		body   []byte
	}
	var pieces []piece
	for len(pieces) <= mostMailParts {
		p, err := r.NextRawPart()
		if err != nil {
			if !errors.Is(err, io.EOF) && len(pieces) == 0 {
				m.warnings = append(m.warnings, "A part of the message is damaged and was left out.")
			}
			break
		}
		data, err := io.ReadAll(p)
		pieces = append(pieces, piece{p.Header, data})
		if err != nil {
			m.warnings = append(m.warnings, "The message is cut off.")
			break
		}
	}
	if kind == "multipart/alternative" {
		best, size := -1, 0
		for i, p := range pieces {
			t, _, _ := mime.ParseMediaType(p.header.Get("Content-Type"))
			n := len(p.body)
			switch {
			case t == "text/plain":
				n *= 8 // a page has several times the bytes of its text
			case t == "text/calendar" || t == "text/x-amp-html":
				n = 0
			}
			if n > size {
				best, size = i, n
			}
		}
		if best >= 0 {
			return m.part(pieces[best].header, pieces[best].body, depth+1)
		}
		return nil
	}
	for _, p := range pieces {
		if err := m.part(p.header, p.body, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// transfer undoes the encoding of a part for the way. What is damaged is read as far as
// it goes.
func transfer(h textproto.MIMEHeader, body []byte) []byte {
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "base64":
		out := make([]byte, 0, len(body)*3/4)
		kept := body[:0:0]
		for _, c := range body {
			if c > ' ' && c != '=' {
				kept = append(kept, c)
			}
		}
		out, err := base64.RawStdEncoding.AppendDecode(out, kept)
		if err != nil && len(out) == 0 {
			return body
		}
		return out
	case "quoted-printable":
		out, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		if err != nil && len(out) < len(body)/2 {
			return body
		}
		return out
	}
	return body
}

// text writes a text of the message.
func (m *mail) text(kind, charset string, data []byte) {
	declared := charset
	if kind == "text/html" && declared == "" {
		declared = declaredCharset(data)
	}
	text, _, warnings := decode(data, declared)
	m.warnings = append(m.warnings, warnings...)
	m.w.begin(KindMessage, "message")
	defer m.w.end()
	m.body = true
	if kind == "text/html" {
		root, err := parseHTML(m.ctx, text)
		if err != nil {
			m.warnings = append(m.warnings, fmt.Sprintf("The page in the message could not be read (%v).", err))
			return
		}
		m.w.sections = false
		removeHidden(root)
		writeHTML(m.ctx, m.w, root)
		m.w.sections = true
		return
	}
	for block := range strings.SplitSeq(cleanCode(text), "\n\n") {
		m.w.lines(block)
	}
}

// files reads the files that hang on the message. One that is refused is named.
func (m *mail) files() error {
	for _, f := range m.attached {
		if m.in.level >= 4 {
			m.warnings = append(m.warnings, fmt.Sprintf("Attachment %q is inside too many others and was left out.", f.name))
			continue
		}
		inner := input{name: f.name, r: bytes.NewReader(f.data), size: int64(len(f.data)), limits: m.in.limits, left: m.in.left, level: m.in.level + 1}
		t, err := m.x.extract(m.ctx, inner)
		if r := RefusalOf(err); r != nil {
			m.warnings = append(m.warnings, fmt.Sprintf("Attachment %q was left out: %s.", f.name, r.Reason))
			if m.in.left.text < 0 || m.in.left.unpack < 0 {
				return r
			}
			continue
		}
		if err != nil {
			return err
		}
		for _, w := range t.Warnings {
			m.warnings = append(m.warnings, f.name+": "+w)
		}
		m.w.embed(KindAttachment, f.name, t)
	}
	return nil
}

// embed writes the text of a file inside this one as a part of it.
func (w *writer) embed(kind, name string, t Text) {
	w.budget.text += int64(len(t.Text)) // it was counted when it was read
	start, end := w.write(blockText, t.Text)
	if w.err != nil || start >= end {
		return
	}
	locator := join(w.locator(""), name)
	w.parts = append(w.parts, sextant.Part{Kind: kind, Locator: locator, Start: start, End: end})
	for _, p := range t.Parts {
		w.parts = append(w.parts, sextant.Part{Kind: p.Kind, Locator: join(locator, p.Locator), Start: p.Start + start, End: p.End + start})
	}
}
