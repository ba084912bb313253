package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/sextant-rag/sextant/store"
)

var _ store.Reencoder = (*collection)(nil)

// New vectors are collected in a table beside that of the ones in use, which is dropped
// in the transaction that gives the new one its name: so there are never two encoders'
// vectors in one table, and the swap takes as long for a million as for one. The
// database's own description (about) changes in the same transaction and is what counts;
// the catalogue follows, after a crash when the collection is opened next.
const freshSchema = `
CREATE TABLE IF NOT EXISTS fresh(chunk INTEGER PRIMARY KEY, v BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS fresh_encoder(id INTEGER PRIMARY KEY CHECK(id = 1), encoder TEXT NOT NULL);
`

// BeginVectors implements store.Reencoder.
func (c *collection) BeginVectors(ctx context.Context, encoder string) error {
	if encoder == "" {
		return fmt.Errorf("begin vectors: no encoder: %w", store.ErrSpec)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed != nil {
		return c.failed
	}
	err := c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		var begun string
		err := tx.QueryRow(`SELECT encoder FROM fresh_encoder`).Scan(&begun)
		if err == nil && begun == encoder {
			return nil
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM fresh`); err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT OR REPLACE INTO fresh_encoder VALUES(1,?)`, encoder)
		return err
	})
	return failure("begin vectors", err)
}

// WithoutVectors implements store.Reencoder.
func (c *collection) WithoutVectors(ctx context.Context, after string, limit int) ([]store.Unencoded, string, error) {
	if err := c.check(ctx); err != nil {
		return nil, "", fmt.Errorf("documents without vectors: %w", err)
	}
	from := int64(0)
	if after != "" {
		n, err := strconv.ParseInt(after, 10, 64)
		if err != nil {
			return nil, "", fmt.Errorf("documents without vectors: %w", store.ErrCursor)
		}
		from = n
	}
	c.mu.RLock()
	name, known := c.entry.spec.Name, c.index.names
	c.mu.RUnlock()
	rows, err := c.db.read.QueryContext(ctx, selectDoc+`WHERE row > ? AND NOT EXISTS(SELECT 1 FROM fresh WHERE chunk = doc.row << ?) ORDER BY row LIMIT ?`, from, chunkBits, limit)
	if err != nil {
		return nil, "", failure("documents without vectors", err)
	}
	defer rows.Close()
	var out []store.Unencoded
	read := 0
	for ; rows.Next(); read++ {
		r, err := scanRow(rows.Scan)
		if err != nil {
			return nil, "", failure("documents without vectors", err)
		}
		from = r.number
		u := store.Unencoded{Version: r.number}
		if u.Chunks, err = r.decodeChunks(); err != nil {
			return nil, "", err
		}
		if len(u.Chunks) == 0 {
			continue
		}
		if u.Document, err = r.document(name, known); err != nil {
			return nil, "", err
		}
		out = append(out, u)
	}
	if err := rows.Err(); err != nil {
		return nil, "", failure("documents without vectors", err)
	}
	if read < limit {
		return out, "", nil
	}
	return out, strconv.FormatInt(from, 10), nil
}

// PutVectors implements store.Reencoder.
func (c *collection) PutVectors(ctx context.Context, docs []store.Unencoded, vectors [][][]float32) error {
	if err := c.putVectors(ctx, docs, vectors); err != nil {
		return fmt.Errorf("put vectors: %w", err)
	}
	return nil
}

