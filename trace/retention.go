package trace

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
)

// Hash names a configuration by its content: 12 hexadecimal digits of its SHA-256.
func Hash(config []byte) string {
	sum := sha256.Sum256(config)
	return hex.EncodeToString(sum[:6])
}

// makeRoom removes the oldest traces until age and size are within bounds, and returns
// the bytes that are left. What is removed while it is still owed to somebody is lost to
// them, and counted.
func (a *Archive) makeRoom(tx *sql.Tx, bytes int64) (int64, error) {
	oldest := a.options.Now().Add(-a.options.MaxAge).UnixNano()
	for {
		var seq, size, began int64
		err := tx.QueryRow("SELECT seq, bytes, began FROM trace ORDER BY seq LIMIT 1").Scan(&seq, &size, &began)
		if err == sql.ErrNoRows || err == nil && began >= oldest && bytes <= a.options.MaxBytes {
			return bytes, nil
		}
		if err != nil {
			return bytes, err
		}
		if err := a.forget(tx, seq); err != nil {
			return bytes, err
		}
		bytes -= size
	}
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

// Stats counts what is kept, owed and lost.
func (a *Archive) Stats() (Stats, error) {
	s := Stats{Kept: a.stats.kept.Load(), Refused: a.stats.refused.Load(), Delivered: a.stats.delivered.Load(), Failed: a.stats.failed.Load(), Pending: map[string]int64{}, Lost: map[string]int64{}}
	if err := a.db.QueryRow("SELECT count(*), coalesce(sum(bytes), 0) FROM trace").Scan(&s.Traces, &s.Bytes); err != nil {
		return s, err
	}
	for query, into := range map[string]map[string]int64{"SELECT target, count(*) FROM owed GROUP BY target": s.Pending, "SELECT target, n FROM lost": s.Lost} {
		if err := a.countInto(query, into); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (a *Archive) countInto(query string, into map[string]int64) error {
	rows, err := a.db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var target string
		var n int64
		if err := rows.Scan(&target, &n); err != nil {
			return err
		}
		into[target] = n
	}
	return rows.Err()
}
