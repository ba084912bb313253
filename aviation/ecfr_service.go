package aviation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/fetch"
)

// ECFRParts are the parts of 14 CFR that are fetched unless others are asked for:
// definitions, pilots, general operating rules, airlines, charter.
var ECFRParts = []string{"1", "61", "91", "121", "135"}

// ECFRService is where parts are fetched from: the versioner service of www.ecfr.gov
// (ecfr.gov/developers/documentation/api/v1), or one like it. It is asked once for a part
// and a date; from then on the answer is in the cache, which can also be filled by hand.
type ECFRService struct {
	URL    string        // "" is https://www.ecfr.gov
	Client *fetch.Client // what fetches
	Cache  string        // folder for answers; made if it is not there
	Parts  []string      // nil is ECFRParts
	Date   time.Time     // of the text; zero is the last day the service has
	Now    func() time.Time
}

const (
	ecfrAddress = "https://www.ecfr.gov"
	titleFresh  = 24 * time.Hour // how long the service's list of dates is believed
	maxTitles   = 4 << 20
	maxPart     = 64 << 20
)

// Open returns the source of the parts, fetching what is not in the cache yet.
func (s ECFRService) Open(ctx context.Context) (*ECFR, error) {
	paths, note, err := s.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	out, err := OpenECFR(paths...)
	if err == nil && note != "" {
		out.notes = append(out.notes, note)
	}
	return out, err
}