func (c *collection) putVectors(ctx context.Context, docs []store.Unencoded, vectors [][][]float32) error {
	if len(docs) != len(vectors) {
		return fmt.Errorf("vectors of %d documents for %d: %w", len(vectors), len(docs), store.ErrRecord)
	}
	blobs := make([][][]byte, len(docs))
	size := smallWrite
	for i, d := range docs {
		if len(vectors[i]) != len(d.Chunks) {
			return fmt.Errorf("%s: %d vectors for %d chunks: %w", d.Document.ID, len(vectors[i]), len(d.Chunks), store.ErrRecord)
		}
		for k, v := range vectors[i] {
			if err := store.CheckUnit(v); err != nil {
				return fmt.Errorf("%s: vector %d: %w: %w", d.Document.ID, k, store.ErrRecord, err)
			}
			b, err := encodeVector(v)
			if err != nil {
				return err
			}
			sealVector(d.Version<<chunkBits|int64(k), b)
			blobs[i] = append(blobs[i], b)
			size += len(b) + 64
		}
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed != nil {
		return c.failed
	}
	return failure("write", c.db.update(ctx, size, func(tx *sql.Tx) error {
		insert, err := tx.Prepare(`INSERT OR REPLACE INTO fresh VALUES(?,?)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		for i, d := range docs {
			if slot, ok := c.index.slotOfRow(d.Version); !ok || !c.index.documents.live.has(slot) {
				continue
			}
			for k, b := range blobs[i] {
				if _, err := insert.Exec(d.Version<<chunkBits|int64(k), b); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// SwapVectors implements store.Reencoder. Writers wait while the new vectors are read
// into RAM; readers do not: they go on with the old ones until the moment of the swap.
func (c *collection) SwapVectors(ctx context.Context) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed != nil {
		return c.failed
	}
	var encoder string
	if err := c.db.read.QueryRowContext(ctx, `SELECT encoder FROM fresh_encoder`).Scan(&encoder); err != nil {
		return failure("swap vectors", fmt.Errorf("none were begun: %w", err))
	}
	fresh, err := c.freshIndex(ctx)
	if err != nil {
		return fmt.Errorf("swap vectors: %w", err)
	}
	if err := c.exchange(ctx, encoder, fresh); err != nil {
		fresh.file.close()
		return fmt.Errorf("swap vectors: %w", err)
	}
	return nil
}

// DropVectors implements store.Reencoder.
func (c *collection) DropVectors(ctx context.Context) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed != nil {
		return c.failed
	}
	if err := c.exchange(ctx, "", &index{}); err != nil {
		return fmt.Errorf("drop vectors: %w", err)
	}
	return nil
}

// freshIndex reads the new vectors, those of slots that are in use; other slots get rows
// that no search returns.
func (c *collection) freshIndex(ctx context.Context) (*index, error) {
	x := &index{place: c.index.place}
	if c.index.alive == 0 {
		return x, nil
	}
	rows, err := c.db.read.QueryContext(ctx, `SELECT chunk, v FROM fresh ORDER BY chunk`)
	if err != nil {
		return nil, failure("read", err)
	}
	defer rows.Close()
	var batch *vectorBatch
	view, slot := c.index.freeze(), uint32(0)
	// fill brings the batch up to the slot of a key; false if a chunk in use has no vector.
	fill := func(key int64) (bool, error) {
		for ; int(slot) < c.index.chunks.slots && view.key(slot) < key; slot++ {
			if c.index.chunks.live.has(slot) {
				return false, nil
			}
			if batch != nil {
				if err := batch.skip(); err != nil {
					return false, err
				}
			}
		}
		return true, nil
	}
	for rows.Next() {
		var key int64
		var blob sql.RawBytes
		if err := rows.Scan(&key, &blob); err != nil {
			return x, failure("read", err)
		}
		if batch == nil {
			if err := x.makeVectors(dimensionOf(blob), 0); err != nil {
				return x, err
			}
			batch = x.newVectorBatch()
		}
		if ok, err := fill(key); err != nil || !ok {
			return x, errors.Join(err, incomplete(ok))
		}
		if int(slot) == c.index.chunks.slots || view.key(slot) != key {
			continue // of a row that is gone
		}
		if err := batch.add(key, blob); err != nil {
			return x, err
		}
		slot++
	}
	if err := rows.Err(); err != nil {
		return x, failure("read", err)
	}
	const end = int64(1) << 62
	if ok, err := fill(end); err != nil || !ok {
		return x, errors.Join(err, incomplete(ok))
	}
	if batch == nil {
		return x, nil
	}
	return x, batch.flush()
}

func incomplete(complete bool) error {
	if complete {
		return nil
	}
	return store.ErrIncomplete
}

// exchange makes fresh's vectors and their encoder the collection's, durably and then
// visibly. The caller holds the writing lock.
func (c *collection) exchange(ctx context.Context, encoder string, fresh *index) error {
	e, next := c.entry, c.state
	e.spec.Encoder, next.Dimension = encoder, 0
	if fresh.vectors != nil {
		next.Dimension = fresh.vectors.Dim()
	}
	next.Sequence++
	err := c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		statements := []string{`DELETE FROM fresh WHERE chunk >> ` + strconv.Itoa(chunkBits) + ` NOT IN (SELECT row FROM doc)`, `DROP TABLE vec`, `ALTER TABLE fresh RENAME TO vec`, `DELETE FROM fresh_encoder`}
		if encoder == "" {
			statements = []string{`DELETE FROM vec`, `DELETE FROM fresh`, `DELETE FROM fresh_encoder`}
		}
		for _, s := range statements {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(freshSchema); err != nil {
			return err
		}
		return errors.Join(next.write(tx), e.writeAbout(tx))
	})
	if err != nil {
		return failure("commit", err)
	}
	c.mu.Lock()
	old := c.index.file
	c.index.vectors, c.index.file = fresh.vectors, fresh.file
	c.entry, c.state = e, next
	c.schemas++
	c.unsaved = c.index.documents.slots
	close(c.published)
	c.published = make(chan struct{})
	c.mu.Unlock()
	old.close()
	return c.catalog.respecify(ctx, e)
}

// adoptEncoder takes the encoder from the database, which knows what its vectors are of:
// after a crash the catalogue may still name the one before.
func (c *collection) adoptEncoder(ctx context.Context) {
	e, err := scanEntry(c.db.write.QueryRowContext(ctx, selectAbout).Scan)
	if err == nil && e.folder == c.entry.folder {
		c.entry.spec.Encoder = e.spec.Encoder
	}
}
