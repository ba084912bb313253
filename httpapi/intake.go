package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
)

// ingestRequest is the body of POST /v1/ingest where nothing is sent along; in a form
// these are its fields, and every part with a file name is a file.
type ingestRequest = ingest.Order

// taskList is the answer of GET /v1/jobs.
type taskList struct {
	Jobs []ingest.Task `json:"jobs"`
}

var errNoDesk = &sextant.Error{Code: sextant.CodeNotFound, Op: "ingest", Message: "This server takes no documents in.", Hint: "Use `sextant ingest` on its machine."}

// takeIn answers POST /v1/ingest with 202 and the job: the files are here, and the rest
// is told by GET /v1/jobs/{id}.
func (s *Server) takeIn(w http.ResponseWriter, r *http.Request) error {
	if s.config.Desk == nil {
		return errNoDesk
	}
	var order ingest.Order
	files := func(func(ingest.Sent, error) bool) {}
	mediaType, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && mediaType == "multipart/form-data" {
		form := &form{parts: multipart.NewReader(s.patient(w, r), parameters["boundary"]), order: &order}
		if err := form.fields(); err != nil {
			return err
		}
		files = form.files()
	} else if err := readStrict(w, r, &order); err != nil {
		return err
	}
	if err := checkOrder(order); err != nil {
		return err
	}
	task, err := s.config.Desk.Take(r.Context(), order, files)
	if err != nil {
		return err
	}
	w.Header().Set("Location", s.config.RootPath+"/v1/jobs/"+task.ID)
	return writeJSON(w, http.StatusAccepted, task)
}

// kinds are what can be sent.
var kinds = []string{"table", "files", "ntsb", "ecfr", "news"}

func checkOrder(o ingest.Order) error {
	switch {
	case !slices.Contains(kinds, o.Kind):
		return badRequest(fmt.Sprintf("Unknown kind %q.", o.Kind), "Use "+strings.Join(kinds, ", ")+".")
	case o.Collection == "" && (o.Kind == "table" || o.Kind == "files"):
		return badRequest("collection is missing.", "Name the collection to fill; it is made if it is new.")
	}
	return o.Cutting().Check()
}

// breath is how long a client that sends files may be silent.
const breath = time.Minute

// patient reads a body for as long as it comes: the server's own limit is for requests
// that are small.
func (s *Server) patient(w http.ResponseWriter, r *http.Request) io.Reader {
	return &patientReader{r.Body, http.NewResponseController(w)}
}

type patientReader struct {
	body io.Reader
	conn *http.ResponseController
}

func (p *patientReader) Read(b []byte) (int, error) {
	_ = p.conn.SetReadDeadline(time.Now().Add(breath)) // a writer without deadlines, as in tests, has none to lift
	_ = p.conn.SetWriteDeadline(time.Now().Add(2 * breath))
	return p.body.Read(b)
}

// form reads an order and its files from multipart/form-data, as they come.
type form struct {
	parts *multipart.Reader
	order *ingest.Order
	first *multipart.Part // the first file
}

// maxField bounds one field of a form; schemas are the longest.
const maxField = 1 << 20

// fields reads the parts before the first file.
func (f *form) fields() error {
	for {
		part, err := f.parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return badRequest("The form cannot be read.", "Send multipart/form-data, the fields before the files.")
		}
		if fileName(part) != "" {
			f.first = part
			return nil
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField+1))
		switch {
		case err != nil:
			return badRequest("The request broke off before its end.", "")
		case len(value) > maxField:
			return badRequest(fmt.Sprintf("The field %s is longer than %d bytes.", part.FormName(), maxField), "")
		}
		if err := f.set(part.FormName(), string(value)); err != nil {
			return err
		}
	}
}

// fileName returns the name a part's file was sent under, folders included, which
// Part.FileName leaves out.
func fileName(p *multipart.Part) string {
	_, parameters, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return parameters["filename"]
}

