package trace

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

// Hash names a configuration by its content: 12 hexadecimal digits of its SHA-256.
func Hash(config []byte) string {
	sum := sha256.Sum256(config)
	return hex.EncodeToString(sum[:6])
}

func (a *Archive) forget(tx *sql.Tx, seq int64) error {
	for _, q := range []string{
		"INSERT INTO lost SELECT target, count(*), 'the bound of the spool was reached' FROM owed WHERE trace = ?1 GROUP BY target ON CONFLICT (target) DO UPDATE SET n = n + excluded.n, reason = excluded.reason",
		"DELETE FROM owed WHERE trace = ?1",
		"DELETE FROM feedback WHERE trace = ?1",
		"DELETE FROM trace WHERE seq = ?1",
	} {
		if _, err := tx.Exec(q, seq); err != nil {
			return err
		}
	}
	return nil
}

// Inspect counts what an archive holds without opening it for writing, beside whoever has
// it open. It returns fs.ErrNotExist where there is none.
func Inspect(ctx context.Context, path string) (Stats, error) {
	if _, err := os.Stat(path); err != nil {
		return Stats{}, err
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: url.Values{"_pragma": {"busy_timeout(5000)", "query_only(1)"}}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return Stats{}, fmt.Errorf("inspect traces: %w", err)
	}
	defer db.Close()
	var ok string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&ok); err != nil {
		return Stats{}, fmt.Errorf("inspect traces: %w", err)
	}
	if ok != "ok" {
		return Stats{}, fmt.Errorf("inspect traces: %s", ok)
	}
	return (&Archive{db: db}).Stats()
}

// Stats counts what is kept, owed and lost.
func (a *Archive) Stats() (Stats, error) {
	s := Stats{Kept: a.stats.kept.Load(), Refused: a.stats.refused.Load(), Delivered: a.stats.delivered.Load(), Failed: a.stats.failed.Load(), Pending: map[string]int64{}, Lost: map[string]int64{}, LostWhy: map[string]string{}}
	if err := a.db.QueryRow("SELECT count(*), coalesce(sum(bytes), 0) FROM trace").Scan(&s.Traces, &s.Bytes); err != nil {
		return s, err
	}
	err := a.byTarget("SELECT target, count(*), '' FROM owed GROUP BY target", func(target string, n int64, _ string) { s.Pending[target] = n })
	if err != nil {
		return s, err
	}
	return s, a.byTarget("SELECT target, n, reason FROM lost", func(target string, n int64, why string) { s.Lost[target], s.LostWhy[target] = n, why })
}

// byTarget reads rows of a target, a number and a text.
func (a *Archive) byTarget(query string, see func(target string, n int64, text string)) error {
	rows, err := a.db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var target, text string
		var n int64
		if err := rows.Scan(&target, &n, &text); err != nil {
			return err
		}
		see(target, n, text)
	}
	return rows.Err()
}
