package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/trace"
)

// doctorCommand looks through the data folder and says what is wrong with it, beside
// whichever process has it open.
type doctorCommand struct {
	jsonFlag
	Repair bool `help:"Take out what is damaged, so that the rest can be used. Nothing may be using the folder."`
}

// Help implements kong's HelpProvider.
func (*doctorCommand) Help() string {
	return "Reads everything that is stored and compares it with its checksums; every problem comes with the command that helps. Works while a server uses the data folder. " +
		"Exit codes: 0 all is well; 1 something is to be done."
}

// diagnosis is what doctor prints.
type diagnosis struct {
	Sound       bool               `json:"sound"`
	Data        string             `json:"data"`
	Store       string             `json:"store,omitempty"`  // address of the server that keeps the documents; "" is the data folder
	Holder      *sqlite.Process    `json:"holder,omitempty"` // who has the folder open
	Free        int64              `json:"disk_free_bytes"`  // -1 is unknown
	Collections []collectionHealth `json:"collections"`
	Encoder     string             `json:"encoder,omitempty"` // "" finds by words only
	Traces      *trace.Stats       `json:"traces,omitempty"`
	Settings    []setting          `json:"settings"`
	Repaired    []trouble          `json:"repaired,omitempty"`
	Problems    []trouble          `json:"problems"`
}

type collectionHealth struct {
	Name      string `json:"name"`
	Documents int64  `json:"documents"`
	Chunks    int64  `json:"chunks,omitempty"` // 0 is unknown: it is not loaded
	Disk      int64  `json:"disk_bytes"`
	Unused    int64  `json:"disk_unused_bytes"`
	Derived   int64  `json:"derived_bytes"`
	Memory    int64  `json:"memory_bytes,omitempty"` // 0 is unknown: it is not loaded
	Dimension int    `json:"dimension,omitempty"`
	Encoder   string `json:"encoder,omitempty"` // fingerprint of what made its vectors
	StoredAs  string `json:"stored_as,omitempty"`
	Points    int64  `json:"points,omitempty"`
}

// trouble is something worth knowing, and what to do about it.
type trouble struct {
	Collection string `json:"collection,omitempty"`
	Document   string `json:"document,omitempty"`
	What       string `json:"what"`
	Remedy     string `json:"remedy,omitempty"` // "" where nothing needs to be done
}

// Run examines.
func (c *doctorCommand) Run(ctx context.Context, s *session) error {
	if c.Repair {
		if err := s.inFolder("doctor --repair"); err != nil {
			return err
		}
	}
	d, err := s.examine(ctx)
	if err != nil {
		return err
	}
	if c.Repair {
		if d, err = s.repair(ctx, d); err != nil {
			return err
		}
	}
	if err := s.print(reply[diagnosis]{value: d}, func(p *page) { writeDiagnosis(p, &d) }); err != nil {
		return err
	}
	if !d.Sound {
		return exit(exitFailure)
	}
	return nil
}

// examine looks at everything without changing anything.
func (s *session) examine(ctx context.Context) (diagnosis, error) {
	dir := s.config.Data
	d := diagnosis{Data: dir, Free: freeSpace(dir), Settings: s.settings(), Collections: []collectionHealth{}, Problems: []trouble{}}
	if h, held := s.holder(); held {
		d.Holder = &h
	}
	e := s.examineEncoder(ctx, &d)
	if _, err := s.config.Models.models(); err != nil {
		message, hint := explain(err)
		d.find("", message, hint)
	}
	if s.external() {
		s.examineServer(ctx, &d)
		d.compareEncoders(e)
		d.judgeTraces(ctx, filepath.Join(dir, tracesFile))
		d.Sound = d.nothingToDo()
		return d, nil
	}
	inspector, err := sqlite.Inspect(dir)
	if errors.Is(err, fs.ErrNotExist) {
		d.find("", "There is no data folder yet.", "")
		d.Sound = d.nothingToDo()
		return d, nil
	}
	if err != nil {
		return d, storeError(dir, err)
	}
	problems, err := inspector.Check(ctx)
	if err != nil {
		return d, storeError(dir, err)
	}
	holdings, err := inspector.Holdings(ctx)
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return d, storeError(dir, err)
	}
	d.count(holdings, s.served(ctx, d.Holder))
	for i := range problems {
		d.Problems = append(d.Problems, troubleOf(&problems[i], holdings))
	}
	d.compareEncoders(e)
	d.judgeTraces(ctx, filepath.Join(dir, tracesFile))
	d.judgeSize()
	d.judgeSpace()
	d.Sound = d.nothingToDo()
	return d, nil
}

func (d *diagnosis) find(collection, what, remedy string) {
	d.Problems = append(d.Problems, trouble{Collection: collection, What: what, Remedy: remedy})
}

func (d *diagnosis) nothingToDo() bool {
	for _, f := range d.Problems {
		if f.Remedy != "" {
			return false
		}
	}
	return true
}

