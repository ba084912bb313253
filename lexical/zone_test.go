package lexical

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRowsInTellZonesApart(t *testing.T) {
	const narrative, cause, title Zone = 1, 2, 3
	ix := New(English())
	for row, fields := range [][]Field{
		{{Text: "Carburetor icing on approach.", Zone: narrative}, {Text: "Fuel exhaustion.", Zone: cause}, {Text: "Boise", Zone: title}},
		{{Text: "He ran out of fuel.", Zone: narrative}, {Text: "Icing of the carburetor.", Zone: cause}, {Text: "Carburetor icing", Zone: title}},
		{{Text: "", Zone: narrative}, {Text: "&", Zone: cause}, {Text: "Icing", Zone: title}},
	} {
		if err := ix.Add(uint32(row), fields...); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		phrase string
		zones  Zones
		want   []uint32
	}{
		{"icing", ZonesOf(narrative), []uint32{0}},
		{"icing", ZonesOf(cause), []uint32{1}},
		{"icing", ZonesOf(narrative, cause), []uint32{0, 1}},
		{"icing", AllZones, []uint32{0, 1, 2}},
		{"carburetor icing", ZonesOf(narrative, cause), []uint32{0}},
		{"exhaustion boise", AllZones, nil},
		{"fuel*", 0, nil},
	} {
		if diff := cmp.Diff(c.want, rowsOf(ix.RowsIn(ParsePhrase(c.phrase), c.zones))); diff != "" {
			t.Errorf("%s in %b: %s", c.phrase, c.zones, diff)
		}
	}
	if diff := cmp.Diff([]uint32{0, 1}, rowsOf(ix.Written(ZonesOf(narrative, cause)))); diff != "" {
		t.Errorf("rows with words of their own: %s", diff)
	}
	if err := ix.Add(9, Field{Text: "x", Zone: MaxZone + 1}); err == nil {
		t.Error("a zone that does not exist was taken")
	}
}

// What the index says of zones is what reading each field says, whatever was added,
// removed, merged, written and read again.
func TestZonesEqualReadingTheFields(t *testing.T) {
	words := []string{"mast", "bump", "ice", "&", "PA-28", "fuel"}
	expressions := []Expr{Word{Text: "mast"}, ParsePhrase("mast bump"), Prefix{"pa-2"}, Near{Word{Text: "ice"}, Word{Text: "fuel"}, 1}, Any{Word{Text: "bump"}, ParsePhrase("ice ice")}}
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		ix := somewhere(t, folder, English())
		defer os.RemoveAll(folder)
		var rows [][]Field
		for range rapid.IntRange(0, 40).Draw(t, "rows") {
			var fields []Field
			for range rapid.IntRange(0, 4).Draw(t, "fields") {
				text := rapid.SliceOfN(rapid.SampledFrom(words), 0, 5).Draw(t, "words")
				fields = append(fields, Field{Text: fmt.Sprint(text), Weight: rapid.IntRange(0, 2).Draw(t, "weight"), Zone: Zone(rapid.IntRange(0, 3).Draw(t, "zone"))})
			}
			if err := ix.Add(uint32(len(rows)), fields...); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, fields)
		}
		for row := range rows {
			if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				if err := ix.Remove(uint32(row)); err != nil {
					t.Fatal(err)
				}
				rows[row] = nil
			}
		}
		read := again(t, ix)
		zones := Zones(rapid.IntRange(0, 15).Draw(t, "zones"))
		for _, e := range expressions {
			var want []uint32
			for row, fields := range rows {
				if slices.ContainsFunc(fields, func(f Field) bool { return zones.Has(f.Zone) && len(English().Find(e, f.Text)) > 0 }) {
					want = append(want, uint32(row))
				}
			}
			for _, ix := range []*Index{ix, read} {
				if diff := cmp.Diff(want, rowsOf(ix.RowsIn(e, zones))); diff != "" {
					t.Fatalf("%#v: %s", e, diff)
				}
			}
		}
	})
}
