package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
)

// A data folder belongs to one process. While a server has it, the verbs of ingest send
// it what they would have read, and show how it gets on.

// viaServer takes in through the server that has the data folder, if one has.
func (s *session) viaServer(ctx context.Context, o ingest.Order, paths []string) (handled bool, err error) {
	h, held := s.holder()
	if !held || h.Address == "" {
		return false, nil
	}
	files, err := filesToSend(o.Kind, paths)
	if err != nil {
		return true, err
	}
	r := newRemote(h.Address, s.config.Serve.key())
	s.terminal.say("The server at %s has the data folder: sending it %d files", h.Address, len(files))
	task, err := r.send(ctx, o, files)
	if err != nil {
		return true, err
	}
	m := newMeter(s.terminal)
	task, err = r.follow(ctx, task.ID, func(p ingest.Progress) { m.show(p) })
	m.stop()
	if ctx.Err() != nil {
		return true, &sextant.Error{Code: sextant.CodeInternal, Op: "ingest", Message: "The server goes on with it.", Hint: "To end it: POST " + h.Address + "/v1/jobs/" + task.ID + "/cancel"}
	}
	if err != nil {
		return true, err
	}
	return true, s.told(task)
}

// told shows how a task ended.
func (s *session) told(task ingest.Task) error {
	for _, note := range task.Notes {
		s.terminal.say("%s", note)
	}
	if task.Problem != nil {
		return &sextant.Error{Code: task.Problem.Code, Op: "ingest", Message: task.Problem.Detail, Hint: task.Problem.Hint}
	}
	if task.Receipt == nil || task.State != ingest.Done {
		return &sextant.Error{Code: sextant.CodeInternal, Op: "ingest", Message: fmt.Sprintf("The job %s is %s.", task.ID, task.State), Hint: "POST /v1/jobs/" + task.ID + "/resume goes on with an interrupted one."}
	}
	receipt := *task.Receipt
	if err := s.print(reply[sextant.Receipt]{value: receipt}, func(p *page) { writeReceipt(p, &receipt) }); err != nil {
		return err
	}
	if receipt.Read > 0 && receipt.Read == receipt.Records[sextant.Refused] {
		return exit(exitFailure)
	}
	return nil
}

// toSend is a file and the name it is sent under.
type toSend struct{ path, name string }

// filesToSend lists the files of paths, folders with all below them.
func filesToSend(kind string, paths []string) ([]toSend, error) {
	var out []toSend
	for _, p := range paths {
		whole, err := filepath.Abs(p)
		if err != nil {
			return nil, fileError("read", p, err)
		}
		info, err := os.Stat(whole)
		if err != nil {
			return nil, fileError("read", p, err)
		}
		base := filepath.Dir(whole)
		if !info.IsDir() {
			name := filepath.Base(whole)
			if kind == "files" {
				name = filepath.Base(base) + "/" + name
			}
			out = append(out, toSend{whole, name})
			continue
		}
		err = filepath.WalkDir(whole, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != whole && strings.HasPrefix(e.Name(), "."):
				if e.IsDir() {
					return fs.SkipDir
				}
			case e.Type().IsRegular():
				name, err := filepath.Rel(base, path)
				if err != nil {
					return err
				}
				out = append(out, toSend{path, filepath.ToSlash(name)})
			}
			return nil
		})
		if err != nil {
			return nil, fileError("read", p, err)
		}
	}
	return out, nil
}

// send posts an order with its files, which are read as they are sent.
func (r *remote) send(ctx context.Context, o ingest.Order, files []toSend) (ingest.Task, error) {
	var task ingest.Task
	body, pipe := io.Pipe()
	form := multipart.NewWriter(pipe)
	go func() { _ = pipe.CloseWithError(writeForm(form, o, files)) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/v1/ingest", body)
	if err != nil {
		return task, fmt.Errorf("send: %w", err)
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	_, err = r.reply(request, &task)
	_ = body.Close()
	return task, err
}

func writeForm(form *multipart.Writer, o ingest.Order, files []toSend) error {
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	for name, value := range fields {
		values, many := value.([]any)
		if !many {
			values = []any{value}
		}
		for _, v := range values {
			if err := form.WriteField(name, fmt.Sprint(v)); err != nil {
				return fmt.Errorf("send: %w", err)
			}
		}
	}
	for _, f := range files {
		if err := writeFile(form, f); err != nil {
			return err
		}
	}
	return form.Close()
}

func writeFile(form *multipart.Writer, f toSend) error {
	in, err := os.Open(f.path)
	if err != nil {
		return fileError("read", f.path, err)
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return fileError("read", f.path, err)
	}
	name := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "%0D", "\n", "%0A").Replace(f.name)
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`},
		"Content-Type":        {"application/octet-stream"},
		"Last-Modified":       {info.ModTime().UTC().Format(http.TimeFormat)},
	})
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	_, err = io.Copy(part, in)
	return err
}

// follow reads a job's events to the end.
func (r *remote) follow(ctx context.Context, id string, show func(ingest.Progress)) (ingest.Task, error) {
	task := ingest.Task{ID: id}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/v1/jobs/"+id, http.NoBody)
	if err != nil {
		return task, fmt.Errorf("follow: %w", err)
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := r.start(request)
	if err != nil {
		return task, err
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxReply)
	last := ""
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var now ingest.Task
		if err := json.Unmarshal([]byte(data), &now); err != nil || now.ID == "" {
			return task, errors.Join(problem([]byte(data)), err)
		}
		task = now
		if p := task.Progress; p != nil && !task.State.Final() {
			if last != "" && last != p.File {
				show(ingest.Progress{File: last, Number: p.Number - 1, Files: p.Files, Done: true})
			}
			last = p.File
			show(ingest.Progress{File: p.File, Number: p.Number, Files: p.Files, Size: p.Size, Consumed: p.Bytes, Records: p.Records, Rate: p.Rate,
				Left: time.Duration(p.Left * float64(time.Second)), Elapsed: time.Duration(p.Elapsed * float64(time.Second))})
		}
	}
	if !task.State.Final() && ctx.Err() == nil {
		return task, &sextant.Error{Code: sextant.CodeUnavailable, Op: "ingest", Message: "The server went away before the job had ended.", Hint: "When it is back, GET /v1/jobs/" + id + " says how it stands.", Err: lines.Err()}
	}
	return task, nil
}
