package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// result is what a command left behind.
type result struct {
	code     int
	out, err string
}

// sextantIn runs a command in this process, as a shell would with the data folder in the
// environment.
func sextantIn(t *testing.T, data string, args ...string) result {
	t.Helper()
	return sextantWith(t, []string{"SEXTANT_DATA=" + data}, args...)
}

func sextantWith(t *testing.T, environ []string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	code := run(t.Context(), args, environ, &out, &err)
	return result{code, out.String(), err.String()}
}

// ntsbHead is the head of the NTSB's table in the layout it is published in.
const ntsbHead = "Event.Id,Investigation.Type,Accident.Number,Event.Date,Location,Country,Latitude,Longitude,Airport.Code,Airport.Name,Injury.Severity,Aircraft.damage,Aircraft.Category,Registration.Number,Make,Model,Amateur.Built,Number.of.Engines,Engine.Type,FAR.Description,Schedule,Purpose.of.flight,Air.carrier,Total.Fatal.Injuries,Total.Serious.Injuries,Total.Minor.Injuries,Total.Uninjured,Weather.Condition,Broad.phase.of.flight,Report.Status,Publication.Date\n"

// accidents writes n invented accidents, every third of them fatal and in Alaska, and
// returns the file.
func accidents(t *testing.T, n int) string {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString(ntsbHead)
	for i := range n {
		place, severity, fatal := "Boise, ID", "Non-Fatal", ""
		if i%3 == 0 {
			place, severity, fatal = "Talkeetna, AK", "Fatal(1)", "1"
		}
		fmt.Fprintf(&b, "%08dX%05d,Accident,ANC%02dLA%03d,%d-%02d-%02d,\"%s\",United States,,,,,%s,Substantial,Airplane,N%05d,CESSNA,%s,No,1,Reciprocating,Part 91: General Aviation,,Personal,,%s,,,%d,VMC,LANDING,Probable Cause,27-03-2017\n",
			20080000+i, i, i%90, i%1000, 2008+i%5, 1+i%12, 1+i%28, place, severity, i, []string{"172", "182"}[random.IntN(2)], fatal, i%4)
	}
	path := filepath.Join(t.TempDir(), "AviationData.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// filled returns a data folder that holds accidents.
func filled(t *testing.T, n int) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	if r := sextantIn(t, data, "ingest", "ntsb", accidents(t, n)); r.code != exitOK {
		t.Fatalf("ingest: exit %d\n%s%s", r.code, r.out, r.err)
	}
	return data
}

// decode reads the one JSON value a command printed.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("output is no JSON: %v\n%s", err, text)
	}
	if d.More() {
		t.Fatalf("more than one JSON value:\n%s", text)
	}
	return v
}

