package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/fetch"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// ingestCommand takes documents in; each kind of source is a verb of its own.
type ingestCommand struct {
	NTSB ingestNTSB `cmd:"" name:"ntsb" help:"NTSB accidents: AviationData tables, CAROL exports and searches, tables of the database, narratives, report PDFs."`
	ECFR ingestECFR `cmd:"" name:"ecfr" help:"Federal Aviation Regulations (14 CFR): fetched from the eCFR, or files of it."`
	News ingestNews `cmd:"" name:"news" help:"News articles: feeds (RSS, Atom, JSON Feed), fetched or saved."`

	Files ingestFiles `cmd:"" name:"files" help:"Files and folders of your own: text, Markdown, PDF, office documents, web pages, mail and more."`
	Table ingestTable `cmd:"" name:"table" help:"A table of your own: CSV, TSV, JSON, JSON lines. What its columns hold is found out."`
}

// takeFlags are those of every kind of source.
type takeFlags struct {
	jsonFlag
	Reread   bool `help:"Read every file again, also where nothing is new."`
	NoEncode bool `help:"Take in without vectors: faster, and found by words only. \"sextant reembed\" adds them later."`
	cutFlags
}

// cutFlags say how large chunks are.
type cutFlags struct {
	ChunkSize    int  `help:"Most tokens of a chunk, where the collection is new; \"sextant rechunk\" changes it later. Default: chunks.size of the configuration, else 224." placeholder:"TOKENS"`
	ChunkOverlap *int `help:"Most tokens that a chunk repeats of the one before. Default: chunks.overlap of the configuration, else 32." placeholder:"TOKENS"`
}

func (f cutFlags) cutting() ingest.Cutting {
	return ingest.Cutting{Size: f.ChunkSize, Overlap: f.ChunkOverlap}
}

func (f *takeFlags) order(kind string) ingest.Order {
	return ingest.Order{Kind: kind, Reread: f.Reread, NoEncode: f.NoEncode, ChunkSize: f.ChunkSize, ChunkOverlap: f.ChunkOverlap}
}

// ingestNTSB takes NTSB records in.
type ingestNTSB struct {
	takeFlags
	Paths []string `arg:"" name:"path" help:"Files, or folders of them; gzip is fine, and the layout is detected." type:"path"`
}

// Help implements kong's HelpProvider.
func (*ingestNTSB) Help() string {
	return "A second run over the same files changes nothing. A run that was interrupted, however, goes on where it was when it is started again."
}

// Run ingests.
func (c *ingestNTSB) Run(ctx context.Context, s *session) error {
	for _, path := range c.Paths {
		if err := readable(path); err != nil {
			return err
		}
	}
	if handled, err := s.viaServer(ctx, c.order("ntsb"), c.Paths); handled {
		return err
	}
	job, done, err := s.openNTSB(c.Paths)
	if err != nil {
		return err
	}
	defer done()
	return s.takeIn(ctx, job, c.takeFlags)
}

// ingestECFR takes regulations in.
type ingestECFR struct {
	takeFlags
	Parts []string  `help:"Parts of 14 CFR to fetch, separated by commas." placeholder:"1,61,91,121,135"`
	Date  time.Time `format:"2006-01-02" help:"Day of the text to fetch; of files, the day their text was in force. Default: the last the service has, what a file says." placeholder:"YYYY-MM-DD"`
	Paths []string  `arg:"" optional:"" name:"path" help:"XML files of 14 CFR, a part or the whole title, or folders of them; gzip is fine. Without any, parts are fetched from the eCFR service." type:"path"`
}

// Help implements kong's HelpProvider.
func (*ingestECFR) Help() string {
	return "Without files, parts are fetched from www.ecfr.gov, each once for a day: from then on the copy in the data folder is read. Files may be what www.ecfr.gov offers for download, govinfo's bulk data or volumes of the annual edition. Texts of several days stand side by side. A second run over the same changes nothing."
}

