package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/store"
)

// Encoding says whether a job gives its documents vectors.
type Encoding struct {
	Embedder embed.Embedder // nil if there is none
	Missing  string         // why there is none, for people
	Off      bool           // the caller wants no vectors
}

// Apply sets the job's embedder and its collection's encoder as what is stored demands.
// A collection that holds nothing yet takes the embedder there is. One that has vectors
// takes no others, and none without: the error says what to do. One that has none goes on
// without; note says so, and how to add them.
func (e Encoding) Apply(ctx context.Context, job *Job) (note string, err error) {
	spec, holds, err := held(ctx, job.Store, job.Collection)
	if err != nil {
		return "", fmt.Errorf("ingest: %w", err)
	}
	now := ""
	if e.Embedder != nil && !e.Off {
		now = e.Embedder.Fingerprint().String()
	}
	switch {
	case !holds || spec.Encoder == now:
		spec.Encoder = now
		if now == "" && !e.Off {
			note = e.Missing
		}
	case spec.Encoder == "":
		now, note = "", fmt.Sprintf("%s has no vectors; what is taken in is found by its words only, like the rest. To add vectors to all of it: sextant reembed %s", spec.Name, spec.Name)
	default:
		return "", e.conflict(spec)
	}
	job.Collection.Encoder, job.Embedder = spec.Encoder, nil
	if now != "" {
		job.Embedder = e.Embedder
	}
	return note, nil
}

// Holds reports whether the collection of a job holds documents already.
func Holds(ctx context.Context, job *Job) (bool, error) {
	_, holds, err := held(ctx, job.Store, job.Collection)
	return holds, err
}

// held returns a collection as it is stored, and whether it holds documents.
func held(ctx context.Context, st store.Store, spec sextant.Collection) (sextant.Collection, bool, error) {
	c, err := st.Open(ctx, spec.Name)
	if errors.Is(err, store.ErrNotFound) {
		return spec, false, nil
	}
	if err != nil {
		return spec, false, err
	}
	size, err := c.Size(ctx)
	return c.Spec(), size.Documents > 0, err
}

// conflict explains why a collection that has vectors cannot go on as asked.
func (e Encoding) conflict(spec sextant.Collection) error {
	out := &sextant.Error{Code: sextant.CodeConflict, Op: "ingest"}
	model := modelOf(spec.Encoder)
	switch {
	case e.Off:
		out.Message = fmt.Sprintf("The documents of %s have vectors (%s), so new ones need them too.", spec.Name, model)
		out.Hint = fmt.Sprintf("Leave --no-encode out, or take all vectors away with: sextant reembed --remove %s", spec.Name)
	case e.Embedder == nil:
		out.Message = fmt.Sprintf("The documents of %s have vectors (%s), and no encoder is set to give new ones theirs. %s", spec.Name, model, e.Missing)
		out.Hint = fmt.Sprintf("Set that encoder with EMBEDDER and EMBEDDING_MODEL, or take all vectors away with: sextant reembed --remove %s", spec.Name)
	default:
		now := e.Embedder.Fingerprint()
		out.Message = fmt.Sprintf("The vectors of %s are of the encoder %s, and %s is set: these cannot be compared.", spec.Name, model, now.Model)
		if stored, err := embed.ParseFingerprint(spec.Encoder); err == nil && stored.Model == now.Model {
			out.Message = fmt.Sprintf("The vectors of %s are of another version of the encoder %s than is set (%s).", spec.Name, model, stored.Differences(now)[0])
		}
		out.Hint = fmt.Sprintf("Make them anew with: sextant reembed %s. Or set EMBEDDING_MODEL to the encoder they are of.", spec.Name)
	}
	return out
}

// modelOf names the model of a fingerprint in text form.
func modelOf(encoder string) string {
	if f, err := embed.ParseFingerprint(encoder); err == nil {
		return f.Model
	}
	return encoder
}