// Fetch sees to it that the parts are in the cache and returns their files, which say what
// day they are of. The note, if there is one, is a full sentence about that day.
func (s ECFRService) Fetch(ctx context.Context) (paths []string, note string, err error) {
	s.URL = strings.TrimSuffix(cmp.Or(s.URL, ecfrAddress), "/")
	if s.Now == nil {
		s.Now = time.Now
	}
	if len(s.Parts) == 0 {
		s.Parts = ECFRParts
	}
	for _, part := range s.Parts {
		if !fetchedPart.MatchString(part) {
			return nil, "", lawError(nil, "%s is no part of 14 CFR.", shortList([]string{part}))
		}
	}
	date, note, err := s.date(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, part := range s.Parts {
		path, err := s.part(ctx, part, date)
		if err != nil {
			return nil, "", err
		}
		paths = append(paths, path)
	}
	return paths, note, nil
}

var fetchedPart = regexp.MustCompile(`^[1-9]\d{0,3}$`)

func (s ECFRService) file(part string, date time.Time) string {
	return filepath.Join(s.Cache, date.Format(time.DateOnly), "title-14-part-"+part+".xml")
}

// date is the day of the text: the one asked for, or the last the service has. When it
// cannot say, the last day of which all parts are in the cache will do.
func (s ECFRService) date(ctx context.Context) (date time.Time, note string, err error) {
	if !s.Date.IsZero() {
		return s.Date, "", nil
	}
	last, err := s.lastDate(ctx)
	if err == nil {
		return last, "", nil
	}
	if ctx.Err() != nil {
		return time.Time{}, "", ctx.Err()
	}
	if held, ok := s.lastCached(); ok {
		return held, fmt.Sprintf("The eCFR service could not be asked for its last date; this is the text of %s, the last in the cache.", held.Format(time.DateOnly)), nil
	}
	return time.Time{}, "", s.failed(err, "its list of dates", s.Now())
}

// lastCached is the last day of which every part asked for is in the cache.
func (s ECFRService) lastCached() (time.Time, bool) {
	entries, err := os.ReadDir(s.Cache)
	if err != nil {
		return time.Time{}, false
	}
	for _, e := range slices.Backward(entries) { // by name, which is by date
		day, err := time.Parse(time.DateOnly, e.Name())
		if err != nil {
			continue
		}
		if !slices.ContainsFunc(s.Parts, func(part string) bool { _, err := os.Stat(s.file(part, day)); return err != nil }) {
			return day, true
		}
	}
	return time.Time{}, false
}

// lastDate asks the service up to which day it has title 14. The answer is kept for a day.
func (s ECFRService) lastDate(ctx context.Context) (time.Time, error) {
	path := filepath.Join(s.Cache, "titles.json")
	if info, err := os.Stat(path); err == nil && s.Now().Sub(info.ModTime()) < titleFresh {
		if data, err := os.ReadFile(path); err == nil {
			if day, err := upToDate(data); err == nil {
				return day, nil
			}
		}
	}
	data, err := s.get(ctx, fetch.Request{URL: s.URL + "/api/versioner/v1/titles.json", Accept: "application/json", MaxBytes: maxTitles})
	if err != nil {
		return time.Time{}, err
	}
	day, err := upToDate(data)
	if err != nil {
		return time.Time{}, err
	}
	return day, keep(path, data)
}

var errTitles = errors.New("the service's list of titles does not say up to when it has title 14")

func upToDate(data []byte) (time.Time, error) {
	var list struct {
		Titles []struct {
			Number   int    `json:"number"`
			UpToDate string `json:"up_to_date_as_of"`
		} `json:"titles"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return time.Time{}, errTitles
	}
	for _, t := range list.Titles {
		if t.Number == 14 {
			if day, err := time.Parse(time.DateOnly, t.UpToDate); err == nil {
				return day, nil
			}
		}
	}
	return time.Time{}, errTitles
}

// part is the file of a part as of a day, fetched if it is not in the cache.
func (s ECFRService) part(ctx context.Context, part string, date time.Time) (string, error) {
	path := s.file(part, date)
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return path, nil
	}
	data, err := s.get(ctx, fetch.Request{
		URL:    fmt.Sprintf("%s/api/versioner/v1/full/%s/title-14.xml?part=%s", s.URL, date.Format(time.DateOnly), part),
		Accept: "application/xml", MaxBytes: maxPart,
	})
	if err != nil {
		return "", s.failed(err, "part "+part, date)
	}
	if !isPart(data) {
		return "", lawError(nil, "What the eCFR service answers for part %s of %s is no regulation.", part, date.Format(time.DateOnly))
	}
	// The service leaves the date out of the paths it writes. A file of the cache has it, so
	// that it can be read like any other, wherever it is taken.
	data = bytes.ReplaceAll(data, []byte("/on/_SUBSTITUTE_DATE_/"), []byte("/on/"+date.Format(time.DateOnly)+"/"))
	if err := keep(path, data); err != nil {
		return "", lawError(err, "Part %s cannot be written to the cache.", part)
	}
	return path, nil
}

// isPart reports whether an answer is XML with a division of the Code as its root, to its
// end: one that was cut short must not come out of the cache for ever.
func isPart(data []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict, d.Entity = false, xml.HTMLEntity
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if root, ok := token.(xml.StartElement); ok {
			name := root.Name.Local
			end := bytes.TrimSpace(data)
			return (divLevel(name) > 0 || name == "ECFR") && bytes.HasSuffix(end, []byte("</"+name+">"))
		}
	}
}

// keep writes an answer so that it is there whole or not at all.
func keep(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "*.part")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Waits between tries of a service that is busy; more than maxWait it is not waited for.
const (
	tries   = 3
	maxWait = 20 * time.Second
)

// get fetches, and again where the service is busy and says for how long.
func (s ECFRService) get(ctx context.Context, r fetch.Request) ([]byte, error) {
	for try := 1; ; try++ {
		_, data, err := s.Client.Bytes(ctx, r)
		var status *fetch.StatusError
		if err == nil || !errors.As(err, &status) || status.Status != 429 && status.Status < 500 || try == tries {
			return data, err
		}
		wait := cmp.Or(status.RetryAfter, time.Duration(try)*time.Second)
		if wait > maxWait {
			return data, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// failed says what could not be fetched and what to do about it.
func (s ECFRService) failed(err error, what string, date time.Time) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	day := date.Format(time.DateOnly)
	e := &sextant.Error{Code: sextant.CodeUnavailable, Op: "ingest ecfr", Err: err, Hint: "Try again later, or give files: sextant ingest ecfr PATH..., with XML that was downloaded from www.ecfr.gov."}
	var status *fetch.StatusError
	switch {
	case errors.Is(err, fetch.ErrOffline):
		e.Message = fmt.Sprintf("The eCFR service cannot be reached, and %s (%s) is not in the cache.", what, day)
		e.Hint = "Try again with a connection, or give files: sextant ingest ecfr PATH..., with XML that was downloaded from www.ecfr.gov."
	case errors.Is(err, fetch.ErrPrivate):
		e.Code, e.Message, e.Hint = sextant.CodeForbidden, "The eCFR service's address leads into a private network.", "Permit it with fetch.permit in the configuration if that is meant."
	case errors.As(err, &status) && status.Status == 404:
		e.Code, e.Message = sextant.CodeNotFound, fmt.Sprintf("The eCFR service has no %s as of %s.", what, day)
		e.Hint = "It has texts from January 2017 on, not for every day; leave --date out for the last."
	case errors.As(err, &status):
		e.Message = fmt.Sprintf("The eCFR service refused to give %s (%s): %v.", what, day, status)
	case errors.Is(err, fetch.ErrEncoding):
		e.Message = fmt.Sprintf("The answer of the eCFR service for %s (%s) is damaged: it is not compressed as it claims.", what, day)
	default:
		e.Message = fmt.Sprintf("The answer of the eCFR service for %s (%s) cannot be used.", what, day)
	}
	return e
}
