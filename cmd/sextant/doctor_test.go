package main

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// doctor runs doctor --json and checks its exit code.
func doctor(t *testing.T, data string, code int, args ...string) diagnosis {
	t.Helper()
	r := sextantWith(t, []string{"SEXTANT_DATA=" + data, "EMBEDDER=none"}, append([]string{"doctor", "--json"}, args...)...)
	if r.code != code {
		t.Fatalf("doctor %v: exit %d, want %d\n%s%s", args, r.code, code, r.out, r.err)
	}
	return decode[diagnosis](t, r.out)
}

func incidentsFile(t *testing.T, data string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "c", "incidents-*", "main.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("databases of incidents: %v, %v", files, err)
	}
	return files[0]
}

// A text is changed on the disk behind everybody's back: doctor says which document it
// was and what helps, and does it when told to.
func TestDoctorMendsADamagedDocument(t *testing.T) {
	data := filled(t, 30)
	if d := doctor(t, data, exitOK); !d.Sound || len(d.Problems) > 0 || d.Collections[0].Documents != 30 {
		t.Fatalf("a sound folder: %+v", d)
	}
	db, err := sql.Open("sqlite", incidentsFile(t, data))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`UPDATE doc SET text = 'x' || text WHERE row = 7`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	d := doctor(t, data, exitFailure)
	if d.Sound || len(d.Problems) != 1 || d.Problems[0].Collection != "incidents" || !strings.HasPrefix(d.Problems[0].Remedy, commandRepair) || !strings.Contains(d.Problems[0].Remedy, "sextant ingest ntsb") {
		t.Fatalf("damage: %+v", d.Problems)
	}
	if page := sextantIn(t, data, "doctor").out; !strings.Contains(page, "To do: "+commandRepair) || strings.Contains(page, "All is well") {
		t.Errorf("for people:\n%s", page)
	}
	d = doctor(t, data, exitOK, "--repair")
	if !d.Sound || len(d.Repaired) != 1 || d.Collections[0].Documents != 29 {
		t.Errorf("repair: %+v", d)
	}
	doctor(t, data, exitOK)
	if r := sextantIn(t, data, "ask", "How many accidents?"); r.code != exitOK || !strings.Contains(r.out, "29") {
		t.Errorf("asked after repair: exit %d\n%s%s", r.code, r.out, r.err)
	}
}

// A lost catalogue is noticed, and comes back by itself or by repair.
func TestDoctorFindsALostCatalogue(t *testing.T) {
	data := filled(t, 9)
	lose := func() {
		t.Helper()
		if err := os.Remove(filepath.Join(data, "catalog.db")); err != nil {
			t.Fatal(err)
		}
	}
	lose()
	if d := doctor(t, data, exitFailure); len(d.Problems) != 1 || d.Problems[0].Remedy != commandRepair {
		t.Fatalf("problems: %+v", d.Problems)
	}
	doctor(t, data, exitOK, "--repair")
	lose()
	r := sextantIn(t, data, "describe", "--json", "incidents")
	if r.code != exitOK || !strings.Contains(r.err, "catalogue") {
		t.Errorf("describe: exit %d, %q", r.code, r.err)
	}
	doctor(t, data, exitOK)
}

// What is set and where that was said; secrets stay secret.
func TestDoctorNamesSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sextant.yaml")
	if err := os.WriteFile(file, []byte("serve: {port: 8123, keys: [hush]}\nencoder: {kind: none}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	r := sextantWith(t, []string{"SEXTANT_DATA=" + dir, "API_HOST=127.0.0.2"}, "doctor", "--json", "--data", data, "--config", file)
	if r.code != exitOK || strings.Contains(r.out, "hush") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	got := map[string]setting{}
	for _, s := range decode[diagnosis](t, r.out).Settings {
		got[s.Name] = s
	}
	for _, want := range []setting{
		{"data", data, "--data"}, {"serve.host", "127.0.0.2", "API_HOST"}, {"serve.port", "8123", "configuration"},
		{"serve.keys", "(set)", "configuration"}, {"encoder.kind", "none", "configuration"},
	} {
		if got[want.Name] != want {
			t.Errorf("%+v, want %+v", got[want.Name], want)
		}
	}
}

// A backup goes into an empty folder, over documents only when told to, and never half.
func TestBackupAndRestore(t *testing.T) {
	data, other := filled(t, 12), filled(t, 5)
	file := filepath.Join(t.TempDir(), "backup.tar")
	steps := []struct {
		data string
		args []string
		code int
	}{
		{data, []string{"backup", file}, exitOK},
		{data, []string{"backup", file}, exitFailure},
		{data, []string{"backup", "--force", file}, exitOK},
		{data + "none", []string{"backup", file + "2"}, exitFailure},
		{data, []string{"backup", filepath.Join(data, "no", "folder.tar")}, exitFailure},
		{other, []string{"restore", file}, exitFailure},
		{other, []string{"restore", file + "none"}, exitFailure},
		{other, []string{"restore", "--force", incidentsFile(t, data)}, exitUsage},
	}
	for _, step := range steps {
		if r := sextantIn(t, step.data, step.args...); r.code != step.code {
			t.Errorf("%v: exit %d, want %d\n%s%s", step.args, r.code, step.code, r.out, r.err)
		} else if step.code != exitOK && r.err == "" {
			t.Errorf("%v: no word about what is wrong", step.args)
		}
	}
	if d := doctor(t, other, exitOK); d.Collections[0].Documents != 5 {
		t.Errorf("a refused restore changed something: %+v", d.Collections)
	}
	empty := filepath.Join(t.TempDir(), "new")
	for _, into := range [][]string{{empty, "restore", file}, {other, "restore", "--force", file}} {
		if r := sextantIn(t, into[0], into[1:]...); r.code != exitOK {
			t.Fatalf("%v: exit %d\n%s", into, r.code, r.err)
		}
		if d := doctor(t, into[0], exitOK); d.Collections[0].Documents != 12 {
			t.Errorf("restored: %+v", d.Collections)
		}
	}
}

// While a process has the folder, doctor and backup work and repair says who has it.
func TestDoctorBesideTheHolder(t *testing.T) {
	data := filled(t, 6)
	s := &session{terminal: newTerminal(&bytes.Buffer{}, &bytes.Buffer{}, nil)}
	st, err := s.openFolder(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if d := doctor(t, data, exitOK); d.Holder == nil || d.Holder.PID != os.Getpid() {
		t.Errorf("holder: %+v", d.Holder)
	}
	file := filepath.Join(t.TempDir(), "b.tar")
	if r := sextantIn(t, data, "backup", file); r.code != exitOK {
		t.Errorf("backup: exit %d\n%s", r.code, r.err)
	}
	for _, args := range [][]string{{"doctor", "--repair"}, {"restore", "--force", file}} {
		if r := sextantIn(t, data, args...); r.code != exitFailure || !strings.Contains(r.err, "in use by process") {
			t.Errorf("%v: exit %d, %q", args, r.code, r.err)
		}
	}
}
