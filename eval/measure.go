package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Grades say how relevant documents are to one query; those not named are not.
type Grades map[string]float64

// Quality is how good a ranking of one query is, or the mean over many.
type Quality struct {
	NDCG     float64 `json:"ndcg@10"`    // linear gain, discount log2(rank+1)
	Recall2  float64 `json:"recall@2"`   // share of the relevant documents found so high
	Recall10 float64 `json:"recall@10"`  //
	Recall   float64 `json:"recall@100"` //
	MRR      float64 `json:"mrr@10"`     // one over the rank of the first relevant document
	MAP      float64 `json:"map@100"`    // mean of the precision at each relevant document
}

// Measure compares a ranking of document ids, best first and each once, with the grades.
// Järvelin and Kekäläinen (2002) for nDCG with linear gain; all else as trec_eval has it.
func Measure(ranking []string, g Grades) Quality {
	var q Quality
	var ideal []float64
	for _, grade := range g {
		if grade > 0 {
			ideal = append(ideal, grade)
		}
	}
	if len(ideal) == 0 {
		return q
	}
	relevant := float64(len(ideal))
	slices.Sort(ideal)
	slices.Reverse(ideal)
	best, gain, hits := 0.0, 0.0, 0.0
	for i, grade := range ideal[:min(10, len(ideal))] {
		best += grade / math.Log2(float64(i)+2)
	}
	for i, id := range ranking[:min(100, len(ranking))] {
		grade := g[id]
		if grade <= 0 {
			continue
		}
		hits++
		q.MAP += hits / float64(i+1) / relevant
		q.Recall += 1 / relevant
		if i < 2 {
			q.Recall2 += 1 / relevant
		}
		if i < 10 {
			gain += grade / math.Log2(float64(i)+2)
			q.Recall10 += 1 / relevant
			if hits == 1 {
				q.MRR = 1 / float64(i+1)
			}
		}
	}
	q.NDCG = gain / best
	return q
}

// Mean is the mean of many.
func Mean(all []Quality) Quality {
	var m Quality
	n := float64(max(len(all), 1))
	for _, q := range all {
		m.NDCG += q.NDCG / n
		m.Recall2 += q.Recall2 / n
		m.Recall10 += q.Recall10 / n
		m.Recall += q.Recall / n
		m.MRR += q.MRR / n
		m.MAP += q.MAP / n
	}
	return m
}

// Difference is the mean of a paired difference with its 95 % interval.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// resamples is how often Bootstrap draws: enough for the third decimal of a bound.
const resamples = 10_000

// Bootstrap compares the figures of two rankings query by query: the mean of after minus
// before, and between which bounds 95 of 100 means of queries drawn with replacement lie
// (the percentile interval of Efron's paired bootstrap). The draws are the same in every
// run. The two are of one length.
func Bootstrap(before, after []float64) Difference {
	n := len(after)
	if n == 0 {
		return Difference{}
	}
	differences, sum := make([]float64, n), 0.0
	for i := range after {
		differences[i] = after[i] - before[i]
		sum += differences[i]
	}
	random := rand.New(rand.NewPCG(1, uint64(n)))
	means := make([]float64, resamples)
	for i := range means {
		total := 0.0
		for range n {
			total += differences[random.IntN(n)]
		}
		means[i] = total / float64(n)
	}
	slices.Sort(means)
	return Difference{Mean: sum / float64(n), Low: means[resamples*25/1000], High: means[resamples*975/1000]}
}
