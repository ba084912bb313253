package hub

import (
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// files are what an encoder can need; the first two it must have, and one of the vocabularies.
var files = []string{
	"config.json", "model.safetensors", "vocab.txt", "tokenizer.json", "tokenizer_config.json",
	"sentence_bert_config.json", "config_sentence_transformers.json", "modules.json", "1_Pooling/config.json",
}

const (
	maxListing = 16 << 20
	maxFile    = 8 << 30
	attempts   = 3
)

// A listing is the hub's description of one revision (GET /api/models/ID/revision/main?blobs=true).
type listing struct {
	Revision string  `json:"sha"`
	Files    []entry `json:"siblings"`
}

type entry struct {
	Name string `json:"rfilename"`
	Size int64  `json:"size"`
	Blob string `json:"blobId"` // git's name of the content, for files that git itself keeps
	LFS  *struct {
		SHA256 string `json:"sha256"`
		Size   int64  `json:"size"`
	} `json:"lfs"`
}

// fetch brings the files of a model into the cache and returns their folder. The reference
// that makes them findable is written last: what was broken off is fetched again.
func (h Hub) fetch(ctx context.Context, cache, id string) (string, error) {
	l, err := h.list(ctx, id)
	if err != nil {
		return "", err
	}
	wantedFiles, err := l.choose(id)
	if err != nil {
		return "", err
	}
	model := modelDir(cache, id)
	dir := filepath.Join(model, "snapshots", l.Revision)
	for _, f := range wantedFiles {
		if err := h.download(ctx, id, l.Revision, f, filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil {
			return "", fmt.Errorf("%w: %s of %s: %w", ErrFetch, f.Name, id, err)
		}
	}
	ref := filepath.Join(model, "refs", "main")
	if err := writeFile(ref, strings.NewReader(l.Revision)); err != nil {
		return "", fmt.Errorf("%w: %w", ErrFetch, err)
	}
	return dir, nil
}

// list asks what the hub has.
func (h Hub) list(ctx context.Context, id string) (listing, error) {
	var l listing
	err := h.retry(ctx, func() error {
		body, err := h.get(ctx, "api/models/"+id+"/revision/main?blobs=true")
		if err != nil {
			return err
		}
		defer body.Close()
		data, err := io.ReadAll(io.LimitReader(body, maxListing))
		if err != nil {
			return err
		}
		return json.Unmarshal(data, &l)
	})
	var status statusError
	switch {
	case errors.As(err, &status) && status.missing():
		return l, fmt.Errorf("%w: the hub has no model %q, or only with a token (%v); check the name, set HF_TOKEN, or give a folder that holds %s", ErrNotFound, id, status, wanted)
	case ctx.Err() != nil:
		return l, fmt.Errorf("%w: %w", ErrFetch, ctx.Err())
	case err != nil:
		return l, fmt.Errorf("%w: the hub cannot be asked for %q: %w; give a folder that holds %s, or fill the cache elsewhere with: hf download %s", ErrFetch, id, err, wanted, id)
	case !isRevision(l.Revision):
		return l, fmt.Errorf("%w: the hub names the revision %.60q of %q", ErrFetch, l.Revision, id)
	}
	return l, nil
}

// choose picks the files an encoder needs.
func (l *listing) choose(id string) (out []entry, err error) {
	have := map[string]bool{}
	for _, f := range l.Files {
		if slices.Contains(files, f.Name) {
			out, have[f.Name] = append(out, f), true
		}
	}
	if !have["config.json"] || !have["model.safetensors"] || !have["vocab.txt"] && !have["tokenizer.json"] {
		return nil, fmt.Errorf("%w: %q at the hub does not hold %s; a folder with weights converted to that form can be given instead", ErrNotFound, id, wanted)
	}
	return out, nil
}

// download brings one file, unless it is there.
func (h Hub) download(ctx context.Context, id, revision string, f entry, path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return h.retry(ctx, func() error {
		body, err := h.get(ctx, id+"/resolve/"+revision+"/"+f.Name)
		if err != nil {
			return err
		}
		defer body.Close()
		check, err := newChecker(f)
		if err != nil {
			return err
		}
		check.progress = h.Progress
		return writeFile(path, check.reader(body))
	})
}

// retry runs an attempt again when the network or the hub failed, not when the answer is no.
func (h Hub) retry(ctx context.Context, attempt func() error) error {
	for i := 1; ; i++ {
		err := attempt()
		var status statusError
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil || i == attempts || errors.Is(err, os.ErrPermission) || errors.As(err, &status) && status.final() {
			return err
		}
		select {
		case <-time.After(cmp.Or(h.Pause, time.Second) << (i - 1)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A statusError is an answer of the hub that is no success.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("status %d", int(s)) }
func (s statusError) missing() bool { return s == 401 || s == 403 || s == 404 }
func (s statusError) final() bool   { return s < 500 && s != 429 }

// patient waits as long as bytes come, since a model may be large, and not for a hub that
// says nothing.
var patient = func() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = time.Minute
	return &http.Client{Transport: t}
}()

// get asks the hub for a path. Go's client drops the token when the hub sends it on to
// another host, which has no business with it.
func (h Hub) get(ctx context.Context, path string) (io.ReadCloser, error) {
	address := strings.TrimRight(cmp.Or(h.env("HF_ENDPOINT"), "https://huggingface.co"), "/") + "/" + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("HF_ENDPOINT is no URL")
	}
	if token := h.env("HF_TOKEN"); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := h.HTTP
	if client == nil {
		client = patient
	}
	resp, err := client.Do(req)
	if err != nil {
		var u *url.Error // without the signed address that the hub may have sent us on to
		if errors.As(err, &u) {
			err = u.Err
		}
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, statusError(resp.StatusCode)
	}
	return resp.Body, nil
}

// A checker reads a file and fails at its end unless it is the one that was announced.
type checker struct {
	entry
	want     string
	hash     hash.Hash
	size     int64
	done     int64
	source   io.Reader
	progress func(file string, done, total int64)
}

// newChecker knows both of the hub's sums: SHA-256 for large files, and for those that git
// keeps its blob id, which is the SHA-1 of "blob SIZE\0" and the content.
func newChecker(f entry) (*checker, error) {
	c := &checker{entry: f, size: f.Size}
	switch {
	case f.LFS != nil:
		c.want, c.hash, c.size = f.LFS.SHA256, sha256.New(), f.LFS.Size
	case f.Blob != "":
		c.want, c.hash = f.Blob, sha1.New()
		_, _ = fmt.Fprintf(c.hash, "blob %d\x00", f.Size)
	}
	if c.want == "" || c.size < 0 || c.size > maxFile {
		return nil, fmt.Errorf("%w: the hub gives none, or a size of %d bytes", ErrChecksum, c.size)
	}
	return c, nil
}

func (c *checker) reader(r io.Reader) io.Reader {
	c.source = io.LimitReader(r, c.size+1)
	return c
}

// Read implements io.Reader.
func (c *checker) Read(p []byte) (int, error) {
	n, err := c.source.Read(p)
	c.hash.Write(p[:n])
	c.done += int64(n)
	if c.progress != nil && n > 0 {
		c.progress(c.Name, c.done, c.size)
	}
	if errors.Is(err, io.EOF) {
		if got := hex.EncodeToString(c.hash.Sum(nil)); c.done != c.size || got != strings.ToLower(c.want) {
			return n, fmt.Errorf("%w: %d bytes with %s, want %d with %s", ErrChecksum, c.done, got, c.size, c.want)
		}
	}
	return n, err
}

// writeFile writes beside path and moves there what is whole, so that nobody sees half.
func writeFile(path string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".incomplete-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
