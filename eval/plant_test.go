package eval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/eval"
)

// reports are enough to plant a fault of every kind in.
var reports = []sextant.Document{
	{ID: "t:1", Collection: "reports", Title: "Report of 3 May 1996, § 91.151 Fuel", Text: "The pilot of N123AB did not check the fuel before the flight from Fairbanks to Nenana on May 3, 1996. The engine lost power 25 miles from Talkeetna, at an altitude of more than 3,000 feet.\n\nThe loss of engine power due to the failure of the pilot to check the fuel. At 40 knots the left wing struck the upper branch of a spruce."},
	{ID: "t:2", Collection: "reports", Title: "Report of 9 June 2001", Text: "A mechanic at Wichita found that the propeller had been replaced 12 hours before the accident. The student was not injured, and the airplane came to rest 150 feet beyond the runway.\n\nDuring the landing roll, the airplane veered to the right and struck a parked truck of the Hutchinson fire brigade."},
}

func TestPlantedFaultsAreFound(t *testing.T) {
	trials := eval.Plant(reports, 200)
	if diff := cmp.Diff(trials, eval.Plant(reports, 200)); diff != "" {
		t.Fatal("the trials differ from run to run:", diff)
	}
	r := eval.Check(reports, trials)
	if len(trials) != 400 || len(r.Faults) < 12 || len(r.True) < 5 {
		t.Fatalf("%d trials, faults %v, true %v", len(trials), r.Faults, r.True)
	}
	if r.Detected() < 0.95 || r.Alarms() > 0.05 {
		t.Errorf("found %.2f, false alarms %.2f: %v", r.Detected(), r.Alarms(), r.Misses)
	}
}

func TestNothingCanBePlantedInNothing(t *testing.T) {
	if trials := eval.Plant(nil, 10); trials != nil {
		t.Errorf("%d trials", len(trials))
	}
	if r := eval.Check(nil, nil); r.Detected() != 1 || r.Alarms() != 0 {
		t.Errorf("%+v", r)
	}
}