// examineServer looks at what a server keeps. One that does not answer is a problem like
// any other.
func (s *session) examineServer(ctx context.Context, d *diagnosis) {
	d.Store = s.holding()
	problem := func(err error) {
		message, hint := explain(s.storeError(err))
		d.find("", message, cmp.Or(hint, "see what the server says of it"))
	}
	st, err := s.openStore(ctx)
	if err != nil {
		problem(err)
		return
	}
	defer st.Close()
	specs, err := st.Collections(ctx)
	if err != nil {
		problem(err)
		return
	}
	for _, spec := range specs {
		c, err := st.Open(ctx, spec.Name)
		if err == nil {
			var size store.Size
			size, err = c.Size(ctx)
			d.Collections = append(d.Collections, collectionHealth{Name: spec.Name, Documents: size.Documents, Chunks: size.Chunks, Encoder: spec.Encoder, StoredAs: size.StoredAs, Points: size.Points})
		}
		if err != nil {
			problem(err)
		}
	}
}

// count enters what is held.
func (d *diagnosis) count(holdings []sqlite.Holding, served map[string]sextant.CollectionInfo) {
	for _, h := range holdings {
		d.Collections = append(d.Collections, collectionHealth{Name: h.Spec.Name, Documents: h.Documents, Disk: h.Disk, Unused: h.Unused, Derived: h.Derived,
			Chunks: served[h.Spec.Name].Chunks, Memory: served[h.Spec.Name].Memory, Dimension: h.Dimension, Encoder: h.Spec.Encoder})
	}
}

// served asks the server that has the folder what it has loaded. One that does not answer
// leaves that unknown: doctor must work then more than ever.
func (s *session) served(ctx context.Context, h *sqlite.Process) map[string]sextant.CollectionInfo {
	if h == nil || h.Address == "" {
		return nil
	}
	list, err := newRemote(h.Address, s.config.Serve.key()).Collections(ctx)
	if err != nil {
		return nil
	}
	out := map[string]sextant.CollectionInfo{}
	for _, c := range list.value.Collections {
		out[c.Name] = c
	}
	return out
}

const (
	commandRepair  = "sextant doctor --repair"
	commandRestore = "sextant restore FILE --force, with the file of a backup"
)

// troubleOf says what helps against a problem.
func troubleOf(p *sqlite.Problem, holdings []sqlite.Holding) trouble {
	f := trouble{Collection: p.Collection, Document: string(p.Document), What: p.What}
	fill := "ingest its documents again"
	for _, h := range holdings {
		if h.Spec.Name == p.Collection && h.Spec.Fill != "" {
			fill = h.Spec.Fill
		}
	}
	switch p.Remedy {
	case sqlite.Mend:
		f.Remedy = commandRepair + "; then, for what is taken out: " + fill
	case sqlite.Catalogue:
		f.Remedy = commandRepair
	case sqlite.Replace:
		f.Remedy = commandRestore + "; or, in a new folder (--data DIR): " + fill
	}
	return f
}

// examineEncoder opens the encoder as an ingestion would. One that cannot be used is a
// problem like any other.
func (s *session) examineEncoder(ctx context.Context, d *diagnosis) encoder {
	e, err := s.openEncoder(ctx)
	if err != nil {
		message, hint := explain(err)
		d.find("", message, hint)
	}
	if e.missing != "" {
		d.find("", e.missing, "")
	}
	if e.Embedder != nil {
		d.Encoder = e.Fingerprint().String()
	}
	return e
}

// compareEncoders finds collections whose vectors another encoder made than the one that
// would read questions.
func (d *diagnosis) compareEncoders(e encoder) {
	for _, c := range d.Collections {
		if c.Encoder != "" && e.Embedder != nil && c.Encoder != d.Encoder {
			d.find(c.Name, "Its vectors were made by another encoder than the one that is set: "+c.Encoder+", not "+d.Encoder+".",
				"set EMBEDDING_MODEL to the one that made them, or ingest the collection again in a new folder (--data DIR)")
		}
	}
}

// judgeTraces looks at the store of traces beside whoever writes it: what waits for which
// server, and what none will ever have.
func (d *diagnosis) judgeTraces(ctx context.Context, file string) {
	stats, err := trace.Inspect(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		d.find("", "The traces cannot be read: "+err.Error()+".", "move "+file+" away; questions are answered without it")
		return
	}
	d.Traces = &stats
	for target, n := range stats.Pending {
		if n > 0 {
			d.find("", fmt.Sprintf("%s traces and judgements wait for %s.", humanize.Comma(n), target), "")
		}
	}
	for target, n := range stats.Lost {
		d.find("", fmt.Sprintf("%s traces and judgements were not taken by %s, and are not sent again: %s.", humanize.Comma(n), target, stats.LostWhy[target]), "")
	}
}

// judgeSize finds collections that an exact scan begins to be too slow for.
func (d *diagnosis) judgeSize() {
	for _, c := range d.Collections {
		if n := max(c.Documents, c.Chunks); n >= sqlite.ManyChunks {
			d.find(c.Name, fmt.Sprintf("It is larger than the embedded store is made for: %s, from %s on every search by meaning takes longer than a question should.", humanize.Comma(n), humanize.Comma(sqlite.ManyChunks)), "")
		}
	}
}

