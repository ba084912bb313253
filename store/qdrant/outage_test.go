package qdrant_test

import (
	"testing"
	"time"

	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
	"github.com/sextant-rag/sextant/store/storetest"
)

// impatient opens stores whose requests may take half a second, as the suite of outages
// wants it.
func impatient(t testing.TB, url string) store.Store {
	return open(t, qdrant.Options{URL: url, Timeout: 500 * time.Millisecond, WriteTimeout: 500 * time.Millisecond})
}

// Everything is asked and written while what lies before the server fails in every way:
// never nothing found, never lost what was acknowledged, and an answer in time.
func TestOutages(t *testing.T) {
	if testing.Short() {
		t.Skip("needs tests without -short: it waits for what never answers")
	}
	t.Parallel()
	storetest.Outages(t, newFake(t).URL, impatient)
}
