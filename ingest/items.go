package ingest

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// ItemReceipt is what became of one record in one run.
type ItemReceipt struct {
	File    string             `json:"file"`
	Record  int64              `json:"record"` // its place in the file, from 1
	Line    int64              `json:"line,omitempty"`
	Offset  int64              `json:"offset"` // byte, after decompression
	ID      sextant.DocumentID `json:"document_id,omitempty"`
	Outcome sextant.Outcome    `json:"outcome"`
	Added   bool               `json:"added,omitempty"` // its document was not there before
	Reason  string             `json:"reason,omitempty"`
}

// itemLog keeps what became of each record, in pieces of the journal:
//
//	ingest/<collection>/<source>/items/<run>/<n>   JSON lines, deflated, base64
//
// A piece is written with every mark and at the end of a file, so that after a crash the
// log ends where the next run goes on.
type itemLog struct {
	journal journal
	run     string
	piece   int
	open    []ItemReceipt
}

// maxOpen is how many records wait to be written together.
const maxOpen = 8192

func (l *itemLog) add(file string, res result, added bool) {
	l.open = append(l.open, ItemReceipt{
		File: file, Record: res.at.Record + 1, Line: res.at.Line + 1, Offset: res.at.Offset,
		ID: res.id, Outcome: res.outcome, Added: added, Reason: res.reason,
	})
}

// flush writes what waits.
func (l *itemLog) flush(ctx context.Context) error {
	if len(l.open) == 0 {
		return nil
	}
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	for i := range l.open {
		if err := e.Encode(&l.open[i]); err != nil {
			return fmt.Errorf("item log: %w", err)
		}
	}
	text := base64.StdEncoding.EncodeToString(deflate(plain.Bytes()))
	if err := l.journal.PutMark(ctx, l.journal.itemsKey(l.run, l.piece), text); err != nil {
		return err
	}
	l.piece++
	l.open = l.open[:0]
	return nil
}

func (j journal) itemsKey(run string, piece int) string {
	return fmt.Sprintf("%sitems/%s/%d", j.prefix, run, piece)
}

// Items yields what became of every record that a run read, in order. Files that were
// left unread because nothing about them is new have no records here.
func Items(ctx context.Context, st store.Store, receipt sextant.Receipt) iter.Seq2[ItemReceipt, error] {
	j := journal{Journal: st.Journal(), prefix: prefixOf(receipt.Collection, receipt.Source)}
	return func(yield func(ItemReceipt, error) bool) {
		for piece := 0; ; piece++ {
			text, err := j.Mark(ctx, j.itemsKey(receipt.Run, piece))
			if err != nil || text == "" {
				if err != nil {
					yield(ItemReceipt{}, err)
				}
				return
			}
			packed, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				yield(ItemReceipt{}, fmt.Errorf("item log of %s: %w", receipt.Run, err))
				return
			}
			d := json.NewDecoder(flate.NewReader(bytes.NewReader(packed)))
			for {
				var item ItemReceipt
				if err := d.Decode(&item); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					yield(ItemReceipt{}, fmt.Errorf("item log of %s: %w", receipt.Run, err))
					return
				}
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// dropItems removes a run's log.
func (j journal) dropItems(ctx context.Context, run string) error {
	for piece := 0; ; piece++ {
		key := j.itemsKey(run, piece)
		text, err := j.Mark(ctx, key)
		if err != nil || text == "" {
			return err
		}
		if err := j.PutMark(ctx, key, ""); err != nil {
			return err
		}
	}
}
