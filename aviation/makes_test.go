package aviation

import "testing"

func TestMaker(t *testing.T) {
	for recorded, want := range map[string]string{
		"Cessna":                "CESSNA",
		" CESSNA  AIRCRAFT ":    "CESSNA",
		"Beechcraft":            "BEECH",
		"AIRBUS HELICOPTERS":    "AIRBUS HELICOPTERS", // shares a name, is another company
		"cessna-ector":          Maker("CESSNA-ECTOR"),
		"Some  Builder of Kits": "SOME BUILDER OF KITS",
		"":                      "",
	} {
		if got := Maker(recorded); got != want {
			t.Errorf("Maker(%q) = %q, want %q", recorded, got, want)
		}
	}
}

func TestMakeGroupsDoNotOverlap(t *testing.T) {
	seen := map[string]string{}
	for maker, spellings := range makeGroups() {
		if len(spellings) == 0 || Maker(maker) != maker {
			t.Errorf("%s does not stand for itself", maker)
		}
		for _, s := range spellings {
			if other, ok := seen[s]; ok {
				t.Errorf("%q is %s and %s", s, maker, other)
			}
			seen[s] = maker
		}
	}
	if len(seen) < 200 {
		t.Errorf("%d spellings: the table was not read", len(seen))
	}
}