// Run ingests.
func (c *ingestECFR) Run(ctx context.Context, s *session) error {
	paths, err := c.files(ctx, s)
	if err != nil {
		return err
	}
	if c.Date.IsZero() || len(c.Paths) == 0 { // what is fetched says its date itself
		if handled, err := s.viaServer(ctx, c.order("ecfr"), paths); handled {
			return err
		}
	}
	src, err := aviation.OpenECFR(paths...)
	if err != nil {
		return err
	}
	if !c.Date.IsZero() {
		src = src.As(c.Date)
	}
	return s.takeIn(ctx, ingest.Job{Collection: aviation.Regulations(), Source: src}, c.takeFlags)
}

// files are those named, or the parts, fetched where they are not held yet.
func (c *ingestECFR) files(ctx context.Context, s *session) ([]string, error) {
	if len(c.Paths) > 0 {
		if len(c.Parts) > 0 {
			return nil, usage("--parts says what to fetch; files are read whole.")
		}
		for _, path := range c.Paths {
			if err := readable(path); err != nil {
				return nil, err
			}
		}
		return c.Paths, nil
	}
	client, err := s.config.Fetch.client(0)
	if err != nil {
		return nil, err
	}
	service := aviation.ECFRService{URL: s.config.Fetch.ECFR, Client: client, Cache: filepath.Join(s.config.Data, "cache", "ecfr"), Parts: c.Parts, Date: c.Date}
	paths, note, err := service.Fetch(ctx)
	if note != "" {
		s.terminal.say("%s", note)
	}
	return paths, err
}

// ingestNews takes news articles in.
type ingestNews struct {
	takeFlags
	Feeds []string `arg:"" optional:"" name:"url|path" help:"Addresses of feeds, saved feeds, or folders of them; gzip is fine, and the format is detected. Without any, AVweb, Aviation Week, Flying and Simple Flying are fetched."`
}

// Help implements kong's HelpProvider.
func (*ingestNews) Help() string {
	return "A feed that has not changed since it was last fetched is not sent again. Feeds of several days can be taken in one after the other: an article in more than one of them is kept once, as it was changed last. A second run over the same changes nothing."
}

// Run ingests.
func (c *ingestNews) Run(ctx context.Context, s *session) error {
	var paths, addresses []string
	for _, name := range c.Feeds {
		if fetch.IsURL(name) {
			addresses = append(addresses, name)
		} else {
			paths = append(paths, name)
		}
	}
	src, err := aviation.OpenNews(paths...)
	if err != nil {
		return err
	}
	if len(addresses) > 0 || len(paths) == 0 {
		fetched, kept, err := c.fetch(ctx, s, addresses)
		if err != nil {
			return err
		}
		src, paths = src.And(fetched), append(paths, kept...)
	}
	if handled, err := s.viaServer(ctx, c.order("news"), paths); handled {
		return err
	}
	return s.takeIn(ctx, ingest.Job{Collection: aviation.News(), Source: src}, c.takeFlags)
}

// fetch gets feeds, those of the settings if none are named, and says where they are kept.
func (c *ingestNews) fetch(ctx context.Context, s *session, addresses []string) (*aviation.NewsFeeds, []string, error) {
	if len(addresses) == 0 {
		addresses = s.config.Fetch.Feeds
	}
	client, err := s.config.Fetch.client(0)
	if err != nil {
		return nil, nil, err
	}
	fetched, err := aviation.NewsService{Client: client, Cache: filepath.Join(s.config.Data, "cache", "news"), Feeds: addresses}.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return fetched, fetched.Kept(), nil
}

