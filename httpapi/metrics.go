package httpapi

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
)

// metrics are what GET /metrics shows, in Prometheus's text format. Names follow its
// conventions: https://prometheus.io/docs/practices/naming/.
type metrics struct {
	registry  *prometheus.Registry
	questions *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	stages    *prometheus.HistogramVec
	ledger    *prometheus.CounterVec
	passages  prometheus.Histogram
	removed   prometheus.Counter
	degraded  *prometheus.CounterVec
	calls     prometheus.Counter
	tokens    *prometheus.CounterVec
	certainty *prometheus.CounterVec

	confidence *prometheus.HistogramVec
	coverage   *prometheus.HistogramVec
	diversity  *prometheus.HistogramVec

	covered *prometheus.HistogramVec
	rounds  *prometheus.HistogramVec
}

// Answers take from under a millisecond, by rules, to a minute, with models.
var seconds = prometheus.ExponentialBuckets(0.0005, 2, 18)

func newMetrics(c Config) *metrics {
	m := &metrics{
		registry:  prometheus.NewRegistry(),
		questions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sextant_questions_total", Help: "Questions by how they ended."}, []string{"status", "intent"}),
		duration:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sextant_question_duration_seconds", Help: "Time from a question to its answer.", Buckets: seconds}, []string{"status"}),
		stages:    prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sextant_stage_duration_seconds", Help: "Time of each stage of a question.", Buckets: seconds}, []string{"stage"}),
		ledger:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sextant_ledger_total", Help: "Questions with conditions, by what they matched: some, none, or with conditions that nothing can enforce."}, []string{"outcome"}),
		passages:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "sextant_passages_found", Help: "Passages found for a question.", Buckets: prometheus.LinearBuckets(0, 5, 11)}),
		removed:   prometheus.NewCounter(prometheus.CounterOpts{Name: "sextant_findings_removed_total", Help: "Findings that did not survive the check."}),
		degraded:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sextant_degraded_total", Help: "Stages that were skipped or done in a lesser way."}, []string{"stage"}),
		calls:     prometheus.NewCounter(prometheus.CounterOpts{Name: "sextant_model_calls_total", Help: "Calls of language models."}),
		tokens:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sextant_model_tokens_total", Help: "Tokens of language models."}, []string{"direction"}),
		certainty: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sextant_answers_total", Help: "Answers by their confidence and how they ended."}, []string{"confidence", "status"}),
	}
	shares := prometheus.LinearBuckets(0.1, 0.1, 10)
	m.confidence = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sextant_search_confidence", Help: "Confidence of searches, 0 to 1, by what was recommended.", Buckets: shares}, []string{"recommendation"})
	m.coverage = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sextant_search_coverage", Help: "Share of the aspects of a search that its results speak of, by what was recommended.", Buckets: shares}, []string{"recommendation"})
	m.diversity = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sextant_search_domains", Help: "Kinds of source among the results of a search, by what was recommended.", Buckets: prometheus.LinearBuckets(0, 1, 8)}, []string{"recommendation"})
	m.covered = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sextant_question_coverage", Help: "Share of what a question asks that its evidence speaks of, by how it ended.", Buckets: shares}, []string{"status"})
	m.rounds = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sextant_retrieval_rounds", Help: "Rounds of retrieval of a question, by strategy: more than one is a query made again.", Buckets: prometheus.LinearBuckets(1, 1, 5)}, []string{"strategy"})
	m.registry.MustRegister(m.covered, m.rounds, m.confidence, m.coverage, m.diversity, m.questions, m.duration, m.stages, m.ledger, m.passages, m.removed, m.degraded, m.calls, m.tokens, m.certainty)
	if c.Traces != nil {
		m.registry.MustRegister(spool{c.Traces})
	}
	if c.Desk != nil {
		m.registry.MustRegister(intake{c.Desk})
	}
	return m
}

// see counts one event of a question.
func (m *metrics) see(e sextant.Event) {
	switch e := e.(type) {
	case sextant.StageDone:
		m.stages.WithLabelValues(e.Stage).Observe(e.DurationMS / 1000)
	case sextant.PassagesFound:
		m.passages.Observe(float64(len(e.Passages)))
	case sextant.Final:
		m.final(&e.Answer)
	}
}

func (m *metrics) final(a *sextant.Answer) {
	status := string(a.Status)
	m.questions.WithLabelValues(status, a.Intent).Inc()
	m.certainty.WithLabelValues(a.Confidence, status).Inc()
	m.duration.WithLabelValues(status).Observe(a.Usage.DurationMS / 1000)
	m.removed.Add(float64(len(a.Removed)))
	m.calls.Add(float64(a.Usage.ModelCalls))
	m.tokens.WithLabelValues("input").Add(float64(a.Usage.InputTokens))
	m.tokens.WithLabelValues("output").Add(float64(a.Usage.OutputTokens))
	for _, d := range a.Degraded {
		m.degraded.WithLabelValues(d.Stage).Inc()
	}
	if a.Signals != nil {
		m.covered.WithLabelValues(status).Observe(a.Signals.Coverage.Ratio)
		m.rounds.WithLabelValues(a.Strategy).Observe(float64(len(a.Rounds)))
	}
	switch l := &a.Ledger; {
	case len(l.Unenforceable) > 0:
		m.ledger.WithLabelValues("unenforceable").Inc()
	case len(l.Constraints) > 0 && l.Joint == 0:
		m.ledger.WithLabelValues("none").Inc()
	case len(l.Constraints) > 0:
		m.ledger.WithLabelValues("some").Inc()
	}
}