// lowSpace is where a data folder of any size can soon not be written any more.
const lowSpace = 256 << 20

func (d *diagnosis) judgeSpace() {
	held := int64(0)
	for _, c := range d.Collections {
		held += c.Disk + c.Derived
	}
	if d.Free >= 0 && d.Free < max(lowSpace, held/10) {
		d.find("", fmt.Sprintf("Only %s are free where the data folder is, which holds %s.", humanize.IBytes(uint64(d.Free)), humanize.IBytes(uint64(held))),
			"free some space, or keep the data elsewhere with --data DIR (SEXTANT_DATA)")
	}
}

// repair does what can be done about problems, and examines again.
func (s *session) repair(ctx context.Context, before diagnosis) (diagnosis, error) {
	dir := s.config.Data
	if before.Holder != nil {
		return before, storeError(dir, store.ErrLocked)
	}
	todo := map[string]bool{} // collections; "" is the catalogue
	for _, f := range before.Problems {
		if strings.HasPrefix(f.Remedy, commandRepair) {
			todo[f.Collection] = true
			before.Repaired = append(before.Repaired, f)
		}
	}
	if len(todo) == 0 {
		return before, nil
	}
	if todo[""] {
		if err := sqlite.Rebuild(ctx, sqlite.Options{Dir: dir}); err != nil {
			return before, storeError(dir, err)
		}
	}
	if err := s.repairCollections(ctx, todo); err != nil {
		return before, err
	}
	after, err := s.examine(ctx)
	after.Repaired = before.Repaired
	return after, err
}

func (s *session) repairCollections(ctx context.Context, todo map[string]bool) error {
	st, err := s.openFolder(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer st.Close()
	for name := range todo {
		if name == "" {
			continue
		}
		if _, err := st.Repair(ctx, name); err != nil {
			return s.storeError(err)
		}
	}
	return nil
}

func writeDiagnosis(p *page, d *diagnosis) {
	if d.Store != "" {
		p.text("", "Documents are kept by "+d.Store+"; traces and jobs in "+d.Data+".")
		for _, c := range d.Collections {
			p.text("  ", fmt.Sprintf("%s, stored as %s: %s documents, %s chunks, %s points", c.Name, c.StoredAs, humanize.Comma(c.Documents), humanize.Comma(c.Chunks), humanize.Comma(c.Points)))
		}
		writeSettings(p, d)
		return
	}
	who := "which no process has open"
	if d.Holder != nil {
		who = "which is in use by " + d.Holder.String()
	}
	p.text("", "Data folder "+d.Data+", "+who+".")
	if d.Free >= 0 {
		p.text("", humanize.IBytes(uint64(d.Free))+" free on its disk.")
	}
	if len(d.Collections) > 0 {
		p.blank()
		p.table(healthTable(d.Collections))
	}
	writeSettings(p, d)
}

// writeSettings writes what is set, and what is wrong.
func writeSettings(p *page, d *diagnosis) {
	p.heading("Settings")
	t := table{head: []string{"setting", "value", "from"}, right: []bool{false, false, false}}
	for _, set := range d.Settings {
		t.rows = append(t.rows, []string{set.Name, set.Value, set.From})
	}
	p.table(t)
	writeTroubles(p, "Repaired", d.Repaired, false)
	writeTroubles(p, "Problems", d.Problems, true)
	p.blank()
	if d.Sound {
		p.text("", "All is well.")
	}
}

func healthTable(list []collectionHealth) table {
	t := table{head: []string{"collection", "documents", "on disk", "unused", "index files", "in memory", "encoder"}, right: []bool{false, true, true, true, true, true, false}}
	for _, c := range list {
		memory, encoder := "not loaded", "none: found by words"
		if c.Memory > 0 {
			memory = humanize.IBytes(uint64(c.Memory))
		}
		if c.Encoder != "" {
			encoder = c.Encoder
		}
		t.rows = append(t.rows, []string{c.Name, humanize.Comma(c.Documents), humanize.IBytes(uint64(c.Disk)), humanize.IBytes(uint64(c.Unused)), humanize.IBytes(uint64(c.Derived)), memory, encoder})
	}
	return t
}

// maxTroubles is how many problems people are shown; --json has all.
const maxTroubles = 20

func writeTroubles(p *page, title string, list []trouble, remedies bool) {
	if len(list) == 0 {
		return
	}
	p.heading(title)
	for _, f := range list[:min(len(list), maxTroubles)] {
		where := f.Collection
		if f.Document != "" {
			where += " " + f.Document
		}
		if where != "" {
			where += ": "
		}
		p.text("  - ", where+f.What)
		if f.Remedy != "" && remedies {
			p.text("    ", "To do: "+f.Remedy)
		}
	}
	if more := len(list) - maxTroubles; more > 0 {
		p.note("  ", fmt.Sprintf("and %s more: --json names all", humanize.Comma(int64(more))))
	}
}
