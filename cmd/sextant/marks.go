package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sextant-rag/sextant/store"
)

// localMarks keeps marks in a folder of this machine: those of the jobs of a server whose
// documents are kept elsewhere. What was sent lies in its data folder, so other replicas
// have no use for them, and it must be able to start while the store is away.
type localMarks struct {
	store.Journal
	folder string
}

func (m localMarks) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(m.folder, hex.EncodeToString(sum[:16]))
}

// PutMark implements store.Journal.
func (m localMarks) PutMark(_ context.Context, key, value string) error {
	name := m.file(key)
	if value == "" {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put mark: %w", err)
		}
		return nil
	}
	if err := os.MkdirAll(m.folder, 0o700); err != nil {
		return fmt.Errorf("put mark: %w", err)
	}
	f, err := os.CreateTemp(m.folder, "new-*")
	if err != nil {
		return fmt.Errorf("put mark: %w", err)
	}
	_, err = f.WriteString(value)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("put mark: %w", err)
	}
	return nil
}

// Mark implements store.Journal.
func (m localMarks) Mark(_ context.Context, key string) (string, error) {
	value, err := os.ReadFile(m.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read mark: %w", err)
	}
	return string(value), nil
}
