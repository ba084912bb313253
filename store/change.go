package store

import (
	"cmp"
	"fmt"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
)

// CheckChange reports with ErrSpec what of a collection's new specification the
// documents it holds do not fit; see Store.Ensure. An empty collection may become
// anything that can be analyzed.
func CheckChange(old, spec sextant.Collection, holds bool) error {
	if _, err := AnalyzerOf(spec); err != nil {
		return err
	}
	if !holds {
		return nil
	}
	switch {
	case spec.Encoder != old.Encoder:
		return fmt.Errorf("%w: encoder %q, now %q", ErrSpec, old.Encoder, spec.Encoder)
	case AnalyzerName(spec) != AnalyzerName(old):
		return fmt.Errorf("%w: analyzer %q, now %q", ErrSpec, AnalyzerName(old), AnalyzerName(spec))
	}
	for _, f := range old.Schema.Fields {
		if err := checkField(f, spec.Schema); err != nil {
			return err
		}
	}
	for _, g := range old.Schema.Groups {
		if !spec.Schema.HasGroup(g.Name) {
			return fmt.Errorf("%w: group %q is gone", ErrSpec, g.Name)
		}
	}
	return nil
}

func checkField(old filter.Field, s filter.Schema) error {
	f, ok := s.Field(old.Name)
	isView, wasView := len(f.AnyOf) > 0, len(old.AnyOf) > 0
	switch {
	case wasView && (!ok || isView):
		return nil
	case !ok:
		return fmt.Errorf("%w: field %q is gone", ErrSpec, old.Name)
	case wasView:
		return nil
	case isView, f.Kind != old.Kind, f.Fold != old.Fold, f.Group != old.Group, old.List && !f.List:
		return fmt.Errorf("%w: field %q has another kind, fold, group or number of values", ErrSpec, old.Name)
	}
	return nil
}

// AnalyzerName returns the name of a collection's analyzer.
func AnalyzerName(spec sextant.Collection) string { return cmp.Or(spec.Analyzer, lexical.NameEnglish) }

// AnalyzerOf returns a collection's analyzer; ErrSpec if this program does not have it.
func AnalyzerOf(spec sextant.Collection) (*lexical.Analyzer, error) {
	a, err := lexical.AnalyzerNamed(AnalyzerName(spec))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return a, nil
}