// takeIn runs a job on the configured store and prints its receipt.
func (s *session) takeIn(ctx context.Context, job ingest.Job, flags takeFlags) error {
	// The engine makes every collection exist while there is space, so that questions
	// can be answered when none is left.
	e, err := s.openEngine(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer e.close()
	job.Store, job.Reread = e.store, flags.Reread
	if err := flags.cutting().Apply(ctx, &job, s.config.Chunks.of(job.Collection.Name)); err != nil {
		return err
	}
	if err := s.encode(ctx, e, &job, flags.NoEncode); err != nil {
		return err
	}
	encoder, err := s.wordsFirst(ctx, &job)
	if err != nil {
		return err
	}
	if err := s.takeInto(ctx, job); err != nil || encoder == nil {
		return err
	}
	return s.addVectors(ctx, e, job.Collection.Name, encoder)
}

// wordsFirst lets the first documents of a collection in without their vectors, and returns
// the encoder that makes those afterwards: everything can be counted and found by its words
// half a minute after the start instead of half an hour (docs/decisions/0006). It returns
// nil where the collection holds documents already: what is added later gets its vectors on
// the way in.
func (s *session) wordsFirst(ctx context.Context, job *ingest.Job) (embed.Embedder, error) {
	if job.Embedder == nil {
		return nil, nil
	}
	holds, err := ingest.Holds(ctx, job)
	if err != nil {
		return nil, s.storeError(err)
	}
	if holds {
		return nil, nil
	}
	encoder := job.Embedder
	job.Embedder, job.Collection.Encoder = nil, ""
	return encoder, nil
}

// addVectors gives the documents of a collection their vectors. Until it has ended they are
// found by their words; interrupted, it can be gone on with.
func (s *session) addVectors(ctx context.Context, e *engine, collection string, encoder embed.Embedder) error {
	s.terminal.say("Everything is stored and can be asked about. Now the texts get their vectors, so that they are found by meaning, too; this can be interrupted, and %q goes on.", "sextant reembed "+collection)
	out, err := ingest.Reembed(ctx, e.store, collection, encoder, s.encodingMeter(collection))
	switch {
	case err != nil && ctx.Err() != nil:
		return &sextant.Error{Code: sextant.CodeInternal, Op: "encode", Message: "Interrupted. All documents are stored; they are found by their words until they have vectors.", Hint: "To go on: sextant reembed " + collection}
	case err != nil:
		return s.storeError(err)
	}
	s.terminal.say("%s chunks of %s encoded in %s.", humanize.Comma(out.Encoded), collection, out.Took.Round(10*time.Millisecond))
	return nil
}

// encodingMeter tells every few seconds how far the encoding is, at which rate, and how
// long the rest will take.
func (s *session) encodingMeter(collection string) func(done, of int64) {
	began := time.Now()
	last := began
	return func(done, of int64) {
		if time.Since(last) < lineEvery {
			return
		}
		last = time.Now()
		rate := float64(done) / time.Since(began).Seconds()
		left := time.Duration(float64(of-done) / max(rate, 1e-9) * float64(time.Second)).Round(time.Second)
		s.terminal.say("%s: %s of at most %s chunks encoded, %.0f a second, about %s left", collection, humanize.Comma(done), humanize.Comma(of), rate, left)
	}
}

// takeInto is takeIn with the engine open and the encoder chosen.
func (s *session) takeInto(ctx context.Context, job ingest.Job) error {
	receipt, err := s.ingest(ctx, job)
	if len(receipt.Files) > 0 && (err == nil || !s.json) {
		err = errors.Join(err, s.print(reply[sextant.Receipt]{value: receipt}, func(p *page) { writeReceipt(p, &receipt) }))
	}
	if err == nil && receipt.Read > 0 && receipt.Read == receipt.Records[sextant.Refused] {
		return exit(exitFailure) // nothing came of it, as the receipt says
	}
	return err
}

// encode gives a job the session's encoder and says what that means.
func (s *session) encode(ctx context.Context, e *engine, job *ingest.Job, off bool) error {
	note, err := s.encoding(ctx, e, job, off)
	if note != "" {
		s.terminal.say("%s", note)
	}
	return err
}

// encoding gives a job the session's encoder, if what is stored goes with it.
func (s *session) encoding(ctx context.Context, e *engine, job *ingest.Job, off bool) (note string, err error) {
	note, err = ingest.Encoding{Embedder: e.encoder.Embedder, Missing: e.encoder.missing, Off: off}.Apply(ctx, job)
	if err != nil {
		err = s.storeError(err)
	}
	return note, err
}

// Garbage that may stand beside what is held while taking in: as much as that by default, but
// no more than spareGarbage, or a quarter where that is more. The index of a gigabyte of text
// is near a gigabyte of numbers that the collector does not look into: collecting it often
// is cheap, and the default would double it. With little held, often is dear.
const (
	spareGarbage = 64 << 20
	leastPercent = 25
)

// lessGarbage sets how much garbage may stand, by what is held now.
func lessGarbage() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	held := max(live[0].Value.Uint64(), spareGarbage)
	debug.SetGCPercent(max(leastPercent, int(100*spareGarbage/held)))
}