func TestWrongUse(t *testing.T) {
	dir := t.TempDir()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	misspelt := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(misspelt, []byte("serve:\n  kees: [a]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args    []string
		environ []string
		code    int
		says    []string // all of them on err
	}{
		"unknown flag":        {args: []string{"ask", "--nope", "why?"}, code: 2, says: []string{"--nope", "sextant ask --help"}},
		"unknown verb":        {args: []string{"aks", "why?"}, code: 2, says: []string{"aks", "sextant --help"}},
		"no question":         {args: []string{"ask"}, code: 2, says: []string{"question"}},
		"empty question":      {args: []string{"ask", " "}, code: 2, says: []string{"Please enter a question."}},
		"only punctuation":    {args: []string{"ask", "?"}, code: 2, says: []string{"Please enter a question."}},
		"too long a question": {args: []string{"ask", strings.Repeat("why ", 5000)}, code: 2, says: []string{"20000 bytes", "16384"}},
		"no date":             {args: []string{"ask", "--as-of", "July", "why?"}, code: 2, says: []string{"--as-of", "2012-07-04"}},
		"too many passages":   {args: []string{"ask", "--top-k", "51", "why?"}, code: 2, says: []string{"between 1 and 50"}},
		"no such collection":  {args: []string{"describe", "unicorns"}, code: 1, says: []string{"unicorns"}},
		"missing file":        {args: []string{"ingest", "ntsb", filepath.Join(dir, "nowhere.csv")}, code: 1, says: []string{"nowhere.csv"}},
		"no file at all":      {args: []string{"ingest", "ntsb"}, code: 2, says: []string{"path"}},
		"not an NTSB file":    {args: []string{"ingest", "ntsb", file}, code: 2, says: []string{"file"}},
		"no regulations":      {args: []string{"ingest", "ecfr"}, environ: []string{"SEXTANT_ECFR_URL=http://127.0.0.1:1", "SEXTANT_FETCH_PERMIT=127.0.0.0/8"}, code: 8, says: []string{"cannot be reached", "XML that was downloaded"}},
		"no such regulations": {args: []string{"ingest", "ecfr", filepath.Join(dir, "nowhere.xml")}, code: 1, says: []string{"nowhere.xml"}},
		"not the eCFR":        {args: []string{"ingest", "ecfr", file}, code: 2, says: []string{"no XML file"}},
		"a port taken":        {args: []string{"serve", "--port", port}, code: 1, says: []string{"127.0.0.1:" + port, "--port (API_PORT)"}},
		"a port too high":     {args: []string{"serve"}, environ: []string{"API_PORT=70000"}, code: 2, says: []string{"70000", "65535"}},
		"a port of letters":   {args: []string{"serve"}, environ: []string{"API_PORT=http"}, code: 2, says: []string{"API_PORT", "http"}},
		"the whole network":   {args: []string{"serve", "--host", "0.0.0.0", "--port", "0"}, code: 1, says: []string{"--key"}},
		"no such config":      {args: []string{"--config", filepath.Join(dir, "none.yaml"), "collections"}, code: 1, says: []string{"none.yaml"}},
		"misspelt config":     {args: []string{"--config", misspelt, "collections"}, code: 2, says: []string{"kees", "line 2"}},
		"data in a file":      {args: []string{"--data", filepath.Join(file, "sub"), "collections"}, code: 1, says: []string{"data folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			environ := append([]string{"SEXTANT_DATA=" + filepath.Join(t.TempDir(), "data")}, tt.environ...)
			got := sextantWith(t, environ, tt.args...)
			if got.code != tt.code || got.out != "" {
				t.Errorf("exit %d, want %d; out %q, err %q", got.code, tt.code, got.out, got.err)
			}
			for _, s := range tt.says {
				if !strings.Contains(got.err, s) {
					t.Errorf("%q is missing in %q", s, got.err)
				}
			}
			if strings.Contains(got.err, "goroutine ") {
				t.Errorf("a stack trace: %q", got.err)
			}
		})
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("needs a user other than root: root may read every file")
	}
	path := accidents(t, 3)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	got := sextantIn(t, t.TempDir(), "ingest", "ntsb", path)
	if got.code != 1 || !strings.Contains(got.err, "may not read") {
		t.Errorf("exit %d, err %q", got.code, got.err)
	}
}

func TestHelpIsNoError(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"ask", "--help"}, {"ingest", "ntsb", "--help"}, {"ingest", "ecfr", "--help"}} {
		got := sextantWith(t, nil, args...)
		if got.code != exitOK || !strings.HasPrefix(got.out, "Usage: sextant") || got.err != "" {
			t.Errorf("%v: exit %d, out %q, err %q", args, got.code, got.out, got.err)
		}
	}
}

func TestFailureAsJSON(t *testing.T) {
	got := sextantIn(t, filepath.Join(t.TempDir(), "data"), "describe", "--json", "unicorns")
	f := decode[failure](t, got.out)
	if got.code != exitFailure || f.Error.Code != "not_found" || f.Error.Detail == "" {
		t.Errorf("exit %d, failure %+v", got.code, f)
	}
}

func TestCancelledCommandEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err bytes.Buffer
	if code := run(ctx, []string{"ingest", "ntsb", accidents(t, 50)}, []string{"SEXTANT_DATA=" + t.TempDir()}, &out, &err); code != exitFailure {
		t.Errorf("exit %d, out %q, err %q", code, out.String(), err.String())
	}
}
