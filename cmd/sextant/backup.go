package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// backupCommand writes everything held into one file. It reads the databases beside
// whichever process has the folder, so that it needs neither a server's leave nor its
// address: SQLite gives every reader one committed state and keeps no writer waiting.
type backupCommand struct {
	jsonFlag
	Force bool   `help:"Replace the file if it is there."`
	File  string `arg:"" help:"File to write, a tar." type:"path"`
}

// Help implements kong's HelpProvider.
func (*backupCommand) Help() string {
	return "Works while a server or an ingestion uses the data folder. Every collection is copied as of one moment; the file is there whole or not at all."
}

// backedUp is what backup and restore print.
type backedUp struct {
	File  string `json:"file"`
	Data  string `json:"data"`
	Bytes int64  `json:"bytes"`
}

// Run backs up.
func (c *backupCommand) Run(ctx context.Context, s *session) error {
	if err := s.inFolder("backup"); err != nil {
		return err
	}
	if _, err := os.Stat(c.File); err == nil && !c.Force {
		return &sextant.Error{Code: sextant.CodeConflict, Op: "backup", Message: "There is a file " + c.File + " already.", Hint: "Name another, or replace it with --force."}
	}
	inspector, err := sqlite.Inspect(s.config.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return nothingKept(s.config.Data)
	}
	if err == nil {
		err = inspector.Backup(ctx, c.File)
	}
	if err != nil {
		return backupError(s.config.Data, c.File, err)
	}
	return s.printBackup(c.File, "Backed up "+s.config.Data+" to "+c.File)
}

func (s *session) printBackup(file, done string) error {
	b := backedUp{File: file, Data: s.config.Data}
	if info, err := os.Stat(file); err == nil {
		b.Bytes = info.Size()
	}
	return s.print(reply[backedUp]{value: b}, func(p *page) { p.text("", done+" ("+humanize.IBytes(uint64(b.Bytes))+").") })
}

func nothingKept(dir string) error {
	return &sextant.Error{Code: sextant.CodeNotFound, Op: "data folder", Message: "There is no data folder " + dir + ".", Hint: "Say which with --data DIR (SEXTANT_DATA), or take documents in first."}
}

// backupError tells trouble with the backup's file from trouble with the data folder.
func backupError(dir, file string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && !errors.Is(err, store.ErrCorrupt) {
		return fileError("write the backup", file, err)
	}
	return storeError(dir, err)
}

// restoreCommand makes a data folder of a backup.
type restoreCommand struct {
	jsonFlag
	Force bool   `help:"Replace the documents that are in the data folder."`
	File  string `arg:"" help:"File that backup wrote." type:"path"`
}

// Help implements kong's HelpProvider.
func (*restoreCommand) Help() string {
	return "The backup is checked first. It is put in place whole or not at all, and nothing may be using the data folder."
}

// Run restores.
func (c *restoreCommand) Run(ctx context.Context, s *session) error {
	if err := s.inFolder("restore"); err != nil {
		return err
	}
	if err := readable(c.File); err != nil {
		return err
	}
	err := sqlite.Restore(ctx, c.File, s.config.Data, c.Force)
	switch {
	case err == nil:
		return s.printBackup(c.File, "Restored "+c.File+" to "+s.config.Data)
	case errors.Is(err, fs.ErrExist):
		return &sextant.Error{Code: sextant.CodeConflict, Op: "restore", Message: "The data folder " + s.config.Data + " holds documents.",
			Hint: "Restore into another with --data DIR, or replace these with --force; `sextant backup FILE` keeps them."}
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrUnsupported):
		return &sextant.Error{Code: sextant.CodeBadRequest, Op: "restore", Message: c.File + " cannot be restored: " + err.Error() + ".",
			Hint: "It must be a whole file that `sextant backup` of this version wrote. Nothing was changed."}
	}
	return s.storeError(err)
}
