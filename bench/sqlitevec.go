package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"

	_ "modernc.org/sqlite"     // the driver
	_ "modernc.org/sqlite/vec" // the module vec0 in every connection
)

// sqliteVec is sqlite-vec 0.1.9 as modernc.org/sqlite carries it, in a database in
// memory. Distances are Euclidean, which put unit vectors in the order of the inner
// product at less work than its cosine.
type sqliteVec struct {
	db            *sql.DB
	all, filtered *sql.Stmt
}

// openSQLiteVec keeps the category in a metadata column: the way to filter by any field.
func openSQLiteVec(ctx context.Context, s *vectorSet, _ string) (vectorEngine, error) {
	return newSQLiteVec(ctx, s, "category integer")
}

// openSQLiteVecPartitioned keeps the rows of a category together: fastest, for the one
// field that the table was made for.
func openSQLiteVecPartitioned(ctx context.Context, s *vectorSet, _ string) (vectorEngine, error) {
	return newSQLiteVec(ctx, s, "category integer partition key")
}

func newSQLiteVec(ctx context.Context, s *vectorSet, category string) (*sqliteVec, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // a second connection would see another, empty database
	v := &sqliteVec{db: db}
	if err := v.fill(ctx, s, category); err != nil {
		db.Close() // the first error is the one to tell
		return nil, err
	}
	return v, nil
}

func (v *sqliteVec) fill(ctx context.Context, s *vectorSet, category string) error {
	create := fmt.Sprintf("CREATE VIRTUAL TABLE v USING vec0(id integer primary key, embedding float[%d], %s)", s.dim, category)
	if _, err := v.db.ExecContext(ctx, create); err != nil {
		return err
	}
	if err := v.insert(ctx, s); err != nil {
		return err
	}
	const nearest = "SELECT id FROM v WHERE embedding MATCH ? AND k = ?"
	var err error
	if v.all, err = v.db.PrepareContext(ctx, nearest+" ORDER BY distance"); err != nil { //nolint:sqlclosecheck // closed with the database
		return err
	}
	v.filtered, err = v.db.PrepareContext(ctx, nearest+" AND category = ? ORDER BY distance") //nolint:sqlclosecheck // closed with the database
	return err
}

func (v *sqliteVec) insert(ctx context.Context, s *vectorSet) error {
	tx, err := v.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	insert, err := tx.PrepareContext(ctx, "INSERT INTO v(id, embedding, category) VALUES (?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i, row := range s.rows {
		if _, err := insert.ExecContext(ctx, i, float32s(row), s.category[i]); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (v *sqliteVec) search(ctx context.Context, query []float32, all bool) (ids []int, err error) {
	var rows *sql.Rows
	if all {
		rows, err = v.all.QueryContext(ctx, float32s(query), wanted)
	} else {
		rows, err = v.filtered.QueryContext(ctx, float32s(query), wanted, askedFor)
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (v *sqliteVec) close() error { return v.db.Close() }

// float32s encodes a vector as sqlite-vec reads it.
func float32s(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