// ingest runs a job under a meter. Its error says what to do next.
func (s *session) ingest(ctx context.Context, job ingest.Job) (sextant.Receipt, error) {
	m := newMeter(s.terminal)
	job.Progress = m.show
	if s.env["GOGC"] == "" {
		before := debug.SetGCPercent(100)
		defer debug.SetGCPercent(before)
		job.Progress = func(p ingest.Progress) { lessGarbage(); m.show(p) }
	}
	receipt, err := ingest.Run(ctx, job)
	m.stop()
	switch {
	case err == nil:
		return receipt, nil
	case ctx.Err() != nil:
		return receipt, &sextant.Error{Code: sextant.CodeInternal, Op: "ingest", Message: "Interrupted. What was read so far is kept.", Hint: "Run the same command again to go on."}
	}
	return receipt, s.storeError(err)
}

// readable reports why a path the user named cannot be read.
func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fileError("read", path, err)
	}
	return f.Close()
}

// verifyCommand compares what is stored with what ingestion left.
type verifyCommand struct {
	jsonFlag
	Repair bool `help:"Let go of documents that somebody else has damaged in the server they lie on, so that the others can be asked for."`
}

// Run verifies.
func (c *verifyCommand) Run(ctx context.Context, s *session) error {
	st, err := s.openStore(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	if c.Repair {
		if err := repairAll(ctx, st); err != nil {
			return s.storeError(err)
		}
	}
	list, err := verifyAll(ctx, st)
	if err != nil {
		return s.storeError(err)
	}
	if err := s.print(reply[verifications]{value: list}, func(p *page) { writeVerifications(p, list) }); err != nil {
		return err
	}
	if !list.sound() {
		return exit(exitFailure)
	}
	return nil
}

// verifications is what verify prints.
type verifications struct {
	Collections []ingest.Verification `json:"collections"`
}

// sound reports whether everything that was left there is there as it was left.
func (v verifications) sound() bool {
	for _, c := range v.Collections {
		if len(c.Missing)+len(c.Changed)+len(c.Damaged) > 0 || c.Lost > 0 {
			return false
		}
	}
	return true
}

// repairAll has every collection that can be repaired let go of what is not whole.
func repairAll(ctx context.Context, st store.Store) error {
	specs, err := st.Collections(ctx)
	if err != nil {
		return err
	}
	for _, spec := range specs {
		c, err := st.Open(ctx, spec.Name)
		if err != nil {
			return err
		}
		if i, ok := c.(store.Inspector); ok {
			if _, err := i.Repair(ctx); err != nil && !errors.Is(err, store.ErrUnsupported) {
				return err
			}
		}
	}
	return nil
}

func verifyAll(ctx context.Context, st store.Store) (verifications, error) {
	var out verifications
	specs, err := st.Collections(ctx)
	if err != nil {
		return out, err
	}
	for _, spec := range specs {
		v, err := ingest.Verify(ctx, st, spec.Name)
		if err != nil {
			return out, err
		}
		out.Collections = append(out.Collections, v)
	}
	return out, nil
}