// searched counts the signals of a search. How often a new query is recommended, and at
// which coverage, is the number of observations under that label.
func (m *metrics) searched(r *sextant.SearchResult) {
	m.confidence.WithLabelValues(r.Recommendation).Observe(r.Confidence)
	m.coverage.WithLabelValues(r.Recommendation).Observe(r.Coverage.Ratio)
	m.diversity.WithLabelValues(r.Recommendation).Observe(float64(r.Diversity.Domains))
}

// failed counts a question that ended without an answer.
func (m *metrics) failed() { m.questions.WithLabelValues("error", "").Inc() }

func (s *Server) showMetrics(w http.ResponseWriter, r *http.Request) error {
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}

// spool shows how the archive of traces and its deliveries are doing. It asks when it is
// scraped.
type spool struct{ traces Traces }

var (
	spoolTraces    = prometheus.NewDesc("sextant_traces_kept", "Traces in the local store.", nil, nil)
	spoolBytes     = prometheus.NewDesc("sextant_traces_bytes", "Size of the traces in the local store.", nil, nil)
	spoolRefused   = prometheus.NewDesc("sextant_traces_refused_total", "Traces that were not kept because the disk did not keep up.", nil, nil)
	spoolDelivered = prometheus.NewDesc("sextant_traces_delivered_total", "Traces and judgements delivered since the start.", nil, nil)
	spoolFailed    = prometheus.NewDesc("sextant_traces_failed_attempts_total", "Deliveries that failed and are tried again.", nil, nil)
	spoolPending   = prometheus.NewDesc("sextant_traces_pending", "Traces and judgements that wait for a server.", []string{"target"}, nil)
	spoolLost      = prometheus.NewDesc("sextant_traces_lost_total", "Traces and judgements that a server will never have.", []string{"target"}, nil)
)

// Describe implements prometheus.Collector.
func (spool) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{spoolTraces, spoolBytes, spoolRefused, spoolDelivered, spoolFailed, spoolPending, spoolLost} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (s spool) Collect(out chan<- prometheus.Metric) {
	stats, err := s.traces.Stats()
	if err != nil {
		out <- prometheus.NewInvalidMetric(spoolTraces, err)
		return
	}
	out <- prometheus.MustNewConstMetric(spoolTraces, prometheus.GaugeValue, float64(stats.Traces))
	out <- prometheus.MustNewConstMetric(spoolBytes, prometheus.GaugeValue, float64(stats.Bytes))
	out <- prometheus.MustNewConstMetric(spoolRefused, prometheus.CounterValue, float64(stats.Refused))
	out <- prometheus.MustNewConstMetric(spoolDelivered, prometheus.CounterValue, float64(stats.Delivered))
	out <- prometheus.MustNewConstMetric(spoolFailed, prometheus.CounterValue, float64(stats.Failed))
	for target, n := range stats.Pending {
		out <- prometheus.MustNewConstMetric(spoolPending, prometheus.GaugeValue, float64(n), target)
	}
	for target, n := range stats.Lost {
		out <- prometheus.MustNewConstMetric(spoolLost, prometheus.CounterValue, float64(n), target)
	}
}

// intake shows what jobs of ingestion are doing. It asks when it is scraped, over the jobs
// that are remembered: figures fall when old ones are forgotten, so they are gauges.
type intake struct{ desk *ingest.Desk }

var (
	intakeJobs    = prometheus.NewDesc("sextant_ingest_jobs", "Jobs of ingestion that are remembered, by state.", []string{"state"}, nil)
	intakeRecords = prometheus.NewDesc("sextant_ingest_records", "Records of these jobs, by what became of them.", []string{"outcome"}, nil)
	intakeRate    = prometheus.NewDesc("sextant_ingest_bytes_per_second", "Rate of the jobs that run.", nil, nil)
)

// Describe implements prometheus.Collector.
func (intake) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{intakeJobs, intakeRecords, intakeRate} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c intake) Collect(out chan<- prometheus.Metric) {
	states, records, rate := map[string]int{}, map[string]int64{}, 0.0
	for _, t := range c.desk.Tasks() {
		states[string(t.State)]++
		switch {
		case t.Receipt != nil:
			tally(records, t.Receipt.Records)
		case t.Progress != nil:
			tally(records, t.Progress.Outcomes)
			rate += t.Progress.Rate
		}
	}
	for state, n := range states {
		out <- prometheus.MustNewConstMetric(intakeJobs, prometheus.GaugeValue, float64(n), state)
	}
	for outcome, n := range records {
		out <- prometheus.MustNewConstMetric(intakeRecords, prometheus.GaugeValue, float64(n), outcome)
	}
	out <- prometheus.MustNewConstMetric(intakeRate, prometheus.GaugeValue, rate)
}

func tally(into map[string]int64, outcomes map[sextant.Outcome]int64) {
	for outcome, n := range outcomes {
		into[string(outcome)] += n
	}
}
