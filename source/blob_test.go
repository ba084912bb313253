package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

func TestFileEndsWhereItEndedWhenOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "growing.csv")
	if err := os.WriteFile(path, []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := File(path)
	if err != nil {
		t.Fatal(err)
	}
	before, err := b.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := b.Stream(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := io.ReadAll(s)
	if err != nil || string(got) != "a,b\n" {
		t.Errorf("read %q, %v", got, err)
	}
	if after, _ := b.Digest(t.Context()); after != before {
		t.Error("the digest changed with what was appended")
	}
}

func TestGzipIsKnownByItsFirstBytes(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	b := Bytes("any name", packed.Bytes())
	var consumed atomic.Int64
	s, err := b.Stream(&consumed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(s)
	if err != nil || string(got) != "hello" {
		t.Errorf("read %q, %v", got, err)
	}
	if consumed.Load() != b.Size {
		t.Errorf("consumed %d of %d bytes", consumed.Load(), b.Size)
	}
	sum := sha256.Sum256(packed.Bytes())
	if d, _ := b.Digest(t.Context()); d != hex.EncodeToString(sum[:]) {
		t.Errorf("the digest %s is not of the bytes as stored", d)
	}
}

func TestFileProblems(t *testing.T) {
	if _, err := File(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := File(t.TempDir()); err == nil {
		t.Error("a folder is no input")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Bytes("x", []byte("y")).Digest(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("digest after cancel: %v", err)
	}
}