func (f *form) set(name, value string) error {
	o := f.order
	for field, into := range map[string]*string{"kind": &o.Kind, "collection": &o.Collection, "url": &o.URL, "id": &o.ID, "title": &o.Title, "schema": &o.Schema, "encoding": &o.Encoding, "sheet": &o.Sheet} {
		if field == name {
			*into = value
			return nil
		}
	}
	for field, into := range map[string]*bool{"replace": &o.Replace, "prune": &o.Prune, "reread": &o.Reread, "no_encode": &o.NoEncode} {
		if field == name {
			b, err := strconv.ParseBool(value)
			if err != nil {
				return badRequest(fmt.Sprintf("%s must be true or false.", name), "")
			}
			*into = b
			return nil
		}
	}
	if name == "chunk_size" || name == "chunk_overlap" {
		return f.setCut(name, value)
	}
	if name == "text" {
		o.Text = append(o.Text, value)
		return nil
	}
	return badRequest(fmt.Sprintf("The form has a field %q that does not exist here.", sextant.CleanText(name)), "GET /openapi.json lists the fields; files need a file name.")
}

func (f *form) setCut(name, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil {
		return badRequest(name+" must be a number of tokens.", "")
	}
	if name == "chunk_size" {
		f.order.ChunkSize = n
	} else {
		f.order.ChunkOverlap = &n
	}
	return nil
}

// files yields the files of the form, each of which must be read before the next.
func (f *form) files() iter.Seq2[ingest.Sent, error] {
	return func(yield func(ingest.Sent, error) bool) {
		for part := f.first; part != nil; {
			name := fileName(part)
			if name == "" {
				yield(ingest.Sent{}, badRequest("A field stands after a file.", "Send the fields first."))
				return
			}
			modified, err := http.ParseTime(part.Header.Get("Last-Modified"))
			if err != nil {
				modified = time.Time{}
			}
			if !yield(ingest.Sent{Name: name, Modified: modified, Body: part}, nil) {
				return
			}
			part, err = f.parts.NextPart()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(ingest.Sent{}, badRequest("The request broke off before its end.", "Nothing of it was taken in."))
				return
			}
		}
	}
}

func (s *Server) jobs(w http.ResponseWriter, _ *http.Request) error {
	if s.config.Desk == nil {
		return errNoDesk
	}
	return writeJSON(w, http.StatusOK, taskList{s.config.Desk.Tasks()})
}

// job answers with a job as it is now, or with its progress as events: progress as often
// as something changes, then exactly one of done, with the job as it ended, and error.
func (s *Server) job(w http.ResponseWriter, r *http.Request) error {
	if s.config.Desk == nil {
		return errNoDesk
	}
	w.Header().Add("Vary", "Accept")
	task, err := s.config.Desk.Task(r.PathValue("id"))
	if err != nil {
		return err
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return writeJSON(w, http.StatusOK, task)
	}
	s.liftDeadline(w)
	e := newEventWriter(w)
	if err := s.writeProgress(e, r, task.ID); err != nil && !errors.Is(err, errGone) {
		s.logFailure(r, err)
		_ = e.event("error", problemOf(explained(r.Context(), err), requestID(r)))
	}
	return nil
}

// writeProgress writes the job's changes, with signs of life between them.
func (s *Server) writeProgress(e *eventWriter, r *http.Request, id string) error {
	ctx := r.Context()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type change struct {
		task ingest.Task
		err  error
	}
	changes := make(chan change)
	go func() {
		defer close(changes)
		for task, err := range s.config.Desk.Watch(ctx, id) {
			select {
			case changes <- change{task, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	beat := time.NewTicker(s.config.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			if err := e.heartbeat(); err != nil {
				return err
			}
		case c, more := <-changes:
			switch {
			case !more:
				return nil
			case c.err != nil:
				return c.err
			case c.task.State.Final():
				return e.event("done", c.task)
			}
			if err := e.event("progress", c.task); err != nil {
				return err
			}
		}
	}
}

func (s *Server) cancelJob(w http.ResponseWriter, r *http.Request) error {
	if s.config.Desk == nil {
		return errNoDesk
	}
	task, err := s.config.Desk.Cancel(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, task)
}

func (s *Server) resumeJob(w http.ResponseWriter, r *http.Request) error {
	if s.config.Desk == nil {
		return errNoDesk
	}
	task, err := s.config.Desk.Resume(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, task)
}
