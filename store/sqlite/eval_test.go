package sqlite

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store/storetest"
)

// enter adds documents of these metadata, cycling through them up to n.
func enter(t *rapid.T, x *index, metas []filter.Meta, n int) {
	for x.documents.slots < n {
		i := x.documents.slots
		r := row{number: int64(i + 1), id: fmt.Sprint(i), meta: encodeMeta(metas[i%len(metas)], x.names), chunks: encodeChunks(nil)}
		if err := x.add(&r); err != nil {
			t.Fatal(err)
		}
	}
}

// The columns agree with filter.Match on generated schemas, metadata and filters, with
// documents removed, short and so long that slot lists are used, with a tail they do
// not cover. -rapid.checks=20000 makes it a million pairs of filter and corpus.
func TestFiltersMatchTheOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schema := storetest.Schemas().Draw(t, "schema")
		x := newIndex(schema, newNames(nil).with(schema), lexical.Plain(), derivedPlace{})
		metas := rapid.SliceOfN(storetest.Metas(schema), 1, 8).Draw(t, "metas")
		enter(t, x, metas, rapid.SampledFrom([]int{3, 64, 2500}).Draw(t, "documents"))
		for range 50 {
			f, err := schema.Resolve(storetest.Filters(schema).Draw(t, "filter"))
			if err != nil {
				t.Fatal(err)
			}
			agree(t, x, metas, f)
			switch rapid.IntRange(0, 19).Draw(t, "step") {
			case 0:
				enter(t, x, metas, x.documents.slots+rapid.IntRange(1, 200).Draw(t, "more"))
			case 1:
				slot := uint32(rapid.IntRange(0, x.documents.slots-1).Draw(t, "remove"))
				if x.documents.live.has(slot) {
					x.remove(slot)
				}
			}
		}
	})
}

// agree compares documents and elements under f with the oracle's.
func agree(t *rapid.T, x *index, metas []filter.Meta, f filter.Filter) {
	want := make([]bool, len(metas))
	for i, m := range metas {
		want[i] = x.schema.Match(f, m)
	}
	got := x.matching(f)
	for slot := range uint32(x.documents.slots) {
		if w := want[int(slot)%len(metas)] && x.documents.live.has(slot); got.has(slot) != w {
			t.Fatalf("%#v of %v: %v, want %v", f, metas[int(slot)%len(metas)], got.has(slot), w)
		}
	}
	for _, group := range x.schema.Groups {
		agreeElements(t, x, metas, f, group.Name)
	}
}

func agreeElements(t *rapid.T, x *index, metas []filter.Meta, f filter.Filter, group string) {
	want := make([][]bool, len(metas))
	for i, m := range metas {
		for e := range m.Groups[group] {
			want[i] = append(want[i], x.schema.MatchElement(f, m, group, e))
		}
	}
	got := x.matchingElements(f, group)
	n := uint32(0)
	for slot := range uint32(x.documents.slots) {
		for e, w := range want[int(slot)%len(metas)] {
			if w = w && x.documents.live.has(slot); got.has(n) != w {
				t.Fatalf("%#v of element %d of %v: %v, want %v", f, e, metas[int(slot)%len(metas)], got.has(n), w)
			}
			n++
		}
	}
	if int(n) != x.groups[group].slots {
		t.Fatalf("%d elements, want %d", x.groups[group].slots, n)
	}
}
