package importtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoticeHasEveryPart holds NOTICE to the parts that stand beside the files of others.
func TestNoticeHasEveryPart(t *testing.T) {
	top, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(top, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top && ignored(d.Name()):
			return fs.SkipDir
		case d.IsDir() || !strings.HasPrefix(d.Name(), "NOTICE."):
			return nil
		}
		parts++
		part, err := os.ReadFile(path)
		if err == nil && !strings.Contains(string(whole), strings.TrimSpace(string(part))) {
			t.Errorf("NOTICE does not hold %s as it is.\nCopy the part into NOTICE between two rules.", d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if parts == 0 {
		t.Error("no part was found; the walk is broken")
	}
}
